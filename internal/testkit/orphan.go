//go:build unix

package testkit

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// variable is set in the program, and wordVariable is the word that it was started with.
const (
	variable     = "LOCKSTORM_TEST_ORPHAN"
	wordVariable = "LOCKSTORM_TEST_ORPHAN_WORD"
)

// mark is the start of the line in which the program reports its words.
const mark = "told:"

// OrphanMain runs the tests, and never returns. In a process that [StartOrphan] has started it runs
// the program instead, which tells a line of words when it is ready, and is killed
// then, or returns an error.
func OrphanMain(m *testing.M, program func(word string, tell func(words ...any)) error) {
	if os.Getenv(variable) == "" {
		os.Exit(m.Run())
	}
	struck := make(chan os.Signal, 1)
	signal.Notify(struck, os.Interrupt) // or it would be ignored if whoever started the tests does so
	go func() {
		<-struck
		os.Exit(1)
	}()
	err := program(os.Getenv(wordVariable), func(words ...any) {
		fmt.Println(append([]any{mark}, words...)...)
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Orphan is the program.
type Orphan struct {
	Told []string // the words

	cmd *exec.Cmd
}

// StartOrphan starts the program with a word and additions to the environment, and returns when it
// has reported its words. It has its own process group, and is gone when the test ends.
func StartOrphan(t *testing.T, word string, environment ...string) *Orphan {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), variable+"=1", wordVariable+"="+word), environment...)
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
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	told, is := strings.CutPrefix(line, mark)
	if !is {
		t.Fatalf("the program says: %s", line)
	}
	return &Orphan{Told: strings.Fields(told), cmd: cmd}
}

// End ends the program by what is done to its process, and returns when it is gone.
func (o *Orphan) End(t *testing.T, how func(pid int) error) {
	t.Helper()
	if err := how(o.cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_ = o.cmd.Wait()
}

// Kill ends the program by SIGKILL.
func (o *Orphan) Kill(t *testing.T) {
	t.Helper()
	o.End(t, func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) })
}
