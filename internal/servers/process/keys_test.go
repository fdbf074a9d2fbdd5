//go:build linux

package process

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Whatever happens to a node, its keys are recorded as they are afterwards, and why they are gone.
func TestWatchOfKeys(t *testing.T) {
	lag := nemesis.Distribution{Range: nemesis.Range{Min: time.Second, Max: time.Second}}
	for _, c := range []struct {
		fault       nemesis.Action
		persistence nemesis.Persistence
		want        string // of the key that was set before; on a slow machine a replica may have it
	}{
		{&nemesis.Crash{Node: 1}, nemesis.Nothing, "key-set a, key-gone a forgotten"},
		{&nemesis.Crash{Node: 1}, nemesis.Always, "key-set a"},
		{&nemesis.OldSnapshot{Node: 1, Age: time.Hour}, nemesis.Always, "key-set a, key-gone a rolled back"},
		{&nemesis.Failover{Node: 1}, nemesis.Nothing, "key-set a, key-gone a rolled back|key-set a"},
		{&nemesis.Failover{Node: 1, Planned: true}, nemesis.Nothing, "key-set a"},
		{&nemesis.Failover{Node: 1, Planned: true, Takeover: nemesis.Takeover{ClockOffset: 2 * time.Hour}}, nemesis.Nothing, "key-set a, key-gone a expired"},
		{&nemesis.OldSnapshot{Node: 1, Age: time.Millisecond, Takeover: nemesis.Takeover{ClockOffset: 2 * time.Hour}}, nemesis.Always, "key-set a, key-gone a expired|key-set a, key-gone a rolled back"},
		{&nemesis.NodePause{Node: 1, ClientPause: true}, nemesis.Nothing, "key-set a"},
		{&nemesis.SplitBrain{Node: 1, Clients: []int{1}}, nemesis.Nothing, "key-set a, key-gone a rolled back|key-set a"},
		{&nemesis.Evict{Node: 1, Resource: "k"}, nemesis.Nothing, "key-set a, key-gone a evicted"},
		{&nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: 2 * time.Hour}, nemesis.Nothing, "key-set a, key-gone a expired"},
	} {
		t.Run(fmt.Sprintf("%s/%s", c.fault.Kind(), c.persistence), func(t *testing.T) {
			over := nemesis.When(1, env.StepAfterWrite, 0)
			s := nemesis.Setting{
				Nodes: 2, Clients: 1, Persistence: c.persistence, Replication: &lag, Horizon: 10 * time.Minute,
				Plan: nemesis.Plan{{Action: c.fault, Start: nemesis.When(1, env.StepBeforeWrite, 0), End: &over}},
			}
			switch c.fault.(type) {
			case *nemesis.Evict, *nemesis.ClockJump:
				s.Plan[0].End = nil
			}
			if err := s.Validate(); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", t.TempDir())
			log := &keyLog{changes: map[int][]string{}, seen: map[int]history.Time{}}
			before, after := map[int]string{1: "key-set a", 2: "key-set a"}, map[int]string{1: c.want, 2: "key-set a"}
			w, err := Backend{WatchKeys: true}.Open(t.Context(), s, 1, log)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}()
			err = w.Run(t.Context(), func(int) {
				set(t, w, "a")
				log.await(w, false, before)
				w.Reach(1, env.StepBeforeWrite, 0)
				w.Reach(1, env.StepAfterWrite, 0)
				log.await(w, s.Plan[0].End != nil, after)
			})
			if err != nil {
				t.Fatal(err)
			}
			for node, want := range after {
				if !is(log.changes[node], want) {
					t.Errorf("node %d: %s, want %s", node, strings.Join(log.changes[node], ", "), want)
				}
			}
		})
	}
}

// set sets the key of a try on both nodes.
func set(t *testing.T, w *live.World, token string) {
	t.Helper()
	w.Record(history.Event{Kind: history.Acquire, Client: 1, Resource: "k", Token: token, TTL: time.Hour})
	c := env.Command{Op: env.OpSet, Key: "k", Token: token, TTL: time.Hour}
	round := w.Nodes(1).Send(env.AllNodes(2), c, w.Runtime(1).Now(env.Monotonic).Add(2*time.Minute))
	for range 2 {
		if reply, err := round.Next(context.Background(), env.Never); err != nil || reply.Answer != env.Yes {
			t.Errorf("node %d answers %v, %v", reply.Node, reply.Answer, err)
		}
	}
}

// keyLog keeps the changes of keys of a history.
type keyLog struct {
	mu      sync.Mutex
	changes map[int][]string // by node
	seen    map[int]history.Time
	fault   history.Time // when the fault last began or ended
	ended   bool
}

func (l *keyLog) Record(e *history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case history.KeySet, history.KeyExtended, history.KeyGone:
		l.changes[e.Node] = append(l.changes[e.Node], strings.TrimSpace(fmt.Sprintf("%v %s %s", e.Kind, e.Token, e.Reason)))
	case history.EntriesSeen:
		l.seen[e.Node] = e.Sent
	case history.FaultStart, history.FaultEnd:
		l.fault, l.ended = e.Time, e.Kind == history.FaultEnd
	}
}

// is reports whether changes are one of those that are wanted.
func is(changes []string, want string) bool {
	return slices.Contains(strings.Split(want, "|"), strings.Join(changes, ", "))
}

// await waits until the watch has seen both nodes after the fault, if there is to be one by now, and
// until there is what is expected.
func (l *keyLog) await(w *live.World, end bool, want map[int]string) {
	enough := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for node, changes := range want {
			if !is(l.changes[node], changes) || l.seen[node] <= l.fault {
				return false
			}
		}
		return l.ended || !end
	}
	for last := time.Now().Add(time.Minute); !enough() && time.Now().Before(last); {
		_ = w.Runtime(1).Sleep(context.Background(), w.Runtime(1).Now(env.Monotonic).Add(10*time.Millisecond))
	}
}
