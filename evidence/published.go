package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// publishedSides are where published results are repeated: the directory in results, and the backend.
var publishedSides = []struct{ dir, backend, what string }{{"reference", "sim", "simulated"}, {"process", "process", "real"}}

// measurePublished repeats published results.
func measurePublished(ctx context.Context, c *checkout) error {
	for _, side := range publishedSides {
		dir := filepath.Join(c.temp, "published", side.dir)
		_, _, err := c.lockstorm(ctx, "run", "@published", "--backend", side.backend, "--out", dir)
		if err == nil {
			err = asExpected(dir)
		}
		if err == nil {
			err = c.move(filepath.Join(dir, results.PublishedFile), "results", side.dir, results.PublishedFile)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// asExpected returns an error if a result is not as expected. One that the backend cannot run is missing.
func asExpected(dir string) error {
	reference, err := results.LoadReference(dir, results.PublishedFile)
	if err != nil {
		return err
	}
	found, err := report.TalliesOf(reference)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if conclusion := found[name].Conclusion(); conclusion != runner.AsExpected {
			err = errors.Join(err, fmt.Errorf("%s: %v", name, conclusion))
		}
	}
	return err
}

func writePublished(c *checkout) (string, error) {
	p := &text{}
	p.say("# Published results, repeated\n\nMade by `go -C evidence run . published`. Each scenario is a file that can be changed and run: \"lockstorm list NAME\" prints it. Intervals are Wilson's of 95 %%, in percent.\n")
	var found []report.Tallies
	for _, side := range publishedSides {
		reference, tallies, err := c.load(side.dir, results.PublishedFile)
		if err != nil {
			return "", err
		}
		found = append(found, tallies)
		p.say("- %s: %s", side.what, madeWith(reference.Versions))
	}
	table := &textfmt.Table{Head: []string{"result", "where", "runs", "with two holders", "lost", "conclusion"}}
	for _, r := range scenarios.Published() {
		for i, side := range publishedSides {
			if tally, ran := found[i][r.Name]; ran {
				table.Add(r.Name, side.what, fmt.Sprint(tally.Runs), fmt.Sprint(tally.Seen[checker.Lease][checker.Violated]), report.Loss(r.Published.Measurement, tally), tally.Conclusion().String())
			}
		}
	}
	p.table(table)
	for _, r := range scenarios.Published() {
		p.say("## %s\n\n%s.\n\n- They measured: %s\n- What differs here: %s", r.Name, textfmt.Sentence(r.Summary), r.Published.Measured, r.Published.Differs)
		for _, source := range r.Published.Sources {
			p.say("- Source: %s", source)
		}
		p.say("")
	}
	return p.String(), nil
}
