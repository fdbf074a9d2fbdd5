//go:build linux

package container

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/enginetest"
)

// orphanEnv makes the test binary a program that opens a fleet, prints the names of its
// containers and of its image, and is then to be killed.
const orphanEnv = "LOCKSTORM_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if version := os.Getenv(posingEnv); version != "" {
		pose(version)
	}
	if os.Getenv(orphanEnv) == "" {
		os.Exit(m.Run())
	}
	f, err := OpenFleet(context.Background(), Options{Nodes: 2, AppendOnly: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(f.Server(1).name, f.Server(2).name, f.image)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Of a program that is killed neither containers are left, nor its image, nor its files,
// whichever program removes them.
func TestContainersDoNotSurviveAProgramThatIsKilled(t *testing.T) {
	enginetest.Need(t)
	for _, with := range removers {
		t.Run("by "+with, func(t *testing.T) {
			tmp := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), orphanEnv+"=1", "TMPDIR="+tmp, "PATH="+pathWithout(t, with))
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
			names := strings.Fields(line)
			if left := remaining(t, names); len(names) != 3 || len(left) != 3 {
				t.Fatalf("the program says: %s; there are %v", line, left)
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			for last := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
				left := remaining(t, names)
				files, _ := filepath.Glob(filepath.Join(tmp, "*"))
				if left = append(left, files...); len(left) == 0 {
					return
				}
				if time.Now().After(last) {
					t.Fatalf("left behind: %v", left)
				}
			}
		})
	}
}

// remaining are those of the names that are still there.
func remaining(t *testing.T, names []string) []string {
	return slices.DeleteFunc(enginetest.Ours(t), func(n string) bool { return !slices.Contains(names, n) })
}

// pathWithout is a PATH with what a fleet needs, and one of the removers only.
func pathWithout(t *testing.T, with string) string {
	dir := t.TempDir()
	for _, name := range []string{with, "redis-server", "sh", "ldd", "mktemp", "rm", "sleep"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("there is no %s", name)
		}
		if err := os.Symlink(at, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
