package contract

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// begins and ends are the client's steps at which the faults of a script begin and end, in
// order.
const (
	begins = env.StepBeforeWrite
	ends   = env.StepAfterWrite
)

// fault returns the fault of a simulated node for a step, without its times. until says
// that it lasts while the command is processed.
func (s step) fault() (f nemesis.Fault, until bool) {
	switch s.what {
	case restarts:
		f = nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: nemesis.After(0)}
	case shutDown:
		f = nemesis.Fault{Action: &nemesis.Shutdown{Node: 1}, End: nemesis.After(0)}
	case evicts:
		f = nemesis.Fault{Action: &nemesis.Evict{Node: 1}}
	case evictsAll:
		f = nemesis.Fault{Action: &nemesis.Evict{Node: 1, Policy: nemesis.AllKeys}}
	case evictsKey:
		f = nemesis.Fault{Action: &nemesis.Evict{Node: 1, Resource: "k"}}
	case twice:
		soonAfter := nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: ms}}
		return nemesis.Fault{Action: &nemesis.Duplicate{After: soonAfter}}, true
	case flushes:
		f = nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}}
	case stalled:
		f = nemesis.Fault{Action: &nemesis.NodePause{Node: 1}, End: nemesis.After(s.wait)}
	case full:
		return nemesis.Fault{Action: &nemesis.NodeError{Error: nemesis.OOM}}, true
	case follows:
		return nemesis.Fault{Action: &nemesis.NodeError{Error: nemesis.ReadOnly}}, true
	}
	return f, false
}

// plan returns the plan of a script.
func plan(script []step) (p nemesis.Plan) {
	began, ended := 0, 0
	for _, s := range script {
		f, until := s.fault()
		if f.Action == nil {
			continue
		}
		began++
		f.Start = nemesis.When(1, begins, 0)
		f.Start.Count = began
		if until {
			ended++
			end := nemesis.When(1, ends, 0)
			end.Count = ended
			f.End = &end
		}
		p = append(p, f)
	}
	return p
}

// simulated plays the script in a simulated world without latency.
func simulated(t *testing.T, p nemesis.Persistence, script []step) []string {
	t.Helper()
	s := nemesis.Setting{Nodes: 1, Clients: 1, Persistence: p, Horizon: time.Hour, Plan: plan(script)}
	if err := s.Validate(); err != nil {
		t.Error(err)
		return nil
	}
	w, err := sim.Open(context.Background(), s, 1, new(history.Log))
	if err != nil {
		t.Error(err)
		return nil
	}
	var answers []string
	err = w.Run(context.Background(), func(int) {
		r := w.Runtime(1)
		answers, _ = play(script, node{
			now:   func() time.Duration { return time.Duration(r.Now(env.Monotonic)) },
			sleep: func(d time.Duration) { _ = r.Sleep(context.Background(), r.Now(env.Monotonic).Add(d)) },
			ask:   func(c env.Command) env.Reply { return only(w.Nodes(1).Send(1, c, env.Never)) },
			begin: func(step) { w.Reach(1, begins, 0) },
			end: func(s step) {
				if _, until := s.fault(); until {
					w.Reach(1, ends, 0)
				}
			},
		})
	})
	if err != nil {
		t.Error(err)
	}
	return answers
}

// inMemory plays scripts on nodes in memory, each in its own bubble and world.
func inMemory(p nemesis.Persistence) player {
	return func(t *testing.T, _ string, script []step) (answers []string, late time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := nemesis.Setting{Nodes: 1, Clients: 1, Persistence: p, Horizon: time.Hour, Plan: plan(script)}
			w, err := memory.Backend{}.Open(t.Context(), s, 1, new(history.Log))
			if err != nil {
				t.Fatal(err)
			}
			err = w.Run(t.Context(), func(int) {
				r := w.Runtime(1)
				ask := func(c env.Command) env.Reply { return only(w.Nodes(1).Send(1, c, env.Never)) }
				answers, late = play(script, node{
					now:   func() time.Duration { return time.Duration(r.Now(env.Monotonic)) },
					sleep: func(d time.Duration) { _ = r.Sleep(context.Background(), r.Now(env.Monotonic).Add(d)) },
					ask:   ask,
					begin: func(s step) {
						w.Reach(1, begins, 0)
						if s.what == restarts || s.what == shutDown {
							ask(env.Command{Op: env.OpDelete, Key: "warm-up", Token: "-"}) // finds that the connection is broken
						}
					},
					end: func(s step) {
						if _, until := s.fault(); until {
							w.Reach(1, ends, 0)
						}
					},
				})
			})
			if err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		return answers, late
	}
}

// Law: a node in memory replies as a simulated one, and so as Redis, with every
// persistence. Its time is virtual, so every script keeps time.
func TestNodeInMemoryAnswersAsSimulatedNode(t *testing.T) {
	const each = 60
	for _, p := range []nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always} {
		t.Run(string(p), func(t *testing.T) {
			all := scripts(asked, restarts, shutDown, evicts, evictsAll, evictsKey, twice, flushes, stalled, full, follows)
			if judged := compareMany(t, inMemory(p), grain, p, all, 0, each); judged < each {
				t.Errorf("%d of %d scripts could be held to virtual time", judged, each)
			}
		})
	}
	t.Run("values anew", func(t *testing.T) { expiring(t, inMemory(nemesis.Nothing)) })
}
