package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// chased is a row, and what the hunts for it have shown.
type chased struct {
	fuzz.Rediscovery
	fuzz.Attempts
}

// rows hunts rows of the debate without their plans, and tells how long that takes.
func (o *huntOptions) rows(cmd *cobra.Command, names []string) error {
	rows, err := chooseRows(names)
	if err != nil {
		return err
	}
	found, err := o.chaseRows(cmd.Context(), rows, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	stopped := cmd.Context().Err() != nil
	if err := o.printRows(cmd.OutOrStdout(), found, stopped); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(found, func(c chased) bool { return c.Found() < len(c.Attempts) }):
		return verdictError(exitContradiction)
	case stopped:
		return verdictError(exitUndecided)
	}
	return nil
}

// chooseRows returns the rows that are named, or all.
func chooseRows(names []string) ([]fuzz.Rediscovery, error) {
	rows := fuzz.Rediscoveries()
	if len(names) == 0 {
		return rows, nil
	}
	var known []string
	for _, r := range rows {
		known = append(known, r.Name)
	}
	if err := allKnown("row that violates something", names, known); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r fuzz.Rediscovery) bool { return !slices.Contains(names, r.Name) }), nil
}

func (o *huntOptions) chaseRows(ctx context.Context, rows []fuzz.Rediscovery, problems io.Writer) ([]chased, error) {
	var all []chased
	for _, r := range rows {
		if ctx.Err() != nil {
			break
		}
		h, err := r.Hunt(ctx, backends[0].Backend, o.most, o.seed)
		if err != nil {
			return nil, err
		}
		h.Guidance = fuzz.Guidance(o.guidance)
		chases, err := quest{Hunt: h, budget: o.budget, most: o.runs}.chase(ctx, o.hunts, problems)
		if err != nil {
			return nil, err
		}
		all = append(all, chased{r, chases})
	}
	return all, nil
}

func (o *huntOptions) printRows(out io.Writer, found []chased, stopped bool) error {
	switch {
	case o.json:
		return json.NewEncoder(out).Encode(scoreRows(o.seed, found, stopped))
	case o.format == asMarkdown:
		rowsTable(found).Markdown(out)
	default:
		terminal.Fit(out)
		printGroups(out, rowsTable(found))
	}
	_, _ = io.WriteString(out, "\nRuns and seconds: median / p90 / p99 of the hunts; –: too few have found it.\n")
	if stopped {
		_, _ = io.WriteString(out, "\n"+stoppedNote+"\n")
	}
	return nil
}

// rowsTable is a line for each row.
func rowsTable(found []chased) *textfmt.Table {
	t := &textfmt.Table{Head: []string{"row", "violates", "kinds of its plan", "found by", "runs", "seconds"}}
	for _, c := range found {
		t.Section(c.Topic)
		t.Add(c.Name, joined(c.Wanted(), checker.Property.Code), textfmt.Dash(joined(c.Kinds, func(k nemesis.Kind) string { return string(k) })),
			fmt.Sprintf("%d of %d", c.Found(), len(c.Attempts)), spread(c.Attempts, runsText), spread(c.Attempts, tookText))
	}
	return t
}

// spread is the quantiles of a figure in one cell.
func spread(c fuzz.Attempts, text func(fuzz.Attempts, float64) string) string {
	var parts []string
	for _, s := range shares {
		parts = append(parts, text(c, s.percent))
	}
	return strings.Join(parts, " / ")
}

// joined writes some things with a space between them.
func joined[T any](list []T, text func(T) string) string {
	var parts []string
	for _, one := range list {
		parts = append(parts, text(one))
	}
	return strings.Join(parts, " ")
}

// rowsScore is what --json prints of the debate.
type rowsScore struct {
	Seed    uint64     `json:"seed"` // of the first hunt of each row
	Rows    []rowScore `json:"rows"`
	Stopped bool       `json:"stopped"`
}

type rowScore struct {
	Ground string             `json:"ground"` // the row
	Hunted []checker.Property `json:"hunted"`
	chaseScore
}

func scoreRows(seed uint64, found []chased, stopped bool) rowsScore {
	s := rowsScore{Seed: seed, Stopped: stopped, Rows: []rowScore{}}
	for _, c := range found {
		s.Rows = append(s.Rows, rowScore{c.Name, c.Wanted(), scoreChases(c.Attempts)})
	}
	return s
}
