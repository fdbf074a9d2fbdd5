package timeline_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// onlooker reads all clocks of a run whenever something happens.
type onlooker struct {
	runner.Watcher // nobody calls what is not here
	which          env.Clock
	clocks         runner.ClockReader
	first          map[string]int64
	seen           []reading
	clients        int
	nodes          int
}

// reading is by how much a clock has got ahead since the begin of the run.
type reading struct {
	at    history.Time
	name  string
	ahead int64
}

func (o *onlooker) Open(h history.Header, c runner.ClockReader) {
	o.clocks, o.clients, o.nodes, o.first = c, h.Clients, h.Nodes, map[string]int64{}
	o.look(func(r reading) { o.first[r.name] = r.ahead })
}

func (o *onlooker) look(each func(reading)) {
	now := o.clocks.Ground()
	for n := 1; n <= o.clients; n++ {
		each(reading{now, fmt.Sprintf("client %d, %v clock", n, o.which), int64(o.clocks.ClientClock(n, o.which)) - int64(now)})
	}
	for n := 1; n <= o.nodes; n++ {
		each(reading{now, fmt.Sprintf("node %d, wall clock", n), int64(o.clocks.NodeClock(n)) - int64(now)})
	}
}

func (o *onlooker) Record(*history.Event) {
	o.look(func(r reading) {
		r.ahead -= o.first[r.name]
		o.seen = append(o.seen, r)
	})
}

func (*onlooker) Sent(int, int, env.NodeSet, env.Command)  {}
func (*onlooker) Replied(int, int, env.Reply)              {}
func (*onlooker) Asked(int, int, env.StoreRequest)         {}
func (*onlooker) Answered(int, int, env.StoreReply, error) {}

// clocksAreThoseOfTheRun checks that lanes show what clocks have shown: of one that is not
// shown, that it was right. Of an instant at which a clock is stepped, what it showed before
// or after; of a clock that is stepped too often for every step to be shown, that it was
// never farther off than its lane says.
func clocksAreThoseOfTheRun(t tester, s scenarios.Scenario, seed uint64) (shown int) {
	t.Helper()
	o := &onlooker{which: s.Lock.ReadsClock()}
	m := read(t, run(t, s, seed, o))
	for _, r := range o.seen {
		if l := lane(m, timeline.Clocks, r.name); !shows(l, r) {
			t.Errorf("%s is ahead by %d at %v, and its lane shows %v", r.name, r.ahead, r.at, l.Samples)
			return
		}
	}
	for _, l := range m.Lanes {
		if l.Group == timeline.Clocks {
			shown++
		}
	}
	return shown
}

// shows reports whether a lane, whose samples are joined, shows a reading.
func shows(l timeline.Lane, r reading) bool {
	samples := l.Samples
	if l.Thinned {
		byValue := func(a, b timeline.Sample) int { return cmp.Compare(a.Value, b.Value) }
		v := float64(r.ahead)
		return slices.MinFunc(samples, byValue).Value <= v && v <= slices.MaxFunc(samples, byValue).Value
	}
	if len(samples) == 0 {
		return r.ahead == 0
	}
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		if r.at < a.At || r.at > b.At {
			continue
		}
		if a.At == b.At {
			if float64(r.ahead) == a.Value || float64(r.ahead) == b.Value {
				return true
			}
			continue
		}
		joined := a.Value + (b.Value-a.Value)*float64(r.at-a.At)/float64(b.At-a.At)
		if d := joined - float64(r.ahead); d > -2 && d < 2 { // clocks show whole nanoseconds
			return true
		}
	}
	return false
}

func TestClocksOfRows(t *testing.T) {
	for name, want := range map[string]int{
		"calm": 0, "client-wall-step-monotonic": 0, "node-clock-jump": 1, "clock-drift-beyond": 6, "leap-second-smeared": 5, "frozen-clock-thaws": 1, "client-suspend": 1, "client-wall-step": 1,
	} {
		if got := clocksAreThoseOfTheRun(t, find(t, name), 1); got != want {
			t.Errorf("%s: %d clocks are shown, want %d", name, got, want)
		}
	}
}

// Law: whatever happens to clocks is shown as it was.
func TestClocksInStorms(t *testing.T) {
	rows := scenarios.All()
	weights := nemesis.Weights{}
	for _, kind := range []nemesis.Kind{"clock-jump", "clock-rate", "clock-slew", "clock-strobe", "clock-freeze", "suspend", "snapshot", "pause", "vm-restore"} {
		weights[kind] = 1
	}
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(rows).Draw(t, "row")
		s = runner.WithGenerator(s, nemesis.Generator{Faults: weights, Most: rapid.IntRange(1, 8).Draw(t, "faults")})
		seen += clocksAreThoseOfTheRun(t, s, rapid.Uint64Range(1, 1_000_000).Draw(t, "seed"))
	})
	if seen == 0 {
		t.Error("no clock was ever off: this test tries too little")
	}
}
