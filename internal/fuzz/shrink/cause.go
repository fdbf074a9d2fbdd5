package shrink

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// exclusions are the properties that say that one holder excludes another, each with
// what lies behind it: whose leases overlap has overlapping sections as well, and these
// spoil what is written.
var exclusions = []checker.Property{checker.Lease, checker.Section, checker.Effect}

// cause is what has to stay the same of a run that breaks a property. An eviction that
// lets two clients hold a lock spoils what they write, and so does a client that works
// for longer than its lease; in the second case no two leases overlap. So an exclusion
// that was broken stays broken with those which it entails, no assumption may be left
// that the run had not left, no bound may become one that cannot be kept, and what was due to its faults stays due to some of them.
type cause struct {
	broken []checker.Property
	due    []checker.Property            // those of them that are not broken without the faults
	left   map[checker.Property][]string // names of assumptions
	bounds []string                      // that a correct lock keeps: what a smaller one could not keep shows nothing
	defect bool
	ended  bool // the run that was found came to its end
}

func (t Minimizer) cause(ctx context.Context, p checker.Property, r runner.Result) (cause, error) {
	done := r.Executed()
	c := cause{broken: []checker.Property{p}, left: map[checker.Property][]string{}, bounds: fuzz.BoundsKept(done), defect: t.excuse(p, done) == nil, ended: r.Report.Cut == ""}
	if i := slices.Index(exclusions, p); i > 0 {
		for _, q := range exclusions[:i] {
			if r.Report.Finding(q).Verdict == checker.Violated {
				c.broken = append(c.broken, q)
			}
		}
	}
	promised := t.Promised(done)
	for _, q := range c.broken {
		c.left[q] = promised[q].Left(done)
	}
	var err error
	c.due, err = t.due(ctx, r, c.broken)
	return c, err
}

// due returns those of some properties that a run violates by its faults.
func (t Minimizer) due(ctx context.Context, r runner.Result, violated []checker.Property) ([]checker.Property, error) {
	return fuzz.Candidate{Scenario: r.Executed(), Seed: r.Seed}.Due(ctx, t.Backend, t.Causes, violated)
}

// same reports whether a run breaks what another has broken, by the same cause. A limit
// may turn out to be a defect: that is worth more.
func (t Minimizer) same(ctx context.Context, c cause, r runner.Result) (bool, error) {
	done := r.Executed()
	promised := t.Promised(done)
	for _, q := range c.broken {
		if r.Report.Finding(q).Verdict != checker.Violated || !subset(promised[q].Left(done), c.left[q]) {
			return false, nil
		}
	}
	if !subset(c.bounds, fuzz.BoundsKept(done)) {
		return false, nil
	}
	p := c.broken[0]
	if t.Terms(done).Excuse(p, done) != nil || c.defect && promised.Excuse(p, done) != nil {
		return false, nil
	}
	if len(c.due) == 0 {
		return true, nil
	}
	due, err := t.due(ctx, r, c.due) // last, for it takes another run
	return len(due) == len(c.due), err
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}
