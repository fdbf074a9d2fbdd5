package fuzz

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Counts are what the runs of a hunt amount to.
type Counts struct {
	Runs   int `json:"runs"`
	Grants int `json:"grants"`
	Faults int `json:"faults"`

	// Contended counts the runs in which a fault began within a contended hold.
	Contended int `json:"contended"`

	// Tested counts, for each property, the runs that put it to the test: it is
	// promised, could have been seen to break, and nothing was outside what is assumed
	// for it.
	Tested map[checker.Property]int `json:"tested,omitempty"`

	// Violations counts, for each property, the runs that break it. Nil: none does.
	Violations map[checker.Property]int `json:"violations,omitempty"`
}

// Find is the first run of a hunt that breaks a property.
type Find struct {
	Property checker.Property `json:"property"`
	Run      int              `json:"run"`     // its number in the hunt, from 1
	Seconds  float64          `json:"seconds"` // from the begin of the hunt
	Story    string           `json:"story"`
}

// Results is what a hunt has brought in so far.
type Results struct {
	Counts

	// Near is how close the runs came that broke nothing.
	Near Near

	// First is the first run that breaks each property.
	First map[checker.Property]Run
}

// Add puts a run into the bag, and returns the properties that it is the first to break.
func (b *Results) Add(s Run) (first []checker.Property) {
	b.Runs++
	b.Grants += s.Result.Report.Measurements.Grants
	b.Faults += s.Result.Report.Measurements.Faults
	if s.Contended {
		b.Contended++
	}
	if len(s.Broken) == 0 {
		b.Near = b.Near.closer(s.Near)
	}
	if b.Tested == nil {
		b.Tested = map[checker.Property]int{}
	}
	for _, p := range s.Tested {
		b.Tested[p]++
	}
	for _, p := range s.Broken {
		if b.First == nil {
			b.First, b.Violations = map[checker.Property]Run{}, map[checker.Property]int{}
		}
		if b.Violations[p]++; b.Violations[p] == 1 {
			b.First[p] = s
			first = append(first, p)
		}
	}
	return first
}

// Has reports whether all of some properties are broken by a run of the bag.
func (b *Results) Has(all []checker.Property) bool {
	return !slices.ContainsFunc(all, func(p checker.Property) bool { return b.Violations[p] == 0 })
}

// Found lists the properties that are broken by a run of the bag, in their order.
func (b *Results) Found() []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return b.Violations[p] == 0 })
}

// contention tells of a run whether some fault began while a client held a resource
// that another wanted: where none did, that nothing was broken says little.
//
// A hold is what lease exclusion means by it. A client wants a resource from its first
// try until it is granted, or its call is cancelled: also between two tries.
type contention struct {
	holders map[string]map[string]bool // by resource, the tokens that hold it
	wants   map[int]string             // by client, the resource
	seen    bool
}

func newContention() *contention {
	return &contention{holders: map[string]map[string]bool{}, wants: map[int]string{}}
}

// Record implements [history.Sink].
func (c *contention) Record(e *history.Event) {
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
func (c *contention) contended() bool {
	for _, resource := range c.wants {
		if len(c.holders[resource]) > 0 {
			return true
		}
	}
	return false
}

// Chase is what it took one hunt to find what it was after.
type Chase struct {
	Found bool          // false: it ended without
	Runs  int           // that it made
	Took  time.Duration // on the clock of whoever waited
}

// Chases are hunts for the same thing with other seeds.
type Chases []Chase

// Found counts the hunts that have found what they were after.
func (c Chases) Found() (n int) {
	for _, one := range c {
		if one.Found {
			n++
		}
	}
	return n
}

// Runs is how many runs so many percent of the hunts needed at most; false: so many of
// them found nothing.
func (c Chases) Runs(percent float64) (int, bool) {
	return quantile(c, percent, func(one Chase) int { return one.Runs })
}

// Took is as [Chases.Runs], and how long they took.
func (c Chases) Took(percent float64) (time.Duration, bool) {
	return quantile(c, percent, func(one Chase) time.Duration { return one.Took })
}

// quantile returns the smallest value that so many percent of the hunts do not exceed. A
// hunt that found nothing would have needed more than any other.
func quantile[T cmp.Ordered](c Chases, percent float64, of func(Chase) T) (value T, found bool) {
	var values []T
	for _, one := range c {
		if one.Found {
			values = append(values, of(one))
		}
	}
	rank := max(int(math.Ceil(percent/100*float64(len(c)))), 1)
	if rank > len(values) {
		return value, false
	}
	slices.Sort(values)
	return values[rank-1], true
}
