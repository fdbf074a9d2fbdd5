//go:build linux

package live

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// begin and end are the steps at which the faults of these tests do so.
const (
	begin = env.StepBeforeWrite
	end   = env.StepAfterWrite
)

// between is a fault that client 1 begins and ends.
func between(f nemesis.Fault) nemesis.Plan {
	f.Start = nemesis.When(1, begin, 0)
	over := nemesis.When(1, end, 0)
	f.End = &over
	return nemesis.Plan{f}
}

func TestLinkIsDownWhileAnyFaultHoldsIt(t *testing.T) {
	over := nemesis.When(1, end, 0)
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.Partition{}, Start: nemesis.When(1, begin, 0), End: &over},
		{Action: &nemesis.Latency{}, Start: nemesis.When(1, begin, 0), End: nemesis.After(0)},
	}})
	w.mustRun(func(int) {
		w.Reach(1, begin, 0)
		w.Reach(1, end, 0)
	})
	w.wantKinds(history.FaultStart, history.LinkDown, history.FaultStart, history.FaultEnd, history.LinkUp, history.FaultEnd)
}

func TestPauseHoldsAClientAtItsStep(t *testing.T) {
	over := nemesis.When(2, end, 0)
	w := newTestWorld(t, nemesis.Setting{Clients: 2, Plan: nemesis.Plan{
		{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, begin, 0), End: &over},
	}})
	var ticks atomic.Int64
	var goesOn atomic.Bool
	w.mustRun(func(client int) {
		m := w.Runtime(client)
		if client == 2 {
			for !w.client(1).gate.shut.Load() {
				w.sleep(2, time.Millisecond)
			}
			before := ticks.Load()
			w.sleep(2, 50*time.Millisecond)
			if after := ticks.Load(); after > before+1 { // one may have been under way
				t.Errorf("the client's background task ticked on: from %d to %d", before, after)
			}
			goesOn.Store(true)
			w.Reach(2, end, 0)
			return
		}
		ticking, stop := context.WithCancel(context.Background())
		beside := m.Go("ticker", func() {
			for m.Sleep(ticking, m.Now(env.Monotonic).Add(time.Millisecond)) == nil {
				ticks.Add(1)
			}
		})
		for ticks.Load() == 0 {
			w.sleep(1, time.Millisecond)
		}
		w.Reach(1, begin, 0)
		if !goesOn.Load() {
			t.Error("the client did not stand still")
		}
		stop()
		_ = beside.Wait(context.Background())
	})
	w.wantKinds(history.FaultStart, history.Pause, history.Resume, history.FaultEnd)
}

func TestRunEndsWhenAllClientsAreDead(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Clients: 2, Plan: nemesis.Plan{
		{Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(10 * time.Millisecond)},
		{Action: &nemesis.Pause{Client: 2}, Start: nemesis.At(10 * time.Millisecond)},
		{Action: &nemesis.Kill{Client: 2}, Start: nemesis.At(20 * time.Millisecond)},
	}})
	w.mustRun(func(client int) { w.sleep(client, time.Hour) })
	if e := w.event(history.End); e.Time > history.Time(patience) {
		t.Errorf("the run went on until %v", e.Time)
	}
}

// slowStarter is a server that starts again only when the test says so.
type slowStarter struct {
	Server
	starting, up chan struct{}
}

func (s slowStarter) Kill() {}
func (s slowStarter) Quit() {}

func (s slowStarter) Start(ctx context.Context) error {
	close(s.starting)
	select {
	case <-s.up:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// While a server starts again, only the client whose step waits for it is paused, and the
// history says so. Others take steps, and their faults happen.
func TestRestartHoldsUpNobodyElse(t *testing.T) {
	plan := between(nemesis.Fault{Action: &nemesis.Crash{Node: 1}})
	at := nemesis.When(2, begin, 0)
	plan = append(plan, nemesis.Fault{Action: &nemesis.Cancel{Client: 2}, Start: at})
	w := newTestWorld(t, nemesis.Setting{Nodes: 1, Clients: 2, Plan: plan})
	slow := slowStarter{w.server(1), make(chan struct{}), make(chan struct{})}
	w.fleet.Servers[0] = slow
	w.mustRun(func(client int) {
		if client == 1 {
			w.Reach(1, begin, 0)
			w.Reach(1, end, 0)
			return
		}
		<-slow.starting
		calling, returned := w.Call(context.Background(), 2)
		defer returned()
		w.Reach(2, begin, 0)
		if calling.Err() == nil {
			t.Error("the fault of client 2 waits for a server")
		}
		close(slow.up)
	})
	w.wantKinds(history.FaultStart, history.NodeDown, history.Pause, history.FaultStart, history.Cancel, history.NodeUp, history.FaultEnd, history.Resume)
}

// A server that has been started answers no client before the history says that it is up. Otherwise a
// client could be granted a lock by a node that is recorded as down.
func TestServerAnswersNobodyBeforeItIsRecordedAsUp(t *testing.T) {
	for _, action := range []nemesis.Action{&nemesis.Crash{Node: 1}, &nemesis.PowerLoss{Node: 1}} {
		t.Run(string(action.Kind()), func(t *testing.T) {
			w := newTestWorld(t, nemesis.Setting{Clients: 2, Plan: between(nemesis.Fault{Action: action})})
			w.recordedKinds.before = func(k history.Kind) {
				if k == history.NodeUp {
					time.Sleep(200 * time.Millisecond) // the event is on its way, and the server runs
				}
			}
			down := make(chan struct{})
			w.mustRun(func(client int) {
				if client == 1 {
					w.Reach(1, begin, 0)
					close(down)
					w.Reach(1, end, 0)
					return
				}
				<-down
				for last := time.Now().Add(patience); w.askBriefly(2, 1, env.OpSet, "a") != env.Yes; {
					if time.Now().After(last) {
						t.Error("the node does not come back")
						return
					}
				}
				if !w.heard(history.NodeUp) {
					t.Error("the node has answered a client before it is recorded as up")
				}
			})
		})
	}
}

// Clones draw the same numbers from then on.
func TestClonesDrawTheSame(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Clients: 3, Plan: nemesis.Plan{
		{Action: &nemesis.Clone{Clients: []int{1, 3}}, Start: nemesis.When(1, begin, 0)},
	}})
	var drawn [2][3][8]byte
	w.mustRun(func(client int) {
		if client != 1 {
			return
		}
		for when := range drawn {
			for c := range 3 {
				w.Runtime(c + 1).Random(drawn[when][c][:])
			}
			w.Reach(1, begin, 0)
		}
	})
	before, after := drawn[0], drawn[1]
	if before[0] == before[2] || after[0] != after[2] || after[0] == after[1] || after[0] == before[0] {
		t.Errorf("before %v, after %v", before, after)
	}
}
