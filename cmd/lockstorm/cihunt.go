package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// huntStage makes the stage of the hunt.
func (o *ciOptions) huntStage() (stage, error) {
	q, err := o.hunt.quest(nil)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error) {
		return o.hunted(ctx, q, d, problems)
	}, nil
}

// hunted hunts for as long as there is time, and tells of each property what has come of it.
func (o *ciOptions) hunted(ctx context.Context, q quest, d deadline, problems io.Writer) (ci.Suite, error) {
	suite := ci.Suite{Name: huntSuite}
	limited, cancel := d.limit(ctx)
	defer cancel()
	if limited.Err() != nil {
		for _, p := range q.hunted() {
			suite.Checks = append(suite.Checks, leftOut(limited, huntCheck(p)))
		}
		return suite, nil
	}
	q.budget = time.Until(d.at)
	h, err := q.watched(ctx, problems)
	if err != nil {
		return suite, err
	}
	suite.Note = fmt.Sprintf("%s: %s (%s)", q.Space.Name(), h.headline(), h.figures(true))
	finds, failed := o.hunt.take(ctx, q, h, problems)
	for _, p := range q.hunted() {
		check := huntCheck(p)
		if shot, found := h.First[p]; found {
			check = o.broken(check, p, shot)
		} else {
			check = unbroken(check, p, q, h)
		}
		if i := slices.IndexFunc(finds, func(f find) bool { return f.Property == p }); i >= 0 {
			check, err = o.found(ctx, check, finds[i], problems)
			failed = errors.Join(failed, err)
		}
		suite.Checks = append(suite.Checks, check)
	}
	suite.Checks[0].Took = h.took // they are hunted all at once
	return suite, failed
}

func huntCheck(p checker.Property) ci.Check {
	return ci.Check{Name: fmt.Sprintf("%s %s", p.Code(), p.Title())}
}

// unbroken is a property of which no violation was found.
func unbroken(c ci.Check, p checker.Property, q quest, h haul) ci.Check {
	c.Says = textfmt.Count(h.Tested[p], "run") + " put it to the test"
	switch {
	case h.stopped:
		c.Outcome, c.Says = ci.Undecided, c.Says+", then it was stopped"
	case q.most > h.Runs && !q.enough(&h.Results):
		c.Outcome, c.Says = ci.Undecided, fmt.Sprintf("%s, and there was time for %d of %d runs", c.Says, h.Runs, q.most)
	case h.Tested[p] > 0:
		c.Outcome = ci.AsExpected
	case h.silent(q):
		c.Outcome, c.Says = ci.Undecided, "no run put it to the test, nor anything else"
	default:
		c.Outcome, c.Says = ci.NotApplicable, "no run put it to the test: it is not promised, what was run is outside the assumptions, or there was nothing to tell it by"
	}
	return c
}

// broken is a property that was violated, and the hunt that finds that again, for as long
// as nothing shorter is known that does.
func (o *ciOptions) broken(c ci.Check, p checker.Property, shot fuzz.Run) ci.Check {
	c.Outcome = ci.Contradiction
	c.Says = fmt.Sprintf("%s violated in run %d of the hunt", p.Title(), shot.Number)
	c.Again = textfmt.Command("hunt", "--lock", o.hunt.lock, "--assume", o.hunt.assumed, "--seed", fmt.Sprint(o.hunt.seed), "--runs", fmt.Sprint(shot.Number))
	return c
}

// found adds what was found when that was shrunk. Its run is kept beside its case.
func (o *ciOptions) found(ctx context.Context, c ci.Check, f find, problems io.Writer) (ci.Check, error) {
	c.Says += ": " + f.standing(o.hunt.assumed)
	c.Story = f.shrunk() + "\n" + told(f.Small.Report.Finding(f.Property).Lines()...)
	if f.path == "" { // it could not be kept, which is told by itself
		return c, nil
	}
	c.Again, c.Kept = textfmt.Command("replay", f.path), []string{f.path}
	saved, err := loadCases(f.path)
	if err != nil {
		return c, err
	}
	run, err := o.keepRun(ctx, saved[0].experiment, saved[0].again, saved[0].seed, problems)
	c.Kept = append(c.Kept, run...)
	return c, err
}
