//go:build linux

package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
)

// What the clients are of a program that is to be killed.
const (
	asGoroutines = "goroutines"
	asProcesses  = "processes"
)

func TestMain(m *testing.M) {
	beLodger()
	testkit.OrphanMain(m, runForEver)
}

// runForEver runs a world, with a server that crashes again and again.
func runForEver(clients string, tell func(...any)) error {
	s := nemesis.Setting{Nodes: 3, Clients: 2, Persistence: nemesis.Always, Horizon: time.Hour}
	for at := time.Duration(0); at < time.Minute; at += 40 * time.Millisecond {
		s.Plan = append(s.Plan, nemesis.Fault{
			Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(at), End: nemesis.After(10 * time.Millisecond),
		})
	}
	s.Plan = append(s.Plan, nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(10 * time.Millisecond)})
	w, err := openOn(context.Background(), s, new(history.Log))
	if err != nil {
		return err
	}
	tell(w.server(2).(*redisserver.Server).Pid(), w.server(3).(*redisserver.Server).Pid())
	if clients == asProcesses {
		return w.RunApart(context.Background(), []byte("lives on"))
	}
	return w.Run(context.Background(), func(client int) {
		cmd := env.Command{Op: env.OpSet, Key: "key", Token: "token", TTL: time.Hour}
		for m := w.Runtime(client); ; {
			round := w.Nodes(client).Send(env.AllNodes(3), cmd, m.Now(env.Monotonic).Add(time.Second))
			for err := error(nil); err == nil; _, err = round.Next(context.Background(), env.Never) {
			}
		}
	})
}

func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) {
	for clients, processes := range map[string]int{asGoroutines: 0, asProcesses: 2} {
		t.Run(clients, func(t *testing.T) { t.Parallel(); nothingSurvives(t, clients, processes) })
	}
}

func nothingSurvives(t *testing.T, clients string, processes int) {
	tmp := t.TempDir()
	o := testkit.StartOrphan(t, clients, "TMPDIR="+tmp)
	soon(t, fmt.Sprintf("%d clients are processes", processes), func() bool { return len(clientsBelow(tmp)) == processes })
	time.Sleep(300 * time.Millisecond) // it is in the middle of its crashes, and a client stands still
	o.Kill(t)
	for _, told := range o.Told {
		pid, err := strconv.Atoi(told)
		if err != nil {
			t.Fatal(err)
		}
		soon(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !runsIn(pid, tmp) })
	}
	soon(t, "no server works there", func() bool { return len(workers(t, tmp)) == 0 })
	soon(t, "no client is there", func() bool { return len(clientsBelow(tmp)) == 0 })
	soon(t, "the directory is gone", func() bool {
		left, _ := filepath.Glob(filepath.Join(tmp, "*"))
		return len(left) == 0
	})
}

// workers returns the processes whose working directory is below dir.
func workers(t *testing.T, dir string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && runsIn(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func runsIn(pid int, dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && strings.HasPrefix(cwd, dir)
}

// soon waits until a condition holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", patience, what)
		}
	}
}
