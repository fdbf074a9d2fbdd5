package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// exploreStage returns the stage that makes every run of the rows' smallest worlds, in the simulator.
func (o *ciOptions) exploreStage() (stage, error) {
	rows, files := o.rowsAndFiles()
	var worlds []exploredWorld
	if len(rows) > 0 || len(files) == 0 {
		d, err := choose(rows)
		if err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
		for _, t := range d.topics {
			for _, r := range t.Rows {
				worlds = append(worlds, exploredWorld{name: r.Name, scenario: r.Scenario})
			}
		}
	}
	for _, path := range files {
		s, err := findAnd(path, func(s scenarios.Scenario) error { _, err := prepareOn(simulated.Backend(), s); return err })
		if err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
		worlds = append(worlds, exploredWorld{name: path, scenario: s})
	}
	for _, w := range worlds {
		o.addKind(w.scenario.Lock.Kind)
	}
	return func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error) {
		ctx, cancel := d.limit(ctx)
		defer cancel()
		return exploreWorlds(ctx, worlds, problems)
	}, nil
}

// exploreWorlds returns a check for each world.
func exploreWorlds(ctx context.Context, worlds []exploredWorld, problems io.Writer) (ci.Suite, error) {
	suite := ci.Suite{Name: exploreSuite, Note: "every run of the smallest worlds, as in explore --quick"}
	bar := terminal.NewBar(problems, exploreSuite, int64(len(worlds)), terminal.Pieces)
	defer bar.Done()
	for _, w := range worlds {
		check := ci.Check{Name: "explore " + w.name, Command: textfmt.Command("explore", "--quick", w.name)}
		began := time.Now()
		x, err := exploreQuickly(ctx, w)
		switch {
		case ctx.Err() != nil:
			check = leftOut(ctx, check)
		case err != nil:
			return suite, fmt.Errorf("%s: %w", w.name, err)
		default:
			check.Took = time.Since(began)
			x.checked(&check)
		}
		suite.Checks = append(suite.Checks, check)
		bar.Step()
	}
	return suite, nil
}

// exploreQuickly explores the smallest world of a scenario.
func exploreQuickly(ctx context.Context, w exploredWorld) (x exploration, err error) {
	if w, err = w.smallest(ctx); err != nil {
		return x, err
	}
	return quickExploration().explore(ctx, w, checker.Properties(), nil, io.Discard)
}

// checked fills in what the exploration shows.
func (x exploration) checked(c *ci.Check) {
	for _, j := range x.outcome.Judged {
		switch match := x.against(j); {
		case match == scenarios.Met, match == scenarios.Contradicted && j.Find == nil: // it may be beyond the bounds
			continue
		case match == scenarios.Contradicted:
			c.Outcome = ci.Contradiction
		default:
			c.Outcome = ci.Undecided
		}
		c.Summary = fmt.Sprintf("%s: %s, which is not expected", j.Property.Title(), j.Verdict)
		if j.Find != nil {
			c.Story, c.Command = told(j.Find.Result.Report.Finding(j.Property).Lines()...), x.command(j.Find)
		}
		return
	}
	c.Outcome, c.Command = ci.AsExpected, ""
	c.Summary = fmt.Sprintf("%s in every run with up to %s (%s runs)", x.outcome.Within(), textfmt.Count(x.outcome.Deviations, "deviation"), textfmt.Grouped(x.outcome.Executions+x.outcome.Cut))
}
