package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// comparison compares one figure. Chance is the probability of a difference of two rates that is at
// least as unlikely, if both have the same probability behind them. Of an exact figure it is 1 if
// both are equal, and 0 otherwise.
type comparison struct {
	Of        string  `json:"of"`
	Committed string  `json:"committed"`
	Again     string  `json:"again"`
	Exact     bool    `json:"exact,omitempty"`
	Chance    float64 `json:"chance"`
}

// errNothing is returned by a comparison of nothing, which could not fail.
var errNothing = errors.New("nothing to compare")

func exactly(of, committed, again string, equal bool) comparison {
	c := comparison{Of: of, Committed: committed, Again: again, Exact: true}
	if equal {
		c.Chance = 1
	}
	return c
}

func rates(of string, committed, again runner.Rate) comparison {
	return comparison{Of: of, Committed: rateText(committed), Again: rateText(again), Chance: runner.Fisher(committed, again)}
}

func rateText(r runner.Rate) string {
	return fmt.Sprintf("%s, 95 %% interval %s %%, of %s", r.Percent(), r.Interval(), textfmt.Count(r.N, "run"))
}

// output is what a command left behind.
type output struct {
	dir  string // DIR of the command
	text string // standard output, and standard error
	code int    // the exit code
	cpu  float64
}

// file is FILE of the command.
func (o output) file() string { return filepath.Join(o.dir, "FILE") }

// compare compares the output of a check with what is committed.
func (c Check) compare(root string, o output) ([]comparison, error) {
	switch {
	case c.Reference != "":
		return compareReferences(filepath.Join(root, c.Reference), filepath.Join(o.dir, filepath.Base(c.Reference)))
	case c.Sweep != "":
		return compareSweeps(filepath.Join(root, c.Sweep), o.dir)
	case c.Table != nil:
		return c.Table.compare(root, o)
	case c.Passes:
		return []comparison{exactly("exit code", "0", fmt.Sprint(o.code), o.code == 0)}, nil
	}
	var list []comparison
	for _, want := range c.Prints {
		found := "not printed"
		if strings.Contains(o.text, want) {
			found = want
		}
		list = append(list, exactly("output", want, found, found == want))
	}
	return list, nil
}

// compareReferences compares how often each property of each scenario is violated.
func compareReferences(committed, again string) ([]comparison, error) {
	was, err := results.LoadReference(filepath.Split(committed))
	if err != nil {
		return nil, err
	}
	is, err := results.LoadReference(filepath.Split(again))
	if err != nil {
		return nil, err
	}
	var list []comparison
	for _, row := range is.Rows {
		i := slices.IndexFunc(was.Rows, func(r results.Row) bool { return r.Scenario == row.Scenario })
		if i < 0 {
			return nil, fmt.Errorf("%s has no row %s", committed, row.Scenario)
		}
		for _, p := range checker.Properties() {
			a, b := violations(was.Rows[i], p), violations(row, p)
			if a.N > 0 && b.N > 0 {
				list = append(list, rates(row.Scenario+" "+p.Code(), a, b))
			}
		}
	}
	if len(list) == 0 || len(is.Rows) != len(was.Rows) {
		return nil, fmt.Errorf("%d rows of %d: %w", len(is.Rows), len(was.Rows), errNothing)
	}
	return list, nil
}

func violations(r results.Row, p checker.Property) runner.Rate {
	seen := r.Seen[p]
	return runner.Rate{K: seen[checker.Violated], N: seen[checker.Violated] + seen[checker.Holds]}
}

// compareSweeps compares the points and boundaries of a sweep with the same of a committed one.
func compareSweeps(committed, again string) ([]comparison, error) {
	was, err := sweep.Load(committed)
	if err != nil {
		return nil, err
	}
	is, err := sweep.Load(again)
	if err != nil {
		return nil, err
	}
	if !is.Complete() {
		return nil, fmt.Errorf("%s: %d of %d units", again, len(is.Outcomes), is.Units())
	}
	var list []comparison
	for _, o := range is.Outcomes {
		i := slices.IndexFunc(was.Outcomes, func(c sweep.Outcome) bool { return c.Unit == o.Unit })
		if i < 0 || was.Outcomes[i].Curve != o.Curve || !slices.Equal(was.Outcomes[i].At, o.At) {
			return nil, fmt.Errorf("%s: unit %d is not that of %s", committed, o.Unit, again)
		}
		of := strings.TrimSpace(fmt.Sprint(cmp.Or(o.Curve, is.Sweep), " at ", strings.Trim(fmt.Sprint(o.At), "[]")))
		if o.Point != nil {
			list = append(list, rates(of, was.Outcomes[i].Point.Rate(), o.Point.Rate()))
		} else {
			list = append(list, boundaries(of, *was.Outcomes[i].Boundary, *o.Boundary)...)
		}
	}
	if len(list) == 0 {
		return nil, errNothing
	}
	return list, nil
}

// boundaries compares two searches for the same boundary. The ranges overlap, and each rule of
// thumb has the same verdict.
func boundaries(of string, was, is sweep.Located) []comparison {
	between := func(l sweep.Located) string {
		if !l.Bracketed() {
			return "not found"
		}
		return fmt.Sprintf("from %.6g to %.6g", *l.LastViolated, *l.FirstHolding)
	}
	overlap := was.Bracketed() && is.Bracketed() && *is.LastViolated <= *was.FirstHolding && *was.LastViolated <= *is.FirstHolding
	list := []comparison{exactly("boundary of "+of, between(was), between(is), overlap)}
	for _, r := range was.Rules {
		again, _ := is.Rule(r.Name)
		list = append(list, exactly(fmt.Sprintf("rule %q, %s", r.Name, of), r.Verdict.String(), again.Verdict.String(), r.Verdict == again.Verdict))
	}
	return list
}
