package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// repeated repeats a hunt with consecutive seeds, and prints how long each takes to its find.
func (o *huntOptions) repeated(cmd *cobra.Command, q search) error {
	q.first = len(q.Wanted) == 0
	chases, err := q.chase(cmd.Context(), o.hunts, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	stopped := len(chases) < o.hunts
	out := cmd.OutOrStdout()
	if o.json {
		err = json.NewEncoder(out).Encode(chasesScore{
			Ground: q.Space.Name(), Hunted: q.hunted(), Seed: o.seed, Stopped: stopped, chaseScore: scoreChases(chases),
		})
	} else {
		terminal.Fit(out)
		printChases(out, q, chases)
		if stopped {
			_, _ = fmt.Fprintln(out, "\n"+stoppedLine)
		}
	}
	switch {
	case err != nil:
		return err
	case chases.Found() > 0:
		return verdictError(exitContradiction)
	case stopped:
		return verdictError(exitUndecided)
	}
	return nil
}

// chase repeats a hunt, each time until its find. Hunts that ctx cuts short are left out.
func (q search) chase(ctx context.Context, n int, problems io.Writer) (fuzz.Attempts, error) {
	var chases fuzz.Attempts
	line := newHuntLine(problems, "")
	defer line.Done()
	for first := q.Seed; len(chases) < n; q.Seed = first + uint64(len(chases)) {
		line.Call("%s, hunt %d of %d", q.Space.Name(), len(chases)+1, n)
		h, err := q.run(ctx, line)
		if err != nil || h.stopped {
			return chases, err
		}
		chases = append(chases, fuzz.Attempt{Found: q.satisfied(h), Runs: h.Runs, Took: h.took})
	}
	return chases, nil
}

// satisfied reports whether the hunt has found what it was after.
func (q search) satisfied(h haul) bool {
	return q.first && len(h.First) > 0 || h.Has(q.hunted())
}

// shares are the percentiles that are printed.
var shares = []struct {
	name    string
	percent float64
}{{"median", 50}, {"p90", 90}, {"p99", 99}}

func printChases(out io.Writer, q search, c fuzz.Attempts) {
	_, _ = fmt.Fprintf(out, "%s: found by %d of %s\n\n", q.Space.Name(), c.Found(), textfmt.Count(len(c), "hunt"))
	t := &textfmt.Table{Head: []string{"", "runs", "seconds"}}
	for _, s := range shares {
		t.Add(s.name, runsText(c, s.percent), tookText(c, s.percent))
	}
	printTable(out, t)
}

// runsText returns a percentile of the runs until the find, for a cell.
func runsText(c fuzz.Attempts, percent float64) string {
	if n, found := c.Runs(percent); found {
		return fmt.Sprint(n)
	}
	return textfmt.Dash("")
}

// tookText returns a percentile of the seconds until the find, for a cell.
func tookText(c fuzz.Attempts, percent float64) string {
	if d, found := c.Took(percent); found {
		return fmt.Sprintf("%.2f", d.Seconds())
	}
	return textfmt.Dash("")
}

// chasesScore is what --json prints of hunts for one thing.
type chasesScore struct {
	Ground string             `json:"ground"`
	Hunted []checker.Property `json:"hunted"`
	Seed   uint64             `json:"seed"` // of the first
	chaseScore
	Stopped bool `json:"stopped"`
}

// chaseScore is the figures of repeated hunts. A quantile is null if too few found anything.
type chaseScore struct {
	Hunts   int                 `json:"hunts"`
	FoundBy int                 `json:"found_by"` // so many of them
	Runs    map[string]*int     `json:"runs_to_find"`
	Seconds map[string]*float64 `json:"seconds_to_find"`
}

func scoreChases(c fuzz.Attempts) chaseScore {
	s := chaseScore{Hunts: len(c), FoundBy: c.Found(), Runs: map[string]*int{}, Seconds: map[string]*float64{}}
	for _, share := range shares {
		s.Runs[share.name], s.Seconds[share.name] = nil, nil
		if n, found := c.Runs(share.percent); found {
			s.Runs[share.name] = &n
		}
		if d, found := c.Took(share.percent); found {
			s.Seconds[share.name] = new(d.Round(time.Millisecond).Seconds())
		}
	}
	return s
}

// chased is a row with the results of its hunts.
type chased struct {
	fuzz.Rediscovery
	fuzz.Attempts
}

// rows hunts rows of the debate without their plans, and prints how long that takes.
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
	if err := allKnown("row with an expected violation", names, known); err != nil {
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
		h.Guidance, h.Depth = fuzz.Guidance(o.guidance), o.depth
		chases, err := search{Hunt: h, budget: o.budget, most: o.runs}.chase(ctx, o.hunts, problems)
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
	_, _ = io.WriteString(out, "\nRuns and seconds: median / p90 / p99 of the hunts; –: too few finds.\n")
	if stopped {
		_, _ = io.WriteString(out, "\n"+stoppedLine+"\n")
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

// spread returns the quantiles of a figure in one cell.
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
