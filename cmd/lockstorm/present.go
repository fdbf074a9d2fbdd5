package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
)

// subject is what a suite is about: the debate, or the comparison.
type subject interface {
	// learn takes in what is known of the suite.
	learn(known)
	print(out io.Writer, reference results.Reference) error
	Conclusion() runner.Conclusion
}

// known is what is known of a suite.
type known struct {
	found   report.Tallies
	refused []refusal // by the backend
	stopped bool      // before the end
}

func (k *known) learn(now known) { *k = now }

// location is where the results of a suite are kept.
type location struct {
	dir, file string
	renew     bool // what is there stays, but for the rows that are stored
}

// keep stores what a suite has shown.
func (l location) keep(shown results.Reference) error {
	if l.renew {
		stored, err := results.LoadReference(l.dir, l.file)
		if err == nil {
			shown, err = stored.Renewed(shown)
		}
		if err != nil {
			return err
		}
	}
	return shown.Save(l.dir, l.file)
}

// present runs a suite, stores what it has shown, unless there is no directory for it
// or the suite was stopped, and prints it, also where it could not be stored.
func (s suite) present(ctx context.Context, of subject, save location, out, problems io.Writer) error {
	found, refused, err := s.run(ctx, problems)
	if err != nil {
		return err
	}
	stopped := ctx.Err() != nil
	of.learn(known{found, refused, stopped})
	reference := s.reference(found)
	var unsaved error
	if save.dir != "" && !stopped {
		if err := save.keep(reference); err != nil {
			unsaved = fmt.Errorf("--save: %w", err)
		}
	}
	if err := cmp.Or(of.print(out, reference), unsaved); err != nil {
		return err
	}
	conclusion := of.Conclusion()
	if stopped && conclusion == runner.AsExpected { // which is not that of all runs
		conclusion = runner.Undecided
	}
	return exitFor(conclusion)
}

// presentStored prints what a suite has shown as it was stored.
func presentStored(from location, of subject, out io.Writer) error {
	reference, err := results.LoadReference(from.dir, from.file)
	if err != nil {
		return err
	}
	found, err := report.Recall(reference)
	if err != nil {
		return err
	}
	of.learn(known{found: found})
	if err := of.print(out, reference); err != nil {
		return err
	}
	return exitFor(of.Conclusion())
}
