package nemesis

import "math"

// Priorities make the latencies of a simulated world follow priorities instead of being drawn one by
// one, as in probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, A
// Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010). What is a thread
// there is a direction of a link here.
//
// Each run draws an order of the directions whose latency is a range: the messages of the first take
// the shortest time, those of the last nearly the longest, the others evenly between. It also draws
// depth - 1 change points: messages from which on their direction is slower than all others. So a
// direction is slow or fast for long, and few points decide which.
type Priorities struct {
	// Depth is one more than the number of change points: how many messages have to arrive in the
	// right order for a violation.
	Depth int `yaml:"depth" want:"1..10"`

	// Messages is the number of messages, from the start of a run, one of which is each change
	// point.
	Messages int `yaml:"messages" want:"1..1000000000"`
}

// Guarantee returns 1/(n·k^(d-1)), with n the number of directions, k that of messages and d the depth:
// a run shows a violation with at least this probability if it follows from the order of d pairs of
// messages and if the range of latencies has room for that order.
func (p Priorities) Guarantee(directions int) float64 {
	return 1 / (float64(max(directions, 1)) * math.Pow(float64(p.Messages), float64(p.Depth-1)))
}
