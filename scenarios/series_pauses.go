package scenarios

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// hasRead is the step at which client 1 has read and is about to work.
var hasRead = nemesis.When(1, env.StepAfterRead, 0)

// straddling are a holder, and another client that comes while the holder works. If the holder is
// stalled, the other reads before the end of the stall and writes after it. If it had to wait for
// the holder's keys, it writes after everything that the holder does then.
func straddling(workload string) []Client {
	return doing(workload, []Client{
		once(exactly(0), span(500*ms, 600*ms)),
		once(span(400*ms, 480*ms), span(850*ms, 900*ms)),
	})
}

// doing makes clients of the same times with another workload.
func doing(workload string, clients []Client) []Client {
	same := make([]Client, len(clients))
	for i, c := range clients {
		c.Workload = workload
		same[i] = c
	}
	return same
}

// stall pauses client 1 for longer than the TTL.
func stall(at nemesis.Trigger) nemesis.Fault { return pause(1, at, 1200*ms) }

// boundary is a step at which a holder can be paused, with the expected verdicts if it writes
// without reading a clock, and if it reads the clock just before.
type boundary struct {
	step           env.Step
	k              int
	section        checker.Verdict
	plain, checked checker.Verdict // of effect exclusion
}

// boundaries are the steps of a holder, in order. A pause before the validity check is detected by
// the check.
var boundaries = []boundary{
	{step: env.StepAcquire, section: holds, plain: holds, checked: holds},
	{step: env.StepBeforeSend, section: holds, plain: holds, checked: holds},
	{step: env.StepReply, k: 1, section: holds, plain: holds, checked: holds},
	{step: env.StepReply, k: 2, section: holds, plain: holds, checked: holds},
	{step: env.StepReply, k: 3, section: holds, plain: holds, checked: holds},
	{step: env.StepReply, k: 4, section: holds, plain: holds, checked: holds},
	{step: env.StepReply, k: 5, section: holds, plain: holds, checked: holds},
	{step: env.StepQuorum, section: holds, plain: holds, checked: holds},
	{step: env.StepBeforeCheck, section: holds, plain: holds, checked: holds},
	{step: env.StepAfterCheck, section: violated, plain: violated, checked: holds},
	{step: env.StepGranted, section: violated, plain: violated, checked: holds},
	{step: env.StepBeforeRead, section: violated, plain: violated, checked: holds},
	{step: env.StepAfterRead, section: violated, plain: violated, checked: holds},
	{step: env.StepBeforeWrite, section: violated, plain: violated, checked: violated},
	{step: env.StepAfterWrite, section: violated, plain: holds, checked: holds},
	{step: env.StepBeforeRelease, section: holds, plain: holds, checked: holds},
	{step: env.StepReleased, section: holds, plain: holds, checked: holds},
}

// String names the boundary, such as "reply-4".
func (b boundary) String() string {
	if b.k == 0 {
		return b.step.String()
	}
	return fmt.Sprintf("%s-%d", b.step, b.k)
}

// stalls are the points of a series that pauses the holder at each of
// its steps in turn. Two of five nodes are gone, and their machines refuse connections at once,
// so that a quorum takes every reply.
func stalls(id, workload string, effect func(boundary) checker.Verdict) []Point {
	points := make([]Point, len(boundaries))
	world := five(6*time.Second, down(1), down(2))
	world.Links = []nemesis.LinkLatency{{Links: nemesis.Links{Nodes: []int{1, 2}}, Latency: always(100 * us)}}
	for i, b := range boundaries {
		start := nemesis.When(1, b.step, 0)
		start.K = b.k
		setting := world
		setting.Plan = append(nemesis.Plan{stall(start)}, world.Plan...)
		points[i] = Point{Value: b.String(), Scenario: Scenario{
			Name:    id + "-" + b.String(),
			Summary: fmt.Sprintf("the holder stands still past its validity at the step %s", b),
			Lock:    quickLock,
			Clients: straddling(workload),
			Setting: setting,
			Bounds:  quickBounds,
			Expect:  expect(holds, b.section, effect(b), na),
		}}
	}
	return points
}

// pauseSeries is the series about pauses.
var pauseSeries = []Series{
	{
		Name:     "pause-then-write",
		Summary:  "a holder that looks at no clock stands still past its validity at each of its steps in turn",
		Claims:   []Claim{fromKleppmann("unsafe", onProtection), fromAntirez("so are all leases")},
		Varied:   "step",
		Property: checker.Effect, Unordered: true,
		Points: stalls("pause-then-write", "section", func(b boundary) checker.Verdict { return b.plain }),
	},
	{
		Name:     "check-then-write",
		Summary:  "a holder that checks its validity just before it writes stands still past it at each of its steps in turn",
		Claims:   []Claim{fromKleppmann("unsafe", onProtection), said("AWS Builders' Library", 2026, "check the lease before each side effect", `Leader election in distributed systems`)},
		Varied:   "step",
		Property: checker.Effect, Unordered: true,
		Points: stalls("check-then-write", "checked", func(b boundary) checker.Verdict { return b.checked }),
		Damages: []Damage{
			{checker.Effect, "a section that looks at no clock", func(s *Scenario) { s.Clients = doing("section", s.Clients) }},
		},
	},
}
