package tune

import (
	"math"
	"time"

	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Figures are the costs and benefits of a setting, according to the model.
type Figures struct {
	Risk Risk `json:"risk"`

	// Late is an upper bound of the probability that a hold outlives its lease. With a fence that is
	// wasted work. Unbounded pauses are left out: nothing can be said of them.
	Late float64 `json:"late"`

	// Availability is 1 minus the share of the time that is lost: the part of it that dead holders
	// block is an upper bound.
	Availability float64 `json:"availability"`

	// AcquireP99 is measured by scouting runs.
	AcquireP99 time.Duration `json:"acquire_p99"`

	// BlockedByDead is the longest time for which a dead holder blocks the others.
	BlockedByDead time.Duration `json:"blocked_by_dead"`

	// RequestsPerSecond is the rate at which each waiting client, and a holder that extends,
	// sends requests to the nodes.
	RequestsPerSecond float64 `json:"requests_per_second"`
}

// Risk is the probability of a violation per grant, by its cause. Each is an upper bound, which
// can be a fifth too high.
type Risk struct {
	Pauses     float64 `json:"pauses"`     // the holder is late
	Extensions float64 `json:"extensions"` // it could not extend in time
	Restarts   float64 `json:"restarts"`   // a node returned too early without its keys
}

// Total returns the sum, at most 1.
func (r Risk) Total() float64 { return min(1, r.Pauses+r.Extensions+r.Restarts) }

// PerBillion returns how many violations are expected in 10⁹ grants at most.
func (r Risk) PerBillion() float64 { return 1e9 * r.Total() }

// Weighed is a setting with its figures.
type Weighed struct {
	Setting `json:"setting"`
	Figures `json:"figures"`
}

// model is the known facts, prepared for computing figures.
type model struct {
	Known
	late  lateness
	holds []stratum
	hold  float64       // mean, ns
	think float64       // mean, ns
	trip  time.Duration // median round trip

	asking time.Duration // how long a holder waits for the resource in 99 of 100 holds

	tables struct{ hold, think, pause *nemesis.Table } // from which runs draw; pause is nil if pauses have no lengths
}

// resourceTrips is how many round trips of the resource a hold has besides the work: a read
// before it and a write after it.
const resourceTrips = 2

func newModel(k Known) *model {
	k.RoundTrip, k.Hold = sorted(k.RoundTrip), sorted(k.Hold)
	if k.Pauses.Length != nil {
		length := sorted(*k.Pauses.Length)
		k.Pauses.Length = &length
	}
	m := &model{Known: k, late: lateness{k.Pauses, k.RoundTrip, resourceTrips}, holds: strata(k.Hold)}
	m.hold, m.think = mean(m.holds), mean(strata(k.Contention.Think))
	m.tables.hold, m.tables.think = k.Hold.Table(), k.Contention.Think.Table()
	if k.Pauses.Length != nil {
		m.tables.pause = k.Pauses.Length.Table()
	}
	m.trip, m.asking = quantile(k.RoundTrip, 0.5), resourceTrips*quantile(k.RoundTrip, 0.99)
	return m
}

// figures returns the figures of a setting, except its p99.
func (m *model) figures(s Setting) Figures {
	f := Figures{
		Availability:      m.availability(s),
		BlockedByDead:     m.blocked(s),
		RequestsPerSecond: m.requests(s),
	}
	risk := Risk{Pauses: m.lateHolder(s), Extensions: m.lostExtensions(s), Restarts: m.earlyRestart(s)}
	f.Late = min(1, risk.Pauses+risk.Extensions)
	if m.FenceChecked { // no such write is taken
		return f
	}
	if m.Pauses.Unbounded {
		risk.Pauses = 1
	}
	f.Risk = risk
	return f
}

// lateHolder returns an upper bound of the probability that a holder continues beyond its validity because of
// pauses and the resource's round trips. A lease counts from its request, so pauses while the
// holder waits for nodes or the resource count too.
func (m *model) lateHolder(s Setting) float64 {
	if s.ExtendEvery > 0 {
		one := m.late.beyond(s.ExtendEvery+2*s.NodeTimeout+m.asking, s.slack(0))
		return min(1, one*(m.hold/float64(s.ExtendEvery)+1))
	}
	sum := 0.0
	for _, h := range m.holds {
		sum += h.share * m.late.beyond(h.value+s.NodeTimeout+m.asking, s.slack(h.value))
	}
	return sum
}

// lostExtensions returns an upper bound of the probability that a hold is lost because too many extensions in a
// row found no quorum, or no majority was up.
func (m *model) lostExtensions(s Setting) float64 {
	if s.ExtendEvery == 0 {
		return 0
	}
	slow := above(m.RoundTrip, s.NodeTimeout)
	fails := series.AtLeast(m.Nodes, m.spare()+1, slow)
	intervals := m.hold/float64(s.ExtendEvery) + 1
	return min(1, intervals*math.Pow(fails, float64(s.spareExtensions()+1))+m.majorityLost(s))
}

// majorityLost returns the probability that during a hold too many nodes are down, one of them
// having crashed in that time.
func (m *model) majorityLost(s Setting) float64 {
	if m.Crashes.NodeEvery == 0 {
		return 0
	}
	rate := float64(m.Nodes) / float64(m.Crashes.NodeEvery)
	return min(1, rate*(m.hold+float64(s.TTL))*series.AtLeast(m.Nodes-1, m.spare(), m.away(s)))
}

// earlyRestart returns an upper bound of the probability that a node crashes and returns
// without its keys while they are needed.
func (m *model) earlyRestart(s Setting) float64 {
	if !m.forgets() || m.Crashes.NodeEvery == 0 || s.RestartDelay >= m.Clocks.NeededRestartDelay(s.TTL, s.Allowance()) {
		return 0
	}
	return min(1, float64(m.Nodes)/float64(m.Crashes.NodeEvery)*(m.hold+float64(s.TTL)))
}

// away returns the share of the time for which a node is down.
func (m *model) away(s Setting) float64 {
	if m.Crashes.NodeEvery == 0 {
		return 0
	}
	return float64(s.RestartDelay) / float64(s.RestartDelay+m.Crashes.NodeEvery)
}

// availability returns 1 minus the shares of the time in which no majority is up, and in which
// a dead holder has the lock.
func (m *model) availability(s Setting) float64 {
	lost := series.AtLeast(m.Nodes, m.spare()+1, m.away(s))
	if every := m.Crashes.ClientEvery; every > 0 {
		lost += m.used() * float64(m.blocked(s)) / float64(every)
	}
	return max(0, 1-lost)
}

// blocked returns how long keys can outlive their holder, on the slowest clock of a node,
// which may be stepped back too.
func (m *model) blocked(s Setting) time.Duration {
	return time.Duration(math.Ceil(float64(s.TTL+m.Clocks.LargestStep) / (1 - m.Clocks.rho())))
}

// used returns the share of the time in which somebody holds the lock, at most.
func (m *model) used() float64 {
	return min(1, float64(m.Contention.Clients)*m.hold/(m.hold+m.think))
}

// requests returns the requests per second of a waiting client, if there may be one, and of a
// holder that extends.
func (m *model) requests(s Setting) float64 {
	if m.Contention.Clients > 1 {
		return m.waiterRequests(s) + m.holderRequests(s)
	}
	return m.holderRequests(s)
}

// waiterRequests returns the requests per second of a waiting client. A failed attempt sends a
// SET and a delete to each node.
func (m *model) waiterRequests(s Setting) float64 {
	cycle := (s.RetryMin+s.RetryMax)/2 + m.trip
	return 2 * float64(m.Nodes) / cycle.Seconds()
}

// holderRequests returns the requests per second of a holder.
func (m *model) holderRequests(s Setting) float64 {
	if s.ExtendEvery == 0 {
		return 0
	}
	return float64(m.Nodes) / s.ExtendEvery.Seconds()
}

// lateness is what makes a holder late: pauses, and round trips of the resource.
type lateness struct {
	pauses Pauses
	trip   nemesis.Distribution
	trips  int // round trips of the resource
}

// beyond returns the probability that the round trips, and the pauses in a running time, take
// longer than a slack.
func (l lateness) beyond(running, slack time.Duration) float64 {
	if slack < 0 {
		return 1
	}
	total := masses{0: 1}
	switch p := l.pauses; {
	case p.Unbounded: // see Figures.Late
	case p.Bound != nil:
		slack -= *p.Bound
		if slack < 0 {
			return 1
		}
	default:
		length := discretise(slack, func(x time.Duration) float64 { return pausesAbove(*p.Length, x) })
		total = compound(float64(running)/float64(p.Every), &length)
	}
	trip := discretise(slack, func(x time.Duration) float64 { return above(l.trip, x) })
	for range l.trips {
		total = total.plus(&trip)
	}
	if p := total.beyond(); p > noise {
		return p
	}
	return 0
}

// noise is the rounding error of 1 minus a sum of so many numbers.
const noise = 1e-13
