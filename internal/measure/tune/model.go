package tune

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Figures are the costs and benefits of a setting, according to the model.
type Figures struct {
	// Late is an upper bound of the probability that a hold outlives its validity. Unknown pauses are
	// left out. Violations is an upper bound of the probability of a violation per grant: Late, or 0 if
	// fences are checked, or 1 if pauses are unknown.
	Late       float64 `json:"late"`
	Violations float64 `json:"violations"`

	// Availability is 1 minus the share of the time that is lost: the part of it that dead holders
	// block is an upper bound.
	Availability float64 `json:"availability"`

	AcquireP99        time.Duration `json:"acquire_p99"`         // measured by scouting runs
	BlockedByDead     time.Duration `json:"blocked_by_dead"`     // how long a dead holder blocks the others, at most
	RequestsPerSecond float64       `json:"requests_per_second"` // of a waiting client, and of a holder that extends
}

// PerBillion returns how many violations are expected in 10⁹ grants at most.
func (f Figures) PerBillion() float64 { return 1e9 * f.Violations }

// Weighed is a setting with its figures.
type Weighed struct {
	Setting `json:"setting"`
	Figures `json:"figures"`
}

// model is the known facts, prepared for computing figures.
type model struct {
	Known
	zones []Zone   // one at least
	nodes []Length // their round trips, the fastest first

	pace, slowest Length // of the node that usually completes the quorum, and of the resource; of the slowest

	holds       []share
	hold, think float64 // means, ns
}

// share is a share of a length, and the longest time in it.
type share struct {
	of   float64
	time time.Duration
}

// shares divides a length into 16 equal shares, the last of which is halved 33 times, so that a share of
// 10⁻¹¹ is still distinguished. It also returns their mean, in nanoseconds.
func shares(l Length) (list []share, mean float64) {
	if l.quantile(0) == l.Max {
		return []share{{1, l.Max}}, float64(l.Max)
	}
	at := 0.0
	cut := func(to float64) {
		list = append(list, share{to - at, l.quantile(to)})
		mean += (to - at) * float64(l.quantile(to))
		at = to
	}
	for i := 1; i < 16; i++ {
		cut(float64(i) / 16)
	}
	for i := 5; i <= 37; i++ {
		cut(1 - math.Pow(2, -float64(i)))
	}
	cut(1)
	return list, mean
}

// resourceTrips is how many round trips of the resource a hold has: a read before the work, a write after it.
const resourceTrips = 2

func newModel(k Known) *model {
	zones := slices.Clone(k.Zones)
	if len(zones) == 0 {
		zones = []Zone{{k.Nodes, k.RoundTrip}}
	}
	k.Pauses = slices.Clone(k.Pauses)
	for i := range k.Pauses {
		k.Pauses[i].Length = k.Pauses[i].Length.ready()
	}
	for i := range zones {
		zones[i].RoundTrip = zones[i].RoundTrip.ready()
	}
	nodes := roundTrips(zones)
	slices.SortStableFunc(nodes, func(a, b Length) int { return cmp.Compare(a.quantile(0.99), b.quantile(0.99)) })
	k.Hold, k.Contention.Think = k.Hold.ready(), k.Contention.Think.ready()
	k.Crashes.Persistence = cmp.Or(k.Crashes.Persistence, nemesis.Nothing)
	m := &model{Known: k, zones: zones, nodes: nodes, pace: nodes[k.quorum()-1], slowest: nodes[len(nodes)-1]}
	m.holds, m.hold = shares(k.Hold)
	_, m.think = shares(k.Contention.Think)
	return m
}

// figures returns the figures of a setting, except its p99.
func (m *model) figures(s Setting) Figures {
	f := Figures{Late: min(1, m.lateHolder(s)+m.lostExtensions(s)), RequestsPerSecond: m.requests(s)}
	// The slowest clock of a node may be stepped back, too.
	f.BlockedByDead = time.Duration(math.Ceil(float64(s.TTL+m.Clocks.LargestStep) / (1 - m.Clocks.rho())))
	switch {
	case m.FenceChecked: // no late write is taken
	case len(m.Pauses) == 0:
		f.Violations = 1
	default:
		f.Violations = f.Late
	}
	// A majority is down, or a dead holder has the lock.
	lost := atLeast(m.spare()+1, slices.Repeat([]float64{m.away(s)}, m.Nodes))
	if every := m.Crashes.ClientEvery; every > 0 {
		used := min(1, float64(m.Contention.Clients)*m.hold/(m.hold+m.think))
		lost += used * float64(f.BlockedByDead) / float64(every)
	}
	f.Availability = max(0, 1-lost)
	return f
}

// lateHolder returns an upper bound of the probability that a holder continues beyond its validity because of
// pauses and the resource's round trips. A lease counts from its request, so pauses while the
// holder waits for nodes or the resource count too.
func (m *model) lateHolder(s Setting) (sum float64) {
	asking, resource := resourceTrips*m.pace.quantile(0.99), slices.Repeat([]func(time.Duration) float64{m.pace.above}, resourceTrips)
	answer := m.quorumTrip(0.99)
	if s.ExtendEvery == 0 {
		trips := append(resource, m.quorumAbove)
		for _, h := range m.holds {
			sum += h.of * m.beyond(answer+h.time+asking, s.Validity()-h.time, trips...)
		}
		return sum
	}
	// From the request for a lease to the answer to the next, both of which windows that follow each other share.
	window, slack := s.ExtendEvery+2*answer, s.Validity()-s.ExtendEvery
	windows := 0.0
	for _, h := range m.holds {
		windows += h.of * max(1, float64(h.time)/float64(s.ExtendEvery))
	}
	quorum := []func(time.Duration) float64{m.quorumAbove, m.extensionAbove(s)} // for the lease, and for the next
	sum = m.beyond(window+asking, slack, slices.Concat(quorum, resource)...)
	if windows > 1 {
		sum += (windows - 1) * m.beyond(window, slack, quorum...)
	}
	return min(1, sum)
}

// tooLong returns the share of holds that are longer than the validity, and not extended.
func (m *model) tooLong(s Setting) (share float64) {
	for _, h := range m.holds {
		if s.ExtendEvery == 0 && h.time > s.Validity() {
			share += h.of
		}
	}
	return share
}

// extensionAbove returns the share of extensions, each with its retries, that take longer than a duration.
func (m *model) extensionAbove(s Setting) func(time.Duration) float64 {
	failed := m.quorumAbove(s.NodeTimeout)
	return func(x time.Duration) float64 {
		tries := x / s.retried()
		return math.Pow(failed, float64(tries)) * m.quorumAbove(min(x-tries*s.retried(), s.NodeTimeout))
	}
}

// lostExtensions returns an upper bound of the probability that a hold is lost because too many extensions in a
// row found no quorum, or no majority was up.
func (m *model) lostExtensions(s Setting) float64 {
	if s.ExtendEvery == 0 {
		return 0
	}
	intervals := m.hold/float64(s.ExtendEvery) + 1
	lost := intervals * math.Pow(m.quorumAbove(s.NodeTimeout), float64(s.spareExtensions()+1))
	if every := m.Crashes.NodeEvery; every > 0 { // too many are down, one of them having crashed during the hold
		lost += float64(m.Nodes) / float64(every) * (m.hold + float64(s.TTL)) * atLeast(m.spare(), slices.Repeat([]float64{m.away(s)}, m.Nodes-1))
	}
	return min(1, lost)
}

// away returns the share of the time for which a node is down.
func (m *model) away(s Setting) float64 {
	if m.Crashes.NodeEvery == 0 {
		return 0
	}
	return float64(s.RestartDelay) / float64(s.RestartDelay+m.Crashes.NodeEvery)
}

// requests returns the requests per second of a waiting client, if there may be one, and of a holder that
// extends. A failed attempt sends a SET and a delete to each node.
func (m *model) requests(s Setting) (rate float64) {
	if m.Contention.Clients > 1 {
		rate = 2 * float64(m.Nodes) / ((s.RetryMin+s.RetryMax)/2 + m.pace.quantile(0.5)).Seconds()
	}
	if s.ExtendEvery > 0 {
		rate += float64(m.Nodes) / s.ExtendEvery.Seconds()
	}
	return rate
}

// atLeast returns the probability that at least k of independent events occur: the tail of the Poisson
// binomial distribution, by its recursion.
func atLeast(k int, events []float64) (sum float64) {
	counts := make([]float64, len(events)+1)
	counts[0] = 1
	for i, p := range events {
		for n := i + 1; n > 0; n-- {
			counts[n] = counts[n]*(1-p) + counts[n-1]*p
		}
		counts[0] *= 1 - p
	}
	for _, p := range counts[min(k, len(counts)):] {
		sum += p
	}
	return min(1, sum)
}

// quorumAbove returns the probability that a quorum's answer takes longer than x.
func (m *model) quorumAbove(x time.Duration) float64 { return m.quorumAboveAmong(m.nodes, x) }

// quorumAboveAmong is quorumAbove while only these nodes are up: so many of them are slower that those left are no
// quorum.
func (m *model) quorumAboveAmong(nodes []Length, x time.Duration) float64 {
	var slower []float64
	for _, node := range nodes {
		slower = append(slower, node.above(x))
	}
	return atLeast(len(nodes)-m.quorum()+1, slower)
}

// quorumTrip returns the round trip of a quorum that a share p of all does not exceed: that of the k-th
// fastest node, k being the quorum.
func (m *model) quorumTrip(p float64) time.Duration { return m.quorumTripAmong(m.nodes, p) }

func (m *model) quorumTripAmong(nodes []Length, p float64) time.Duration {
	return time.Duration(sort.Search(int(longestLength), func(x int) bool { return m.quorumAboveAmong(nodes, time.Duration(x)) <= 1-p }))
}

// quorumWithout returns the median and the 99th percentile of a quorum's round trip while zone i is lost.
func (m *model) quorumWithout(i int) (p50, p99 time.Duration) {
	left := roundTrips(slices.Concat(m.zones[:i:i], m.zones[i+1:]))
	return m.quorumTripAmong(left, 0.5), m.quorumTripAmong(left, 0.99)
}

// roundTrips returns that of each node.
func roundTrips(zones []Zone) (nodes []Length) {
	for _, z := range zones {
		nodes = append(nodes, slices.Repeat([]Length{z.RoundTrip}, z.Nodes)...)
	}
	return nodes
}

// beyond returns the probability that the pauses in a running time, and round trips, take longer than a slack.
// Each of trips returns the share of a round trip above a duration.
func (m *model) beyond(running, slack time.Duration, trips ...func(time.Duration) float64) float64 {
	if slack < 0 {
		return 1
	}
	// Independent kinds of pauses together are one compound Poisson process, with their lengths mixed.
	expected, total := 0.0, masses{0: 1}
	for _, p := range m.Pauses {
		expected += float64(running) / float64(p.Every)
	}
	if expected > 0 {
		mixed := discretise(slack, func(x time.Duration) (share float64) {
			for _, p := range m.Pauses {
				share += float64(running) / float64(p.Every) / expected * p.Length.above(x)
			}
			return share
		})
		total = compound(expected, &mixed)
	}
	for _, above := range trips {
		trip := discretise(slack, above)
		total = total.plus(&trip)
	}
	// discretise moves a part of a pause, and of each trip, down by less than a cell. So the last cells count as late.
	late := 1.0
	for _, p := range total[:grid-len(trips)] {
		late -= p
	}
	if late < noise {
		late = 0
	}
	for _, above := range trips {
		late += m.duringLongTrip(slack, above)
	}
	return min(1, late)
}

// duringLongTrip returns, to first order, the probability that a pause begins within a round trip after its 99th percentile, up to
// which the running time counts it, and ends after the slack: the rate of pauses times the integral over t of
// P(trip > t) P(pause > slack − t), as an upper sum.
func (m *model) duringLongTrip(slack time.Duration, above func(time.Duration) float64) (sum float64) {
	cell := slack / grid
	for t := time.Duration(0); t < slack; t += max(cell, 1) {
		under := above(t)
		if under == 0 {
			break
		}
		if under > 0.01 {
			continue
		}
		for _, p := range m.Pauses {
			sum += float64(cell) / float64(p.Every) * under * p.Length.above(slack-t-cell)
		}
	}
	return sum
}

const (
	noise = 1e-13 // the rounding error of 1 minus a sum of so many numbers

	// grid is the number of cells of a slack, and fine that of the parts of a cell. Values are
	// rounded up to a part and then divided between the two neighbouring grid points.
	grid = 256
	fine = 8

	// maxExpected bounds an expected count. Above it, the first number of Panjer's recursion would underflow.
	maxExpected = 32
)

// masses are the probabilities of the grid points 0, …, grid. The rest to 1 lies beyond the
// slack.
type masses [grid + 1]float64

// discretise puts a distribution on the grid. above returns the share above a duration.
func discretise(slack time.Duration, above func(time.Duration) float64) (m masses) {
	before := above(0)
	m[0] = 1 - before
	step := float64(slack) / (grid * fine)
	for i := 1; i <= grid*fine && before > 0; i++ {
		after := above(time.Duration(step * float64(i)))
		cell, part := i/fine, float64(i%fine)/fine
		m[cell] += (before - after) * (1 - part)
		if part > 0 {
			m[cell+1] += (before - after) * part
		}
		before = after
	}
	return m
}

// plus returns the distribution of the sum.
func (m *masses) plus(o *masses) (sum masses) {
	for i, a := range m {
		if a == 0 {
			continue
		}
		for j, b := range o[:grid+1-i] {
			sum[i+j] += a * b
		}
	}
	return sum
}

// compound returns the distribution of the sum of a Poisson number of independent values.
func compound(expected float64, value *masses) (sum masses) {
	halvings := 0
	for ; expected > maxExpected; halvings++ {
		expected /= 2
	}
	sum[0] = math.Exp(expected * (value[0] - 1))
	for k := 1; k <= grid; k++ {
		for j := 1; j <= k; j++ {
			sum[k] += float64(j) * value[j] * sum[k-j]
		}
		sum[k] *= expected / float64(k)
	}
	for range halvings {
		sum = sum.plus(&sum)
	}
	return sum
}
