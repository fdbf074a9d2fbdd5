//go:build linux

package redisserver

import (
	"context"
	"fmt"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.OrphanMain(m, func(_ string, tell func(...any)) error {
		f, err := OpenFleet(context.Background(), Options{Nodes: 3, AppendOnly: true})
		if err == nil {
			tell(f.Server(1).Pid(), f.Server(2).Pid(), f.Server(3).Pid(), f.group.ReaperPid())
		}
		return err
	})
}

// A program that is killed leaves no servers, no reaper and no files, even if it was
// started with signals of the terminal ignored.
func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) {
	interrupt := func(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }
	for name, c := range map[string]struct {
		strike  func(pid int) error
		ignored bool
	}{
		"SIGKILL":                        {func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }, false},
		"SIGINT from a terminal":         {interrupt, false},
		"SIGINT, which somebody ignores": {interrupt, true},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := ownTemp(t)
			if c.ignored {
				signal.Ignore(syscall.SIGINT)
				defer signal.Reset(syscall.SIGINT)
			}
			o := testkit.StartOrphan(t, "")
			if len(entries(t, tmp)) != 1 || len(o.Told) != 4 {
				t.Fatalf("one directory and four processes are wanted, there are %v and %v", entries(t, tmp), o.Told)
			}
			o.End(t, c.strike)
			for _, told := range o.Told {
				pid, err := strconv.Atoi(told)
				if err != nil {
					t.Fatal(err)
				}
				eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
			}
			eventually(t, "the directory is gone", func() bool { return len(entries(t, tmp)) == 0 })
		})
	}
}
