package locktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// judgement is what a run says of the lock, beside what was promised of it.
type judgement struct {
	broken []checker.Finding // what is promised under the plan, and violated
	open   []checker.Finding // what is promised under it, and not known
	limits []limit
}

// limit is a violation of what is not promised.
type limit struct {
	checker.Finding
	why error
}

// promised are the properties that fail the test where they are violated.
func (o outcome) promised(c Config) []checker.Property {
	if c.Promises != nil {
		return c.Promises
	}
	list := []checker.Property{checker.Lease, checker.DeadlockFreedom, checker.Contract}
	if o.traits.tells {
		list = append(list, checker.Section)
	}
	if o.traits.fences {
		list = append(list, checker.Fence)
	}
	return list
}

// errUnasked is why a violation fails nothing.
var errUnasked = errors.New("it is not among the promises")

// judge holds what was found in a run to what is promised under the plan that was carried
// out.
func (o outcome) judge(c Config) (j judgement) {
	done, promised := o.Executed(), o.promised(c)
	terms := fuzz.ExternalTerms(done, o.traits.endless)
	for _, f := range o.Report.Findings {
		why := terms.Excuse(f.Property, done)
		if !slices.Contains(promised, f.Property) {
			why = errUnasked
		}
		switch {
		case o.Slipped() && why == nil && f.Verdict != checker.NotApplicable:
			j.open = append(j.open, checker.Finding{
				Property: f.Property, Verdict: checker.Unknown, Where: f.Where,
				Undecided: fmt.Sprintf("the machine was too slow for the plan: things came %v late, more than %v", o.SchedulingLag, done.AllowedSlip()),
			})
		case o.Slipped():
		case f.Verdict == checker.Violated && why == nil:
			j.broken = append(j.broken, f)
		case f.Verdict == checker.Violated:
			j.limits = append(j.limits, limit{f, why})
		case f.Verdict == checker.Unknown && why == nil:
			j.open = append(j.open, f)
		case f.Property == checker.Cleanup && !o.header.Keys && why == nil:
			j.open = append(j.open, f) // nobody has seen the keys
		}
	}
	return j
}

// named is what a property is called in a sentence.
func named(p checker.Property) string { return fmt.Sprintf("%s (%s)", p.Code(), p.Title()) }
