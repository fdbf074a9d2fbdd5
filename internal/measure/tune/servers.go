package tune

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// OnServers is a scenario of an advice for real servers, and what a reader of its file should know.
type OnServers struct {
	scenarios.Scenario
	Comment string
}

// onServers returns two scenarios with a setting: one that must hold, and its control, which must
// violate lease exclusion. Without the control nobody knows that the first one tests anything.
func (m *model) onServers(s Setting) []OnServers {
	safe := m.crashOnServers(s, "restart")
	safe.Summary = fmt.Sprintf("a crashed node stays away for %v", s.RestartDelay)
	safe.Comment = fmt.Sprintf("must hold: the nodes return after the recommended delay, %v", s.RestartDelay)
	hasty := *m
	short := s
	short.RestartDelay = s.TTL / 10
	why := fmt.Sprintf("the nodes return after %v, while the holder still relies on their keys", short.RestartDelay)
	switch {
	case !m.forgets():
		safe.Summary = "a crashed node is back at once, with its keys"
		safe.Comment = "must hold: the nodes are back at once, with their keys"
		hasty.Crashes.Persistence = nemesis.Nothing
		why = fmt.Sprintf("the nodes keep nothing and return after %v, while the holder still relies on their keys", short.RestartDelay)
	case s.RestartDelay < m.Clocks.NeededRestartDelay(s.TTL, s.Allowance()):
		safe.Expect = nil
		safe.Comment = fmt.Sprintf("may be violated: the given delay, %v, is shorter than the %v that are needed",
			s.RestartDelay, m.Clocks.NeededRestartDelay(s.TTL, s.Allowance()))
	}
	control := hasty.crashOnServers(short, "restart-too-early")
	control.Summary = "the control of restart: a crashed node is back too early, without its keys"
	control.Expect = scenarios.Expectations{checker.Backing: checker.Violated, checker.Lease: checker.Violated, checker.Section: checker.Violated}
	control.Comment = "must be violated: " + why
	return []OnServers{safe, control}
}

// crashOnServers returns a scenario in which nodes of the holder's bare quorum crash when it has just
// been granted the lock, and another client asks from the middle of the lease on, and again after the
// nodes' return. It has neither round trips nor wrong clocks: real servers bring their own. The holder does not
// extend: it would notice that a quorum has lost its key, and each lease is as long as the first.
func (m *model) crashOnServers(s Setting, name string) OnServers {
	s.ExtendEvery = 0
	crashes := m.crashes(s, nemesis.When(1, env.StepGranted, 0))
	for _, f := range crashes {
		if loss, is := f.Action.(*nemesis.PowerLoss); is && m.persistence() == nemesis.EverySecond {
			loss.StuckSync = time.Second // or the key would be on the disk now and then
		}
	}
	one := m.toTheEnd(s, name, "", nil)
	one.Latency, one.Links, one.GuardLatency = nemesis.Distribution{}, nil, nil
	one.Plan = slices.DeleteFunc(one.Plan, func(f nemesis.Fault) bool {
		_, is := f.Action.(*nemesis.Partition)
		return !is
	})
	one.Plan = append(one.Plan, crashes...)
	competitor := &one.Clients[1]
	competitor.Start = exactly(s.TTL / 2)
	competitor.Rounds, competitor.Think = 2, exactly(max(s.RestartDelay-s.TTL, 0)+s.TTL/10) // the second after the return
	one.Horizon += 2 * s.RestartDelay
	return OnServers{Scenario: one}
}
