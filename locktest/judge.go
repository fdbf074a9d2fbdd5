package locktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// judgment is the result of a run compared with the promises.
type judgment struct {
	broken []checker.Finding // promised under the plan and violated
	open   []checker.Finding // promised under the plan and undecided
	limits []limit
}

// limit is a violation of a property that is not promised under the plan.
type limit struct {
	checker.Finding
	why error
}

// promised returns the properties whose violation fails the test.
func (o runResult) promised(c Config) []checker.Property {
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

// errNotPromised is why a violation does not fail the test.
var errNotPromised = errors.New("it is not among the promises")

// judge compares the findings of a run with what is promised under its plan.
func (o runResult) judge(c Config) (j judgment) {
	done, promised := o.Executed(), o.promised(c)
	terms := fuzz.ExternalTerms(done, o.traits.endless)
	for _, f := range o.Report.Findings {
		why := terms.Excuse(f.Property, done)
		if !slices.Contains(promised, f.Property) {
			why = errNotPromised
		}
		switch {
		case o.Slipped() && why == nil && f.Verdict != checker.NotApplicable:
			j.open = append(j.open, checker.Finding{
				Property: f.Property, Verdict: checker.Unknown, Where: f.Where,
				Undecided: fmt.Sprintf("the machine was too slow for the plan: events were up to %v late, more than %v", o.SchedulingLag, done.AllowedSlip()),
			})
		case o.Slipped():
		case f.Verdict == checker.Violated && why == nil:
			j.broken = append(j.broken, f)
		case f.Verdict == checker.Violated:
			j.limits = append(j.limits, limit{f, why})
		case f.Verdict == checker.Unknown && why == nil:
			j.open = append(j.open, f)
		case f.Property == checker.Cleanup && !o.header.Keys && why == nil:
			j.open = append(j.open, f) // keys were not recorded
		}
	}
	return j
}

// startingWith returns the judgment with the violation of a property as the first one.
func (j judgment) startingWith(p checker.Property) judgment {
	i := slices.IndexFunc(j.broken, func(f checker.Finding) bool { return f.Property == p })
	j.broken = slices.Concat(j.broken[i:i+1], j.broken[:i], j.broken[i+1:])
	return j
}

// named returns a property's code and title.
func named(p checker.Property) string { return fmt.Sprintf("%s (%s)", p.Code(), p.Title()) }

// keysUnrecorded reports whether a history records keys, but none of those that grants rely
// on. Only strings with an expiry are recorded, so a lock that stores its holds otherwise
// must not be judged by keys.
func keysUnrecorded(h history.Header, events history.Log) bool {
	granted := map[string]bool{}
	for i := range events {
		if events[i].Kind == history.Granted {
			granted[events[i].Token] = true
		}
	}
	return h.Keys && len(granted) > 0 && !slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Kind == history.KeySet && granted[e.Token]
	})
}

// withoutKeys returns the result judged as if keys were not recorded.
func (o runResult) withoutKeys() runResult {
	o.header.Keys = false
	panel := checker.New(o.header)
	for i := range o.history {
		panel.Record(&o.history[i])
	}
	o.Report = panel.Finish()
	return o
}

// promises says what each property promises, as a clause.
var promises = map[checker.Property]string{
	checker.Lease:           "nobody else holds the lock between a grant and its Until, its release or the notice of its loss",
	checker.Section:         "nobody else holds the lock between a grant and its release or the notice of its loss",
	checker.Effect:          "no update of the guarded resource is lost",
	checker.Fence:           "the fences of grants grow",
	checker.DeadlockFreedom: "somebody gets the lock again when the faults are over",
	checker.FaultTolerance:  "the lock works while a majority of its nodes does",
	checker.Cleanup:         "no key stays behind after a hold was released or a try has failed",
	checker.Contract:        "calls return, grants have time left, a release reports the truth, and only it ends a hold",
}
