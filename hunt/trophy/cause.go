package trophy

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/storm"
)

// exclusions are the properties that say that one holder excludes another, each with
// what lies behind it: whose leases overlap has overlapping sections as well, and these
// spoil what is written.
var exclusions = []checker.Property{checker.Lease, checker.Section, checker.Effect}

// cause is what has to stay the same of a run that breaks a property. An eviction that
// lets two clients hold a lock spoils what they write, and so does a client that works
// for longer than its lease; in the second case no two leases overlap. So an exclusion
// that was broken stays broken with those which it entails, and no assumption may be
// left that the run had not left.
type cause struct {
	broken []checker.Property
	left   map[checker.Property][]string // names of assumptions
	defect bool
}

func (t Taker) cause(p checker.Property, r storm.Result) cause {
	done := r.Done()
	c := cause{broken: []checker.Property{p}, left: map[checker.Property][]string{}, defect: t.excuse(p, done) == nil}
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
	return c
}

// same reports whether a run breaks what another has broken, by the same cause. A limit
// may turn out to be a defect: that is worth more.
func (t Taker) same(c cause, r storm.Result) bool {
	done := r.Done()
	promised := t.Promised(done)
	for _, q := range c.broken {
		if r.Report.Finding(q).Verdict != checker.Violated || !subset(promised[q].Left(done), c.left[q]) {
			return false
		}
	}
	p := c.broken[0]
	return t.Terms(done).Excuse(p, done) == nil && (!c.defect || promised.Excuse(p, done) == nil)
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}
