//go:build linux

package contract

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/nemesis"
)

// keyLock is a lock that keeps a key on each node while it is held. It says that it has deleted the
// keys, and forgets those on some nodes.
type keyLock struct {
	world  *live.World
	leaves env.NodeSet
}

// use acquires, extends and releases the lock under a token.
func (l keyLock) use(token string) error {
	const client, resource = 1, "invoice"
	nodes := l.world.Nodes(client)
	ask := func(op env.Op, of env.NodeSet) error {
		c := env.Command{Op: op, Key: resource, Token: token, TTL: time.Hour}
		round := nodes.Send(of, c, l.world.Runtime(client).Now(env.Monotonic).Add(patience))
		for range of.Len() {
			reply, err := round.Next(context.Background(), env.Never)
			if err == nil && reply.Answer != env.Yes {
				err = fmt.Errorf("%v: node %d answers %v", op, reply.Node, reply.Answer)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	tell := func(kind history.Kind, outcome history.Outcome) {
		l.world.Record(history.Event{Kind: kind, Client: client, Resource: resource, Token: token, TTL: time.Hour, Outcome: outcome})
	}
	all := env.AllNodes(nodes.Len())
	deleted := all &^ l.leaves
	for _, step := range []struct {
		call, done history.Kind
		op         env.Op
		of         env.NodeSet
		outcome    history.Outcome
	}{
		{history.Acquire, history.Granted, env.OpSet, all, 0},
		{history.Extend, history.Extended, env.OpExtend, all, 0},
		{history.Release, history.Released, env.OpDelete, deleted, history.OK},
	} {
		tell(step.call, 0)
		if err := ask(step.op, step.of); err != nil {
			return err
		}
		tell(step.done, step.outcome)
	}
	return nil
}

// A lock that leaves a key on one real server is found by clean-up, and one that deletes its keys on
// fewer than a majority because its release does not tell the truth, too. The sound lock holds.
func TestRealNodesRecordKeys(t *testing.T) {
	const bound = 200 * time.Millisecond
	for _, c := range []struct {
		name              string
		leaves            env.NodeSet
		cleanup, contract checker.Verdict
	}{
		{"sound", 0, checker.Holds, checker.Holds},
		{"leaves one key", env.SetOf(3), checker.Violated, checker.Holds},
		{"leaves two of three keys", env.SetOf(2, 3), checker.Violated, checker.Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := nemesis.Setting{Nodes: 3, Clients: 1, Persistence: nemesis.Nothing, Horizon: time.Hour}
			header := history.Header{Nodes: s.Nodes, Clients: s.Clients, Keys: true, Watched: true, Bounds: history.Bounds{Cleanup: bound}}
			if c.leaves == 0 {
				header.Bounds.Cleanup = patience // however slow the machine is
			}
			sink := &keySink{Checker: checker.New(header), promptly: promptly(bound), nodes: map[int]*nodeLooks{}}
			w, err := process.Backend{WatchKeys: true}.Open(t.Context(), s, 1, sink)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}()
			err = w.Run(t.Context(), func(int) {
				if err := (keyLock{w, c.leaves}).use("token"); err != nil {
					t.Error(err)
				}
				for !sink.saw(s.Nodes, bound) {
					if w.Runtime(1).Sleep(context.Background(), w.Runtime(1).Now(env.Monotonic).Add(10*ms)) != nil {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			report := sink.Finish()
			for property, want := range map[checker.Property]checker.Verdict{checker.Cleanup: c.cleanup, checker.Contract: c.contract} {
				if f := report.Finding(property); f.Verdict != want {
					t.Errorf("%v: %v, not %v: %v", property, f.Verdict, want, f.Story())
				}
			}
		})
	}
}

// promptly is how long a look of the watch may take: a bit less than a tenth of the bound of clean-up,
// because ten looks in a row have to be as fast before a key counts as kept.
func promptly(bound time.Duration) time.Duration { return bound / 12 }

// keySink passes a history to a checker, and knows up to when all changes of each node are recorded.
type keySink struct {
	*checker.Checker
	promptly time.Duration

	mu       sync.Mutex
	released history.Time // or the last change of a key, which a late watch reports after the release
	nodes    map[int]*nodeLooks
}

// nodeLooks are the looks of the watch at a node.
type nodeLooks struct {
	prompt int // in a row, since the last release or change
	end    history.Time
}

func (s *keySink) Record(e *history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case history.KeySet, history.KeyGone, history.Released:
		s.released = e.Time
		clear(s.nodes)
	case history.EntriesSeen:
		n := s.nodes[e.Node]
		if n == nil {
			n = new(nodeLooks)
			s.nodes[e.Node] = n
		}
		switch n.end = e.Sent; {
		case e.Time.Sub(e.Sent) > s.promptly:
			n.prompt = 0
		case e.Sent >= s.released:
			n.prompt++
		}
	}
	s.Checker.Record(e)
}

// saw reports whether the watch has seen every node for so long after the last release or change, and
// so often and promptly that clean-up can be judged.
func (s *keySink) saw(nodes int, after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	const enough = 20
	for _, n := range s.nodes {
		if n.prompt < enough || n.end <= s.released.Add(after) {
			return false
		}
	}
	return len(s.nodes) == nodes
}
