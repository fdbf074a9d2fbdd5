package external

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Storms returns the default storms for a filled configuration on a backend, with drawn generated
// plans, and why others are left out.
func (c Config) Storms(able nemesis.Ability, drawn int) (list []scenarios.Storm, refused []string) {
	for _, s := range c.every() {
		if err := able.Refuse(s.Plan); err != nil {
			refused = append(refused, fmt.Sprintf("%s (%v)", s.Name, err))
			continue
		}
		list = append(list, s)
	}
	if drawn > 0 {
		list = append(list, Drawn(drawn))
	}
	return list, refused
}

// Drawn returns the storm of generated plans.
func Drawn(plans int) scenarios.Storm {
	return scenarios.Storm{
		Name: "drawn", Summary: "generated faults of any kind, different ones in each run",
		Generate: &nemesis.Generator{Most: 4}, Runs: plans,
	}
}

// every returns the storms for a configuration, even those that its backend does not
// support.
func (c Config) every() []scenarios.Storm {
	s := stormParams{c.Nodes, c.Clients, c.Callers, c.Capacity, c.TTL}
	emptied := " without its keys"
	if c.Persistence != nemesis.Nothing { // a crash of the process alone loses nothing then
		emptied = ""
	}
	list := []scenarios.Storm{
		{Name: "calm", Summary: "no faults"},
		{Name: "contention", Summary: "no faults, and all clients compete without pause", Think: time.Millisecond, Rounds: c.competing()},
		{Name: "short-work", Summary: "no faults, and work that is over as soon as others begin to wait for it", Think: s.ttl * 2, Work: max(s.ttl/1000, time.Millisecond), Rounds: 6},
		{Name: "long-work", Summary: "no faults, and work that outlasts the TTL if the lock renews itself or can be extended", Claimed: true, Work: s.ttl * 3, Rounds: 3},
		{Name: "fractional-ttl", Summary: "no faults, another TTL, which is no whole number of seconds either, and work that takes nearly all of it", TTL: s.fractional(), Work: s.fractional() * 9 / 10, Rounds: 6},
		{Name: "majority-cut-off", Summary: "no client reaches a majority of the nodes for some TTLs", Plan: s.cut(s.most())},
		{Name: "node-comes-back-late", Summary: "a node crashes during a hold, and comes back" + emptied + " after its keys would have expired", Plan: s.restart(s.ttl * 5 / 4)},
		{Name: "node-comes-back-soon", Summary: "a node crashes during a hold, and comes back at once" + emptied, Work: s.ttl * 3 / 4, Rounds: 8, Plan: s.restart(0)},
		{Name: "node-stands-still", Summary: "a node is paused for a while", Plan: s.nodePaused()},
		{Name: "node-clock-jumps", Summary: "the clock of a node with the lock's key jumps forward by a TTL", Work: s.ttl * 3 / 4, Rounds: 8, Plan: s.clockJump()},
		{Name: "holder-stands-still", Summary: "a client is paused for longer than the TTL after it was granted the lock", Plan: s.pause(nemesis.When(1, env.StepGranted, 0))},
		{Name: "extender-stands-still", Summary: "a client is paused for longer than the TTL before it extends", Claimed: true, Work: s.ttl * 3, Rounds: 4, Plan: s.firstHolder(s.pause(nemesis.When(1, env.StepExtend, 0))...)},
		{Name: "writer-stands-still", Summary: "a client is paused for longer than the TTL before it writes", Plan: s.pause(nemesis.When(1, env.StepBeforeWrite, 0))},
		{Name: "caller-stands-still", Summary: "a client is paused for longer than the TTL while it acquires the lock", Plan: s.pause(nemesis.When(1, env.StepAcquire, 0))},
		{Name: "holder-dies", Summary: "a client dies after it was granted the lock, or as many as there are permits", Plan: s.deadHolders(min(s.ttl/50, c.Work/4))},
		{Name: "call-is-cancelled", Summary: "the context of a call ends while the lock is acquired, while it is waited for, or while it is released", Plan: s.cancelledCalls()},
		{Name: "caller-gives-up", Summary: "the context with which the lock was acquired ends as it is granted, or during the work", Work: s.ttl / 2, Rounds: 10, Plan: s.endedContexts()},
		{Name: "holder-cut-off", Summary: "a client reaches no node for some TTLs after it was granted the lock, and works for as long as the lock claims", Claimed: true, Work: s.ttl * 4, Rounds: 4, Plan: s.firstHolder(s.holderCutOff())},
		{Name: "extension-unanswered", Summary: "the answer to a holder's first message after its grant is lost, which extends or renews the hold if the lock does that", Claimed: true, Work: s.ttl * 2, Rounds: 6, Plan: s.unansweredExtensions()},
		{Name: "key-is-evicted", Summary: "a node evicts a holder's key during long work", Claimed: true, Work: s.ttl * 3, Rounds: 5, Plan: s.bare(nemesis.Fault{Action: &nemesis.Evict{Node: 1}, Start: nemesis.When(1, env.StepGranted, s.ttl/2)})},
		{Name: "node-restarts-in-long-work", Summary: "a node crashes during long work, and comes back at once" + emptied, Claimed: true, Work: s.ttl * 2, Rounds: 5, Plan: s.bare(nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: nemesis.When(1, env.StepGranted, s.ttl/2), End: nemesis.After(s.ttl / 10)})},
		{Name: "scripts-are-forgotten", Summary: "the nodes forget the scripts that clients have loaded, several times", Plan: s.scripts()},
		{Name: "slow-network", Summary: "messages take up to half a TTL, for some TTLs", Plan: s.slow(s.ttl/4, s.begin(), s.long())},
		{Name: "replies-are-lost", Summary: "connections break after requests have taken effect, and once before", Work: max(c.Work, s.ttl/10), Think: max(c.Think, s.ttl/5), Plan: s.resets(c.Clients)},
	}
	if c.Virtual && s.clients > 1 { // elsewhere it is not known when the second request is sent
		list = append(list, scenarios.Storm{Name: "second-request-is-lost", Summary: "a call of Lock that sends a second request, such as EXPIRE after SETNX, loses it, and the holder dies", Think: s.ttl * 2, Rounds: 6, Plan: s.secondRequestLost()})
	}
	if c.Virtual {
		list = append(list,
			scenarios.Storm{Name: "waiter-gives-up", Summary: "the context of a call ends while others hold the lock for most of the TTL", Work: s.ttl * 3 / 4, Rounds: 12, Plan: s.cancelledWaits()},
			scenarios.Storm{Name: "releaser-stands-still", Summary: "a client is paused for longer than the TTL while it releases, between two requests if it sends several", Work: s.ttl * 4 / 5, Rounds: 8, Plan: s.pausedReleases()},
			scenarios.Storm{Name: "slow-answers-then-none", Summary: "a holder gets its answers late, and then none, and works for as long as the lock claims", Claimed: true, Work: s.ttl * 4, Rounds: 6, Plan: s.firstHolder(s.slowAnswers()...)},
			scenarios.Storm{Name: "messages-overtake", Summary: "messages take up to a tenth of a TTL, and work is over at once, so that one client locks between two requests of another", Work: time.Millisecond, Think: s.ttl * 7 / 25, Rounds: 60, Plan: s.slow(s.ttl/10, nemesis.At(0), nil)},
		)
	}
	if c.Virtual && c.Store == nil {
		list = append(list, scenarios.Storm{Name: "clients-come-and-go", Summary: "no faults, a network whose latency varies much, and clients that lock once for an instant and close their lock", Latency: nemesis.Range{Min: usualLatency.Min, Max: max(s.ttl/500, usualLatency.Max)}, Work: time.Microsecond, Think: time.Microsecond, Rounds: 1, Runs: 40})
	}
	if c.Store == nil { // a store may refuse some of the names, or nest them
		rounds, work := len(names), s.ttl/5
		if c.Virtual { // then two clients also lock two names at one time, whose other keys may be confused
			rounds, work = 2*rounds, s.ttl/2
		}
		list = append(list, scenarios.Storm{Name: "confusing-names", Summary: "no faults, and several resources whose names a lock may confuse", Names: true, Work: work, Think: time.Millisecond, Rounds: rounds})
	}
	if s.callers > 1 {
		list = append(list,
			scenarios.Storm{Name: "callers-share-a-lock", Summary: "no faults, and several callers of each client compete", Callers: s.callers, Think: s.ttl / 25, Rounds: 12},
			scenarios.Storm{Name: "callers-give-up", Summary: "contexts of callers of one client end, and answers are lost", Callers: s.callers, Rounds: 25, Plan: s.callersGiveUp()},
		)
	}
	if c.Clocks && s.clients > 1 {
		list = append(list, scenarios.Storm{Name: "clients-clocks-differ", Summary: "the clocks of clients differ by a TTL", Work: s.ttl * 3 / 4, Rounds: 8, Plan: s.clientClocks()})
	}
	if s.nodes > 1 {
		list = append(list, scenarios.Storm{Name: "holder-cut-off-from-one", Summary: "a client does not reach one of the nodes for some TTLs after it was granted the lock, and works for as long as the lock claims", Claimed: true, Work: s.ttl * 4, Rounds: 4, Plan: s.firstHolder(s.holderCutOff(1))})
	}
	if minority := s.fewest(); len(minority) > 0 {
		list = append(list,
			scenarios.Storm{Name: "holder-cut-off-from-most", Summary: "a client reaches no majority of the nodes for some TTLs after it was granted the lock, and works for as long as the lock claims", Claimed: true, Work: s.ttl * 4, Rounds: 4, Plan: s.firstHolder(s.holderCutOff(s.most()...))},
			scenarios.Storm{Name: "minority-down", Summary: "a minority of the nodes crashes, and comes back" + emptied + " after some TTLs", Think: s.ttl, Rounds: 12, Plan: s.down(minority)},
			scenarios.Storm{Name: "minority-cut-off", Summary: "no client reaches a minority of the nodes for some TTLs", Think: s.ttl, Rounds: 12, Plan: s.cut(minority)},
			scenarios.Storm{Name: "node-off", Summary: "a node loses power for good", Plan: nemesis.Plan{{Action: &nemesis.PowerLoss{Node: s.nodes}, Start: s.begin()}}},
		)
	}
	return list
}

// stormParams is what the plans of the storms depend on.
type stormParams struct {
	nodes, clients, callers, capacity int
	ttl                               time.Duration
}

// competing is for how many rounds clients compete without pause. Where time is virtual, that takes four
// times as long as a call may: whoever starves is refused several times. 0: as many as elsewhere.
func (c Config) competing() int {
	if !c.Virtual || c.Clients < 2 || c.Work == 0 {
		return 0
	}
	return min(max(c.Rounds, int(4*c.Patience/c.Work)*4/3/(c.Clients-1)), 200)
}

// most returns a majority of the nodes, and fewest the other nodes, which are the last
// ones.
func (s stormParams) most() []int   { return numbers(1, s.nodes/2+1) }
func (s stormParams) fewest() []int { return numbers(s.nodes/2+2, s.nodes) }

func numbers(first, last int) (list []int) {
	for n := first; n <= last; n++ {
		list = append(list, n)
	}
	return list
}

// begin is when faults without a triggering step begin.
func (s stormParams) begin() nemesis.Trigger { return nemesis.At(s.ttl / 2) }

// long is the end of faults that last longer than every key.
func (s stormParams) long() *nemesis.Trigger { return nemesis.After(4 * s.ttl) }

// deadHolders kills as many holders as there are permits, but not the last client: if the permits of the dead are lost,
// it gets none.
func (s stormParams) deadHolders(after time.Duration) (plan nemesis.Plan) {
	for client := 1; client <= max(1, min(s.capacity, s.clients-1)); client++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.Kill{Client: client}, Start: nth(2, nemesis.When(client, env.StepGranted, after))})
	}
	return plan
}

// nth returns a trigger for the count-th time that its client reaches its step.
func nth(count int, m nemesis.Trigger) nemesis.Trigger {
	m.Count = count
	return m
}

// bare cuts client 1 off from all nodes but a bare majority, so that each of those counts.
func (s stormParams) bare(plan ...nemesis.Fault) nemesis.Plan {
	if spare := s.fewest(); len(spare) > 0 {
		alone := &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: spare}}
		plan = append(nemesis.Plan{{Action: alone, Start: nemesis.At(0), End: nemesis.After(4 * s.ttl)}}, plan...)
	}
	return plan
}

func (s stormParams) cut(nodes []int) nemesis.Plan {
	return nemesis.Plan{{Action: &nemesis.Partition{Links: nemesis.Links{Nodes: nodes}}, Start: s.begin(), End: s.long()}}
}

// holderCutOff cuts client 1 off from nodes, or from all of them.
func (s stormParams) holderCutOff(nodes ...int) nemesis.Fault {
	alone := &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: nodes}}
	return nemesis.Fault{Action: alone, Start: nemesis.When(1, env.StepGranted, s.ttl/10), End: nemesis.After(3 * s.ttl)}
}

// pausedReleases pauses client 1 when a release has sent its first request, and has no answer yet.
func (s stormParams) pausedReleases() (plan nemesis.Plan) {
	for count := 2; count <= 4; count++ {
		when := nth(count, nemesis.When(1, env.StepBeforeRelease, usualLatency.Max*3/5))
		plan = append(plan, nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: when, End: nemesis.After(s.ttl * 3 / 2)})
	}
	return plan
}

// slowAnswers delays what the nodes answer client 1 during its first holds, and cuts it off then: each time at
// another step of its renewals.
func (s stormParams) slowAnswers() (plan nemesis.Plan) {
	to, slow := nemesis.Links{Clients: []int{1}}, nemesis.Distribution{Range: nemesis.Range{Min: s.ttl / 6, Max: s.ttl / 6}}
	for count := 1; count <= 3; count++ {
		cut := s.ttl * time.Duration(10+2*count) / 10
		granted := func(plus time.Duration) nemesis.Trigger { return nth(count, nemesis.When(1, env.StepGranted, plus)) }
		plan = append(plan,
			nemesis.Fault{Action: &nemesis.Latency{Links: to, Way: nemesis.Replies, Add: slow}, Start: granted(0), End: nemesis.After(cut)},
			nemesis.Fault{Action: &nemesis.Partition{Links: to}, Start: granted(cut), End: nemesis.After(2 * s.ttl)},
		)
	}
	return plan
}

// firstHolder keeps the other clients away at the beginning, so that client 1 is the first holder. What
// happens to it then is over long before the others have made their rounds.
func (s stormParams) firstHolder(plan ...nemesis.Fault) nemesis.Plan {
	if s.clients > 1 {
		others := &nemesis.Partition{Links: nemesis.Links{Clients: numbers(2, s.clients)}}
		plan = append(nemesis.Plan{{Action: others, Start: nemesis.At(0), End: nemesis.After(s.ttl / 10)}}, plan...)
	}
	return plan
}

// fractional returns another TTL that is no whole number of seconds.
func (s stormParams) fractional() time.Duration {
	other := (s.ttl * 3 / 5).Truncate(time.Millisecond)
	if other%time.Second == 0 {
		other -= other / 4
	}
	return other
}

func cancelled(client int, step env.Step, count int, plus time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Cancel{Client: client}, Start: nth(count, nemesis.When(client, step, plus))}
}

// cancelledCalls ends calls of client 1: at their beginning, and after a while if they wait.
func (s stormParams) cancelledCalls() nemesis.Plan {
	return nemesis.Plan{
		cancelled(1, env.StepAcquire, 2, 0),
		cancelled(1, env.StepAcquire, 4, s.ttl/25),
		cancelled(1, env.StepBeforeRelease, 4, 0),
	}
}

// cancelledWaits ends calls of client 1 that wait.
func (s stormParams) cancelledWaits() (plan nemesis.Plan) {
	for count := 2; count <= 8; count++ {
		plan = append(plan, cancelled(1, env.StepAcquire, count, s.ttl/25))
	}
	return plan
}

// endedContexts ends the contexts of callers that hold the lock: at once, and during the work.
func (s stormParams) endedContexts() (plan nemesis.Plan) {
	for client := 1; client <= min(s.clients, 2); client++ {
		plan = append(plan,
			cancelled(client, env.StepGranted, 1, 0),
			cancelled(client, env.StepGranted, 2, s.ttl/10),
			cancelled(client, env.StepGranted, 4, s.ttl/10),
		)
	}
	return plan
}

// unansweredExtensions loses an answer to each of some clients, during its first hold.
func (s stormParams) unansweredExtensions() (plan nemesis.Plan) {
	for client := 1; client <= min(s.clients, 3); client++ {
		lost := &nemesis.Reset{Links: nemesis.Links{Clients: []int{client}}, Way: nemesis.Replies, Once: true}
		plan = append(plan, nemesis.Fault{Action: lost, Start: nemesis.When(client, env.StepGranted, s.ttl/10), End: nemesis.After(s.ttl)})
	}
	return plan
}

// secondRequestLost resets connections of client 1 when a request is sent after the first one of a call has
// arrived, and kills it when it is granted the lock nevertheless. Its first hold is left alone, because a first
// call also connects.
func (s stormParams) secondRequestLost() nemesis.Plan {
	plan := nemesis.Plan{{Action: &nemesis.Kill{Client: 1}, Start: nth(2, nemesis.When(1, env.StepGranted, 0))}}
	for count := 2; count <= 5; count++ {
		called := nth(count, nemesis.When(1, env.StepAcquire, usualLatency.Max))
		lost := &nemesis.Reset{Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Requests, Once: true}
		plan = append(plan, nemesis.Fault{Action: lost, Start: called, End: nemesis.After(s.ttl / 2)})
	}
	return plan
}

// callersGiveUp ends contexts of the callers of client 1 while they wait and while they hold the lock, and
// loses answers to it, whoever they are for: whoever's key is set without an answer keeps the others waiting.
// The other clients die before they begin, so that nobody else hides what stays locked within client 1 by
// getting the lock.
func (s stormParams) callersGiveUp() (plan nemesis.Plan) {
	for client := s.callers + 1; client <= s.clients*s.callers; client++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.Kill{Client: client}, Start: nemesis.At(0)})
	}
	for caller := 1; caller <= s.callers; caller++ {
		for count := 2; count <= 12; count++ {
			plan = append(plan, cancelled(caller, env.StepAcquire, count, s.ttl/5000+s.ttl*time.Duration(count%4)/20))
		}
		plan = append(plan,
			cancelled(caller, env.StepGranted, 2, s.ttl/100),
			cancelled(caller, env.StepBeforeRelease, 3, 0),
		)
	}
	for n := range 8 { // in between there is time to see what stays behind
		lost := &nemesis.Reset{Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Replies, Once: true}
		plan = append(plan, nemesis.Fault{Action: lost, Start: nemesis.At(s.ttl * time.Duration(1+n) * 2 / 5), End: nemesis.After(s.ttl / 6)})
	}
	return plan
}

// clientClocks sets the clock of client 2 forward by more than a TTL, and that of client 3 back.
func (s stormParams) clientClocks() (plan nemesis.Plan) {
	for client := 2; client <= min(s.clients, 3); client++ {
		by := s.ttl * 5 / 4
		if client == 3 {
			by = -by
		}
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: client}, By: by}, Start: nemesis.At(0)})
	}
	return plan
}

// scripts makes each node forget its scripts, several times: whichever client comes first loads them for
// all, and one that loads them once only is seen when it comes first again.
func (s stormParams) scripts() (plan nemesis.Plan) {
	for after := 2; after <= 5; after++ {
		for _, n := range numbers(1, s.nodes) {
			plan = append(plan, nemesis.Fault{Action: &nemesis.ScriptFlush{Node: n}, Start: nemesis.At(time.Duration(after) * s.ttl)})
		}
	}
	return plan
}

func (s stormParams) down(nodes []int) (plan nemesis.Plan) {
	for _, n := range nodes {
		plan = append(plan, nemesis.Fault{Action: &nemesis.Crash{Node: n}, Start: s.begin(), End: s.long()})
	}
	return plan
}

func (s stormParams) restart(away time.Duration) nemesis.Plan {
	return s.bare(nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: nemesis.When(1, env.StepGranted, 0), End: nemesis.After(away)})
}

func (s stormParams) clockJump() nemesis.Plan {
	return s.bare(nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: s.ttl}, Start: nemesis.When(1, env.StepGranted, 0)})
}

func (s stormParams) nodePaused() nemesis.Plan {
	return nemesis.Plan{{Action: &nemesis.NodePause{Node: 1}, Start: s.begin(), End: nemesis.After(s.ttl * 3 / 2)}}
}

func (s stormParams) pause(when nemesis.Trigger) nemesis.Plan {
	return nemesis.Plan{{Action: &nemesis.Pause{Client: 1}, Start: nth(2, when), End: nemesis.After(s.ttl * 3 / 2)}}
}

// slow makes each message take up to a time longer, there and back.
func (s stormParams) slow(most time.Duration, start nemesis.Trigger, end *nemesis.Trigger) nemesis.Plan {
	return nemesis.Plan{{Action: &nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Max: most}}}, Start: start, End: end}}
}

// resets makes clients lose replies at their calls, because a fault at a time can miss all of them.
// Client 1 loses those to its releases, client 2 all replies when client 1 lets the lock go, and
// client 3 those to its acquisitions, then to its releases, and at last the request of a release. What
// a client does that tries again depends on how soon it does. So some faults last longer than the
// second try, and some break the first connection only.
//
// The faults of a client must not overlap, whatever it does. A long one is over before client 1 can
// come to another release. One of an acquisition ends with the next, and the later ones are of
// releases, of which there are no more than acquisitions.
func (s stormParams) resets(clients int) (plan nemesis.Plan) {
	at := func(client int, step env.Step, count int) nemesis.Trigger {
		return nth(count, nemesis.When(client, step, 0))
	}
	lost := func(client int, once bool, start nemesis.Trigger, end *nemesis.Trigger) {
		if client <= clients {
			action := &nemesis.Reset{Links: nemesis.Links{Clients: []int{client}}, Way: nemesis.Replies, Once: once}
			plan = append(plan, nemesis.Fault{Action: action, Start: start, End: end})
		}
	}
	for count := 2; count <= 5; count++ {
		lost(1, true, at(1, env.StepBeforeRelease, count), new(at(1, env.StepReleased, count)))
		lost(2, false, at(1, env.StepBeforeRelease, count), nemesis.After(s.ttl/8))
	}
	lost(1, false, at(1, env.StepBeforeRelease, 6), nemesis.After(s.ttl/8))
	for count := 2; count <= 3; count++ {
		lost(3, true, at(3, env.StepAcquire, count), new(at(3, env.StepAcquire, count+1)))
	}
	for count := 4; count <= 7; count++ {
		lost(3, true, at(3, env.StepBeforeRelease, count), new(at(3, env.StepReleased, count)))
	}
	if last := len(plan) - 1; clients >= 3 {
		plan[last].Action.(*nemesis.Reset).Way = nemesis.Requests
	}
	return plan
}
