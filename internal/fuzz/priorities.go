package fuzz

import "github.com/lockstorm/lockstorm/nemesis"

// withPriorities returns the candidate of a run with latencies by priorities; nil: it has them, or no
// message whose latency could be another.
//
// The run itself, whose messages drew their latencies, says between how many of them the change points
// are to be. So each candidate is run twice.
func (r Run) withPriorities(depth int) *Candidate {
	if r.Scenario.Priorities != nil || r.Result.Messages == 0 {
		return nil
	}
	c := r.Candidate
	c.Scenario.Priorities = &nemesis.Priorities{Depth: max(depth, 1), Messages: r.Result.Messages}
	return &c
}

// Prioritized describes runs whose latencies followed priorities.
type Prioritized struct {
	Runs       int `json:"runs"`
	Depth      int `json:"depth"`
	Directions int `json:"directions"` // of links, whose latency is a range: the most of a run
	Messages   int `json:"messages"`   // over them: the most of a run

	// Guarantee is the least of a run: see [nemesis.Priorities.Guarantee].
	Guarantee float64 `json:"guarantee"`
}

// with returns the description with one more run, if its latencies followed priorities.
func (p *Prioritized) with(r Run) *Prioritized {
	by := r.Scenario.Priorities
	if by == nil {
		return p
	}
	if p == nil {
		p = &Prioritized{Guarantee: 1}
	}
	p.Runs++
	p.Depth = max(p.Depth, by.Depth)
	p.Directions, p.Messages = max(p.Directions, r.Result.Directions), max(p.Messages, by.Messages)
	p.Guarantee = min(p.Guarantee, by.Guarantee(r.Result.Directions))
	return p
}
