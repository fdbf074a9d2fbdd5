package scenarios

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// The allowed delay of a scenario follows from the shortest of its times, unless it is stated.
func TestAllowedSlip(t *testing.T) {
	base := Scenario{
		Lock:    quickLock,                                         // a TTL of 1 s, a node timeout of 50 ms
		Clients: []Client{once(exactly(0), span(0, 100*ms))},       // 900 ms before its end
		Setting: nemesis.Setting{Plan: nemesis.Plan{cutOff(1, 4)}}, // without an end
	}
	for _, c := range []struct {
		what   string
		change func(*Scenario)
		want   time.Duration
		from   string
	}{
		{"a tenth of the TTL", func(*Scenario) {}, 100 * ms, "a tenth of the TTL of 1s"},
		{"work that ends 80 ms before the TTL", func(s *Scenario) { s.Clients[0].Work.Max = 920 * ms }, 20 * ms, "a quarter of the 80ms between the end of work for 920ms and that of the TTL of 1s"},
		{"work that ends 40 ms behind it", func(s *Scenario) { s.Clients[0].Work.Max = 1040 * ms }, 10 * ms, "a quarter of the 40ms between the end of work for 1.04s and that of the TTL of 1s"},
		{"work that ends with it, of which nobody can say which is first", func(s *Scenario) { s.Clients[0].Work.Max = time.Second }, 100 * ms, "a tenth of the TTL of 1s"},
		{"work under a lock that is extended", func(s *Scenario) { s.Clients[0].Work.Max, s.Clients[0].ExtendEvery = 920*ms, 300*ms }, 100 * ms, "a tenth of the TTL of 1s"},
		{"a fault that ends 100 ms behind it", func(s *Scenario) { s.Plan = append(s.Plan[:1:1], crash(3, afterGrant(20*ms), 1100*ms)) }, 25 * ms, "a quarter of the 100ms between the end of a fault of 1.1s and that of the TTL of 1s"},
		{"a fault of 200 ms", func(s *Scenario) { s.Plan = append(s.Plan[:1:1], crash(3, afterGrant(20*ms), 200*ms)) }, 50 * ms, "a quarter of the shortest fault, 200ms"},
		{"a fault that ends at once", func(s *Scenario) { s.Plan = append(s.Plan[:1:1], crash(3, afterGrant(20*ms), 0)) }, 100 * ms, "a tenth of the TTL of 1s"},
		{"a shorter TTL", func(s *Scenario) { s.Clients[0].ExtendTTL = exactly(300 * ms) }, 30 * ms, "a tenth of the TTL of 300ms"},
		{"a node timeout, where tries are counted", func(s *Scenario) { s.Bounds.Tries = 3 }, 25 * ms, "half of the node timeout of 50ms"},
		{"what it says itself", func(s *Scenario) { s.SlipMargin = 7 * ms }, 7 * ms, "the scenario's slip_margin"},
	} {
		s := base
		s.Clients = append([]Client(nil), base.Clients...)
		c.change(&s)
		if got, want := s.SlipLimit(), (SlipLimit{c.want, c.from}); got != want {
			t.Errorf("%s: %v, want %v", c.what, got, want)
		}
	}
}

// No row of the debate asks of a machine what none can do: to be late by less than a few
// of a scheduler's turns.
func TestRowsCanBeShownOnRealMachines(t *testing.T) {
	for _, s := range All() {
		if got := s.AllowedSlip(); got < 10*ms {
			t.Errorf("%s allows a slip of %v", s.Name, got)
		}
	}
}
