package fuzz

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Counts are the totals of the runs of a hunt.
type Counts struct {
	Runs   int `json:"runs"`
	Grants int `json:"grants"`
	Faults int `json:"faults"`

	// Contended counts the runs in which a fault began during a contended hold.
	Contended int `json:"contended"`

	// Tested counts, for each property, the runs that tested it: it is promised, it could have
	// been violated, and the run kept its assumptions.
	Tested map[checker.Property]int `json:"tested,omitempty"`

	// Violations counts, for each property, the runs that violate it. Nil: none does.
	Violations map[checker.Property]int `json:"violations,omitempty"`
}

// Join adds the totals of other runs.
func (c *Counts) Join(o Counts) {
	c.Runs += o.Runs
	c.Grants += o.Grants
	c.Faults += o.Faults
	c.Contended += o.Contended
	join(&c.Tested, o.Tested)
	join(&c.Violations, o.Violations)
}

func join(all *map[checker.Property]int, more map[checker.Property]int) {
	if *all == nil && len(more) > 0 {
		*all = map[checker.Property]int{}
	}
	for p, n := range more {
		(*all)[p] += n
	}
}

// Find is the first run of a hunt that breaks a property.
type Find struct {
	Property checker.Property `json:"property"`
	Run      int              `json:"run"`     // number of the run, from 1
	Seconds  float64          `json:"seconds"` // since the start of the hunt
	Story    string           `json:"story"`
}

// Results are what a hunt has found so far.
type Results struct {
	Counts

	// First is the first run that breaks each property.
	First map[checker.Property]Run
}

// Add adds a run and returns the properties that it is the first to violate.
func (r *Results) Add(run Run) (first []checker.Property) {
	r.Runs++
	r.Grants += run.Result.Report.Measurements.Grants
	r.Faults += run.Result.Report.Measurements.Faults
	if run.Contended {
		r.Contended++
	}
	if r.Tested == nil {
		r.Tested = map[checker.Property]int{}
	}
	for _, p := range run.Tested {
		r.Tested[p]++
	}
	for _, p := range run.Broken {
		if r.First == nil {
			r.First = map[checker.Property]Run{}
		}
		if join(&r.Violations, map[checker.Property]int{p: 1}); r.Violations[p] == 1 {
			r.First[p] = run
			first = append(first, p)
		}
	}
	return first
}

// Has reports whether all of some properties were violated.
func (r *Results) Has(all []checker.Property) bool {
	return !slices.ContainsFunc(all, func(p checker.Property) bool { return r.Violations[p] == 0 })
}

// Found returns the violated properties, in their order.
func (r *Results) Found() []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return r.Violations[p] == 0 })
}

// contentionSink is a [history.Sink] that finds out whether some fault began while a client
// held a resource that another wanted. If none did, a run without violations says little.
//
// A hold is defined as for lease exclusion. A client wants a resource from its first attempt
// until it is granted, or its call is cancelled, including the time between attempts.
type contentionSink struct {
	holders map[string]map[string]bool // by resource, the tokens that hold it
	wants   map[int]string             // by client, the resource
	seen    bool
}

func newContention() *contentionSink {
	return &contentionSink{holders: map[string]map[string]bool{}, wants: map[int]string{}}
}

// Record implements [history.Sink].
func (c *contentionSink) Record(e *history.Event) {
	switch e.Kind {
	case history.Acquire:
		c.wants[e.Client] = e.Resource
	case history.Granted:
		delete(c.wants, e.Client)
		if c.holders[e.Resource] == nil {
			c.holders[e.Resource] = map[string]bool{}
		}
		c.holders[e.Resource][e.Token] = true
	case history.Lapse, history.Lost, history.Release:
		delete(c.holders[e.Resource], e.Token)
	case history.Kill, history.Cancel:
		delete(c.wants, e.Client)
	case history.FaultStart:
		c.seen = c.seen || c.contended()
	}
}

// contended reports whether somebody wants what another holds.
func (c *contentionSink) contended() bool {
	for _, resource := range c.wants {
		if len(c.holders[resource]) > 0 {
			return true
		}
	}
	return false
}
