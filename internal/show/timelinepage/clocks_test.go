package timelinepage_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// clockWatcher reads all clocks of a run at every event.
type clockWatcher struct {
	runner.Watcher // for the methods that nobody calls
	which          env.Clock
	clocks         runner.ClockReader
	first          map[string]int64
	seen           []clockReading
	named          map[string]bool // machines whose clocks the faults so far make wrong, as the events say
	unnamed        []clockReading  // wrong clocks of other machines
	clients        int
	nodes          int
}

// clockReading is how far a clock is ahead since the run began.
type clockReading struct {
	at      history.Time
	machine string
	name    string
	ahead   int64
}

func (o *clockWatcher) Open(h history.Header, c runner.ClockReader) {
	o.clocks, o.clients, o.nodes, o.first, o.named = c, h.Clients, h.Nodes, map[string]int64{}, map[string]bool{}
	o.look(func(r clockReading) { o.first[r.name] = r.ahead })
}

func (o *clockWatcher) look(each func(clockReading)) {
	now := o.clocks.Ground()
	for n := 1; n <= o.clients; n++ {
		each(clockReading{now, nemesis.Machine{Client: n}.String(), fmt.Sprintf("client %d, %v clock", n, o.which), int64(o.clocks.ClientClock(n, o.which)) - int64(now)})
	}
	for n := 1; n <= o.nodes; n++ {
		each(clockReading{now, nemesis.Machine{Node: n}.String(), fmt.Sprintf("node %d, wall clock", n), int64(o.clocks.NodeClock(n)) - int64(now)})
	}
}

func (o *clockWatcher) Record(e *history.Event) {
	if e.Kind == history.FaultStart {
		o.named[nemesis.Machine{Node: e.Node, Client: e.Client}.String()] = true
	}
	o.look(func(r clockReading) {
		r.ahead -= o.first[r.name]
		o.seen = append(o.seen, r)
		if r.ahead != 0 && !o.named[r.machine] {
			o.unnamed = append(o.unnamed, r)
		}
	})
}

func (*clockWatcher) Sent(int, int, env.NodeSet, env.Command)  {}
func (*clockWatcher) Replied(int, int, env.Reply)              {}
func (*clockWatcher) Asked(int, int, env.StoreRequest)         {}
func (*clockWatcher) Answered(int, int, env.StoreReply, error) {}

// checkClocks checks that lanes show the errors of the run's clocks, that clocks without a lane
// were right, and that the start of a fault names the machine whose clocks it makes wrong. When a clock is stepped, its lane may show the value before or after. For a
// thinned lane it checks the range only.
func checkClocks(t tester, s scenarios.Scenario, seed uint64) (shown int) {
	t.Helper()
	o := &clockWatcher{which: s.Lock.ReadsClock()}
	m := read(t, run(t, s, seed, o))
	if len(o.unnamed) > 0 {
		t.Errorf("no fault names the machine of a wrong clock: %+v", o.unnamed[0])
	}
	for _, r := range o.seen {
		if l := lane(m, timelinepage.Clocks, r.name); !shows(l, r) {
			t.Errorf("%s is ahead by %d at %v, and its lane shows %v", r.name, r.ahead, r.at, l.Samples)
			return
		}
	}
	for _, l := range m.Lanes {
		if l.Group == timelinepage.Clocks {
			shown++
		}
	}
	return shown
}

// shows reports whether a lane with joined samples shows a reading.
func shows(l timelinepage.Lane, r clockReading) bool {
	samples := l.Samples
	if l.Thinned {
		byValue := func(a, b timelinepage.Sample) int { return cmp.Compare(a.Value, b.Value) }
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
		if d := joined - float64(r.ahead); d > -2 && d < 2 { // clocks have whole nanoseconds
			return true
		}
	}
	return false
}

// Any clock faults are shown as they happened.
func TestClocksOfRandomFaults(t *testing.T) {
	rows := slices.DeleteFunc(scenarios.All(), func(s scenarios.Scenario) bool { return s.Store != nil }) // whose nodes have no lanes of clocks
	weights := nemesis.Weights{}
	for _, kind := range []nemesis.Kind{"clock-jump", "clock-rate", "clock-slew", "clock-strobe", "clock-freeze", "suspend", "snapshot", "pause", "vm-restore"} {
		weights[kind] = 1
	}
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(rows).Draw(t, "row")
		s = runner.WithGenerator(s, nemesis.Generator{Faults: weights, Most: rapid.IntRange(1, 8).Draw(t, "faults")})
		seen += checkClocks(t, s, rapid.Uint64Range(1, 1_000_000).Draw(t, "seed"))
	})
	if seen == 0 {
		t.Error("no clock was ever wrong: the test covers too little")
	}
}

// Of a fault on all nodes each node has its own number in the history, and faults after it have later ones.
func TestClocksOfAFaultOnAllNodes(t *testing.T) {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = nemesis.Plan{
		{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: nemesis.AllNodes}, PPM: 9000}, Start: nemesis.At(0)},
		{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: time.Second}, Start: nemesis.At(time.Millisecond)},
	}
	s.Lock.Clock = "wall"
	if shown := checkClocks(t, s, 1); shown != s.Nodes+1 {
		t.Errorf("%d clocks are shown: want those of %d nodes and of a client", shown, s.Nodes)
	}
}
