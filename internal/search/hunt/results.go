package hunt

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/timeline"
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

// Run is one run of a hunt.
type Run struct {
	Number int // from 1, or from Before+1
	runner.Result
	Broken []checker.Property // the wanted properties that it breaks

	// Tested are the wanted properties that are promised, that the run could have broken, and
	// whose assumptions it kept.
	Tested []checker.Property

	// Contended says that some fault began while a client held a lock that another wanted.
	Contended bool
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

// contention is a [timeline.Observer] that finds out whether some fault began while a client held a resource,
// by its lease, that another wanted. If none did, a run without violations says little.
type contention struct {
	timeline *timeline.Timeline
	seen     bool
}

// Wants implements [timeline.Observer].
func (*contention) Wants() timeline.Kinds { return timeline.KindSet(history.FaultStart) }

// Observe implements [timeline.Observer].
func (c *contention) Observe(*timeline.Fact) {
	c.seen = c.seen || slices.ContainsFunc(c.timeline.Clients, func(client *timeline.Client) bool {
		return client.Wanted != nil && client.Wanted.Leased()
	})
}
