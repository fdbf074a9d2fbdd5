package fuzz_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/fuzz"

	"github.com/lockstorm/lockstorm/scenarios"
)

// edgeOf is the edge of the value of that name in the last fault of a plan, beside the
// others.
func edgeOf(t *testing.T, a fuzz.Assumptions, s scenarios.Scenario, name string) (inside, outside int64, ok bool) {
	t.Helper()
	last := len(s.Plan) - 1
	f := s.Plan[last]
	s.Plan = s.Plan[:last]
	f.EachValue(func(n string, value any) {
		if n == name {
			inside, outside, ok = a.Edge(s, &f, value)
		}
	})
	return inside, outside, ok
}

// The edge is where an assumption turns from admitting a fault to ruling it out.
func TestEdge(t *testing.T) {
	ms := int64(time.Millisecond)
	for _, c := range []struct {
		assumed, scenario, value string
		inside, outside          int64 // both 0: there is none
	}{
		{"clock_rate_ppm: 26694", "plan: [{clock-rate: {client: 1, ppm: -500}, start: {}}]", "ppm", -26_694, -26_695},
		{"clock_rate_ppm: 1000", "plan: [{clock-rate: {node: 1, ppm: 600}, start: {}, end: {after: 1s}}, {clock-rate: {node: 1, ppm: 7}, start: {at: 2s}}]", "ppm", 400, 401},
		{"clock_rate_ppm: 1000", "plan: [{clock-rate: {node: 1, ppm: 600}, start: {}}, {clock-rate: {node: 2, ppm: 7}, start: {at: 2s}}]", "ppm", 1000, 1001},
		{"node_clock_step: 5ms", "plan: [{clock-jump: {node: 2, by: -1s}, start: {}}]", "by", -5 * ms, -5*ms - 1000},
		{"node_clock_step: 5ms", "plan: [{clock-jump: {client: 2, by: -1s}, start: {}}]", "by", 0, 0},
		{"restart_delay: 1s", "{persistence: none, plan: [{crash: {node: 2}, start: {}, end: {after: 3ms}}]}", "after", 1000 * ms, 1000*ms - 1000},
		{"restart_delay: 1s", "{persistence: aof-always, plan: [{crash: {node: 2}, start: {}, end: {after: 3ms}}]}", "after", 0, 0},
		{"without: [pause]", "plan: [{pause: {client: 1}, start: {}, end: {after: 3ms}}]", "after", 0, 0},
	} {
		s := planned(t, c.scenario)
		before := s.Plan.Clone()
		inside, outside, ok := edgeOf(t, assumed(t, c.assumed), s, c.value)
		if inside != c.inside || outside != c.outside || ok != (c.inside != 0) {
			t.Errorf("%s of %s: the edge is %d and %d (%v), want %d and %d", c.assumed, c.scenario, inside, outside, ok, c.inside, c.outside)
		}
		if last := len(before) - 1; s.Plan[last].Action.(fmt.Stringer).String() != before[last].Action.(fmt.Stringer).String() {
			t.Errorf("%s: looking for the edge has changed the fault: %v", c.scenario, s.Plan[last])
		}
	}
}
