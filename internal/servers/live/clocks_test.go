//go:build linux

package live

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// slack is more than any of these tests is late, and less than what they measure.
const slack = time.Hour

var client1 = nemesis.Machine{Client: 1}

// The end of a lease is recorded when the watched clock reaches it. A jump of the wall
// clock, and of no other, brings it forward.
func TestLapseComesWithTheClockThatJumps(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.ClockJump{Machine: client1, By: 2 * slack}, Start: nemesis.When(1, begin, 0)},
	}})
	w.mustRun(func(int) {
		for _, which := range []env.Clock{env.Wall, env.Monotonic} {
			w.Watch(1, which, "r", which.String(), w.Runtime(1).Now(which).Add(slack))
		}
		w.Reach(1, begin, 0)
		w.Record(history.Event{Kind: history.Acquire, Client: 1, Resource: "r", Token: "after"})
	})
	w.wantKinds(history.FaultStart, history.Lapse, history.Acquire)
	if e := w.event(history.Lapse); e.Token != env.Wall.String() {
		t.Errorf("%+v", e)
	}
}
