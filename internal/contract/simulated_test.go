package contract

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// begins and ends are the steps of the client at which the faults of a script
// do so: the first begins at the first, and so on.
const (
	begins = env.StepBeforeWrite
	ends   = env.StepAfterWrite
)

// fault is what a step of a script does to a simulated node, its times left
// open. until says that it lasts while the command is asked.
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

// plan is what the script does to the node.
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

// simulated plays the script in a simulated world in which messages take no
// time.
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
