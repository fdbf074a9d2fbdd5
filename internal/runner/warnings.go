package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Warnings returns the fields that prevent simulated runs of the experiment from reaching
// their horizon, as far as that is known beforehand. Such a scenario can be run. The run
// then ends at a limit, and verdicts other than violations are unknown. On real servers
// everything takes time, so there are no warnings.
func (e Experiment) Warnings() []*nemesis.FieldError {
	if !e.backend.Exact {
		return nil
	}
	var list []*nemesis.FieldError
	for _, warn := range []func(scenarios.Scenario) []*nemesis.FieldError{spinWarnings, instantWarnings, frequencyWarnings} {
		list = append(list, warn(e.scenario)...)
	}
	return list
}

// spinWarnings warns of clients that would retry without end at one instant.
func spinWarnings(s scenarios.Scenario) []*nemesis.FieldError {
	if s.Store != nil || s.Lock.Retry.Max > 0 || !immediate(s) || s.Lock.Tries > 0 && s.Lock.Tries < maxAtInstant || !contended(s) {
		return nil
	}
	return []*nemesis.FieldError{{Path: "lock.retry", Err: errors.New("0s, and messages take no time either: a client that finds the lock taken tries again at the same instant, so time does not move while it waits, and the run ends there")}}
}

// maxAtInstant is about how many tries, or rounds, fit into one instant before a limit
// ends the run.
const maxAtInstant = 500

// instantWarnings warns of clients whose rounds all happen at one instant.
func instantWarnings(s scenarios.Scenario) (list []*nemesis.FieldError) {
	if s.Store != nil || !immediate(s) {
		return nil
	}
	for i, c := range s.Clients {
		if c.Rounds >= maxAtInstant && c.Work.Max == 0 && c.Think.Max == 0 {
			list = append(list, &nemesis.FieldError{Path: fmt.Sprintf("clients[%d].rounds", i), Err: fmt.Errorf("%d without work or think time, and messages take no time either: all of them are at one instant, which has room for about %d", c.Rounds, maxAtInstant)})
		}
	}
	return list
}

// immediate reports whether no message between clients and nodes takes any time.
func immediate(s scenarios.Scenario) bool {
	return s.Latency.Max == 0 && !slices.ContainsFunc(s.Links, func(l nemesis.LinkLatency) bool { return l.Latency.Max > 0 })
}

// contended reports whether two clients may lock the same resource.
func contended(s scenarios.Scenario) bool {
	for i, c := range s.Clients {
		if slices.ContainsFunc(s.Clients[:i], func(other scenarios.Client) bool { return other.Resource == c.Resource }) {
			return true
		}
	}
	return false
}

// frequencyWarnings warns of periodic actions that are so frequent that a run ends long
// before its horizon.
func frequencyWarnings(s scenarios.Scenario) (list []*nemesis.FieldError) {
	most := s.EventLimit()
	often := func(path string, every, lasts time.Duration) {
		turn := every + 2*s.Latency.Max
		if every <= 0 || int64(lasts/turn) <= int64(most) {
			return
		}
		list = append(list, &nemesis.FieldError{Path: path, Err: fmt.Errorf("%v: %v has room for %d of them, and a run ends after %d events (max_events)", every, lasts, int64(lasts/turn), most)})
	}
	often("lock.watchdog.every", s.Lock.Watchdog.Every, s.Horizon)
	often("lock.heartbeat", s.Lock.Heartbeat, s.Horizon)
	if contended(s) && s.Lock.Tries == 0 {
		often("lock.retry", s.Lock.Retry.Max, s.Horizon)
	}
	for i, c := range s.Clients {
		often(fmt.Sprintf("clients[%d].extend_every", i), c.ExtendEvery, min(s.Horizon, c.Work.Max))
	}
	for i, f := range s.Plan {
		f.EachValue(func(name string, value any) {
			if d, ok := value.(*time.Duration); ok && name == "period" {
				often(fmt.Sprintf("plan[%d].%s.%s", i, f.Action.Kind(), name), *d, s.Horizon)
			}
		})
	}
	return list
}
