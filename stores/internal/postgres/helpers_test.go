//go:build linux

package postgres

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func TestMain(m *testing.M) {
	storetest.OrphanMain(m, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, setting(3), 1) })
}

func setting(nodes int, changes ...func(*nemesis.Setting)) nemesis.Setting {
	s := nemesis.Setting{Nodes: nodes, Store: &nemesis.Store{
		Election: nemesis.Distribution{Range: nemesis.Range{Min: 50 * time.Millisecond, Max: 100 * time.Millisecond}},
		Commit:   nemesis.Distribution{Range: nemesis.Range{Min: time.Millisecond, Max: 2 * time.Millisecond}},
	}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// asynchronous makes replication so slow that it never arrives.
func asynchronous(s *nemesis.Setting) {
	s.Store.Asynchronous = true
	s.Store.Commit.Range = nemesis.Range{Min: time.Second, Max: time.Second}
}

// orphanedMemory returns the number of System V segments of this machine that no process uses.
func orphanedMemory(t *testing.T) (segments int) {
	t.Helper()
	text, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	const attached = 6 // from 0: the column of the number of attached processes
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > attached && fields[attached] == "0" {
			segments++
		}
	}
	return segments
}

// fleet is a fleet with a record of its leaders.
type fleet struct {
	*storetest.Fleet
	mu      sync.Mutex
	leaders []int
}

func openFleet(t *testing.T, s nemesis.Setting) *fleet {
	t.Helper()
	f, before := &fleet{}, orphanedMemory(t)
	var backends []*os.Process
	t.Cleanup(func() { // when the servers are gone
		for _, p := range backends {
			storetest.Eventually(t, "all processes are gone", func() bool { return !storetest.Alive(p.Pid) })
		}
		storetest.Eventually(t, "the shared memory is gone", func() bool { return orphanedMemory(t) <= before })
	})
	f.Fleet = storetest.Open(t, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, s, 1) })
	t.Cleanup(func() {
		for _, s := range f.Servers {
			backends = append(backends, s.(*Server).processes()...)
		}
	})
	f.Keys(func(e history.Event, _ env.Instant) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.leaders = append(f.leaders, e.Node)
	})
	return f
}

func (f *fleet) server(node int) *Server { return f.Servers[node-1].(*Server) }

func (f *fleet) led() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.leaders)
}

// leader waits for a leader other than some, and returns it.
func (f *fleet) leader(not ...int) int {
	f.T.Helper()
	led := 0
	storetest.Eventually(f.T, "there is a new leader", func() bool {
		all := f.led()
		if len(all) > 0 {
			led = all[len(all)-1]
		}
		return led != 0 && !slices.Contains(not, led)
	})
	return led
}

// inSync waits until all other servers replicate from the leader.
func (f *fleet) inSync(leader int) {
	f.T.Helper()
	storetest.Eventually(f.T, "all standbys are in sync", func() bool {
		var n int
		err := f.server(leader).ask(f.T.Context(), "select count(*) from pg_stat_replication where application_name like 'node%' and state = 'streaming'", &n)
		return err == nil && n == len(f.Servers)-1
	})
}

// put creates an entry, unless there is one.
func (f *fleet) put(key, value string) env.StoreReply {
	f.T.Helper()
	return f.Insist(env.StoreRequest{Op: env.StoreCreate, Key: key, Value: value})
}

func (f *fleet) keys(prefix string) (keys []string) {
	f.T.Helper()
	for _, e := range f.Insist(env.StoreRequest{Op: env.StoreList, Key: prefix}).Entries {
		keys = append(keys, e.Key)
	}
	return keys
}
