//go:build linux

package redisserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// orphanEnv makes the test binary a program that opens a fleet, prints the
// numbers of its processes, and is then to be killed.
const orphanEnv = "LOCKSTORM_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(orphanEnv) == "" {
		os.Exit(m.Run())
	}
	f, err := Open(context.Background(), Options{Nodes: 3, AppendOnly: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(f.Server(1).Pid(), f.Server(2).Pid(), f.Server(3).Pid(), f.reaper.Pid())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startOrphan runs the test binary as that program and returns the numbers of
// its servers and of its reaper.
func startOrphan(t *testing.T) (cmd *exec.Cmd, pids []int) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orphanEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(line) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("the program says: %s", line)
		}
		pids = append(pids, pid)
	}
	return cmd, pids
}

func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) {
	for name, strike := range map[string]func(pid int) error{
		"SIGKILL":                func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) },
		"SIGINT from a terminal": func(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			tmp := ownTemp(t)
			cmd, pids := startOrphan(t)
			if len(entries(t, tmp)) != 1 {
				t.Fatalf("one directory is wanted, there are %v", entries(t, tmp))
			}
			if err := strike(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			for _, pid := range pids {
				eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
			}
			eventually(t, "the directory is gone", func() bool { return len(entries(t, tmp)) == 0 })
		})
	}
}

func TestTerminalReachesNeitherServersNorReaper(t *testing.T) {
	f := openFleet(t, Options{Nodes: 1})
	own := syscall.Getpgrp()
	for what, pid := range map[string]int{"the server": f.Server(1).Pid(), "the reaper": f.reaper.Pid()} {
		group, err := syscall.Getpgid(pid)
		if err != nil {
			t.Fatal(err)
		}
		if group == own {
			t.Errorf("%s is in our process group", what)
		}
	}
}

func TestReaperKillsAServerThatOutlivesUs(t *testing.T) {
	tmp := ownTemp(t)
	f := openFleet(t, Options{Nodes: 1})
	pid := f.Server(1).Pid()
	f.Server(1).now.doomed.Store(true)
	if err := f.reaper.Close(); err != nil { // as if we had died, but the server had not
		t.Fatal(err)
	}
	eventually(t, "the server is gone", func() bool { return !alive(pid) })
	mustBeEmpty(t, tmp)
	f.closing.Do(func() { f.Server(1).port.Free(); f.forker.Close() })
}
