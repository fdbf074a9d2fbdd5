package hunt

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// SearchSpace draws the scenarios of a hunt.
type SearchSpace interface {
	// Name is the name of the scenarios.
	Name() string
	// Draw draws a valid scenario without a plan, a generator or expectations.
	Draw(random *rand.Rand) scenarios.Scenario
}

// lockSpace is the search space of a kind of lock.
type lockSpace struct{ kind string }

// SpaceOfLock returns the search space of a kind of lock: clients, times, settings of the lock
// and worlds of all sorts. Each draw leaves out most features, so that violations are found
// that need the absence of something.
func SpaceOfLock(kind string) (SearchSpace, error) {
	if known, _ := runner.Locks(); !slices.Contains(known, kind) {
		return nil, &textfmt.UnknownError{What: "lock", Name: kind, Known: known}
	}
	return lockSpace{kind}, nil
}

// options draw the settings that only some kinds of locks have.
var options = map[string]func(d rng, s *scenarios.Scenario){
	"redlock":              drawRedlock,
	"kubernetes-lease":     drawRenewals,
	"advisory":             drawAdvisory,
	"advisory-transaction": drawHeartbeat,
	"zookeeper":            drawHeartbeat,
	"etcd":                 drawHeartbeat,
	"etcd-unchecked":       drawHeartbeat,
	"chubby":               drawChubby,
	"fenced":               drawFenced,
}

func (o lockSpace) Name() string { return "hunt-" + o.kind }

func (o lockSpace) Draw(random *rand.Rand) scenarios.Scenario {
	d := rng{random}
	s := scenarios.Scenario{Name: o.Name(), Lock: scenarios.Lock{Kind: o.kind}}
	s.Clients = make([]scenarios.Client, pick(d, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 6, 7, 8))
	s.Nodes = o.nodes(d)
	drawTTL(d, &s.Lock)
	drawNetwork(d, &s)
	drawDisks(d, &s)
	if promises.StorageOf(o.kind) == promises.InStore {
		drawStore(d, &s)
	}
	drawNodeTimeout(d, &s)
	if draw, has := options[o.kind]; has {
		draw(d, &s)
	}
	drawRetry(d, &s)
	s.Guard = pick(d, guard.Plain, guard.Plain, guard.Plain, guard.Fenced, guard.Fenced, guard.FencedWrites, guard.Token)
	s.Clients = drawClients(d, s, len(s.Clients), allWorkloads)
	extendQuarantine(d, &s)
	reduceCost(&s, oneRound, fewClients(4), shortWork, fewClients(3), fewClients(2), slowRetry)
	workPastExtensions(d, &s)
	drawNearNodes(d, &s)
	s.Bounds = promises.Bounds(s)
	s.Horizon = horizon(s)
	return s
}

func (o lockSpace) nodes(d rng) int {
	switch promises.StorageOf(o.kind) {
	case promises.OnOneNode:
		return pick(d, 1, 1, 1, 3)
	case promises.InStore:
		return pick(d, 3, 3, 3, 5)
	}
	return pick(d, 1, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 7)
}

// horizon allows for the duration of faults, and then for the time within which somebody has
// to be granted the lock. Most runs end long before, when all clients are done.
func horizon(s scenarios.Scenario) time.Duration {
	const ofFaults = 6 // in TTLs: see nemesis.Generator
	b := s.Bounds
	return ofFaults*s.Lock.TTL + s.LongestTTL() + 2*s.Lock.Quarantine + max(2*b.Acquire, b.Grant*5/4)
}

// scenarioSpace is the search space around one scenario.
type scenarioSpace struct{ scenario scenarios.Scenario }

// SpaceAround returns the search space around a scenario, which keeps its lock and its world
// but not its plan. In half of the draws the clients are drawn anew, with the same resource
// and similar workloads, and the bounds are adapted. If the scenario's own clients make runs
// expensive, they mostly start late.
func SpaceAround(s scenarios.Scenario) SearchSpace {
	s.Plan, s.Generate, s.Expect = nil, nil, nil
	s.Summary, s.SlipMargin, s.Limits = "", 0, scenarios.Limits{} // they describe that plan
	return scenarioSpace{s}
}

func (a scenarioSpace) Name() string { return a.scenario.Name }

func (a scenarioSpace) Draw(random *rand.Rand) scenarios.Scenario {
	d, s := rng{random}, a.scenario
	if d.chance(50) {
		if estimatedTries(s) > 2*maxTries && d.chance(75) {
			s.Clients = slices.Clone(s.Clients)
			startLate(&s)
		}
		return s
	}
	first := s.Clients[0]
	s.Clients = drawClients(d, s, len(s.Clients)+pick(d, 0, 0, 0, 1), a.workloads(d))
	for i := range s.Clients {
		c := &s.Clients[i]
		c.Resource, c.Resources, c.Fence = first.Resource, first.Resources, first.Fence
	}
	reduceCost(&s, oneRound, shortWork, startLate)
	if q := s.Lock.Quarantine; q > 0 && q < s.LongestTTL() {
		return a.scenario
	}
	s.Bounds = widened(s.Bounds, promises.Bounds(s))
	if s.Validate() != nil { // with a TTL of decades, times may be too long
		return a.scenario
	}
	return s
}

// workloads returns those of the scenario's own clients, or all that access the same things.
func (a scenarioSpace) workloads(d rng) (own []string) {
	touching := []string{"section", "checked", "posted"}
	touches := false
	for _, c := range a.scenario.Clients {
		own = append(own, c.Workload)
		touches = touches || slices.Contains(touching, c.Workload)
	}
	switch {
	case d.chance(50):
		return own
	case touches:
		return touching
	}
	return []string{"hold", "hold", "misuse"}
}

// widened returns the stated bounds, wide enough for other clients. Where nothing follows from
// the settings there is none.
func widened(stated, needed history.Bounds) history.Bounds {
	return stated.Combined(needed, func(name string, stated, needed int64) int64 {
		switch {
		case name == "tries" || name == "refusals":
			return stated
		case stated == 0 || needed == 0:
			return 0
		}
		return max(stated, needed)
	})
}

// maxTries is about how many attempts a run may make. They determine its cost, and the search
// needs many runs. Nearly all attempts are made in vain, by clients that wait for a long hold.
const maxTries = 20

// MaxEvents is how many events a run may have. Runs of the debate have some thousands, and one
// of them 130,000. A run that does not end would cost the hunt all others.
const MaxEvents = 1_000_000

// reduceCost makes a scenario cheaper, in one way after another, until it is cheap enough.
func reduceCost(s *scenarios.Scenario, ways ...func(*scenarios.Scenario)) {
	for _, less := range ways {
		if estimatedTries(*s) <= maxTries {
			return
		}
		less(s)
	}
}

func oneRound(s *scenarios.Scenario) {
	for i := range s.Clients {
		s.Clients[i].Rounds = 1
	}
}

func fewClients(most int) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Clients = s.Clients[:min(len(s.Clients), most)] }
}

// shortWork leaves one client that holds for long.
func shortWork(s *scenarios.Scenario) {
	most := s.Lock.TTL / 10
	for i := range s.Clients[1:] {
		w := &s.Clients[1+i].Work
		w.Min, w.Max = min(w.Min, most), min(w.Max, most)
	}
}

// startLate lets waiting clients begin shortly before the first releases, or its TTL ends.
// They still see what nodes forgot, and holds that end too early.
func startLate(s *scenarios.Scenario) {
	first := s.Clients[0]
	from := min((first.Start.Max + min(mean(first.Work), s.Lock.TTL)*9/10).Truncate(ms), nemesis.MaxDuration)
	for i := range s.Clients[1:] {
		start := &s.Clients[1+i].Start
		start.Min, start.Max = max(start.Min, from), max(start.Max, from)
	}
}

func slowRetry(s *scenarios.Scenario) {
	r := &s.Lock.Retry
	times := min(time.Duration(estimatedTries(*s)/maxTries+1), nemesis.MaxDuration/max(1, r.Max))
	r.Min, r.Max = r.Min*times, r.Max*times
}

// estimatedTries estimates how many attempts a run makes without faults.
func estimatedTries(s scenarios.Scenario) int {
	var held time.Duration
	sum := 0
	for _, c := range s.Clients {
		sum += c.Rounds
		held += time.Duration(c.Rounds) * min(mean(c.Work), s.Lock.TTL*5/4)
	}
	if promises.StorageOf(s.Lock.Kind) == promises.InStore { // waiting clients are notified
		return sum
	}
	for _, c := range s.Clients[1:] {
		turn := max(1, mean(s.Lock.Retry)+mean(s.Latency.Range)*2) // latency may be 0
		waits := int(max(0, held-mean(c.Start)) / turn)
		if s.Lock.Tries > 0 {
			waits = min(waits, c.Rounds*s.Lock.Tries)
		}
		sum += waits
	}
	return sum
}

func mean(r nemesis.Range) time.Duration { return (r.Min + r.Max) / 2 }
