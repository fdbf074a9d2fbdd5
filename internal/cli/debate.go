package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/spf13/cobra"
)

func newDebate() *cobra.Command {
	var o suiteOptions
	cmd := &cobra.Command{
		Use:   "debate [ROW…]",
		Short: "Run every row of the debate and compare claims, expectations and what was seen",
		Long: `Run all rows of the debate, or the named ones, and compare the claims, the expected
verdicts and the observed ones. A row is one scenario, or a series: one scenario at
several values of a parameter, each with half as many runs. On real servers only named
series are run. "lockstorm run" repeats each of them.`,
		Example: `  lockstorm debate
  lockstorm debate crash-restart pause-then-write --runs 1000
  lockstorm debate --backend process --out results
  lockstorm debate --from results/reference --format markdown`,
	}
	backend := backendFlags(cmd)
	o.flags(cmd, &debate{})
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		d, err := choose(names)
		if err != nil {
			return err
		}
		return o.command(cmd, backend, &d)
	}
	return cmd
}

// debate is some rows and series, with the results so far.
type debate struct {
	topics []scenarios.Topic
	named  bool     // the user has named rows
	again  []string // flags that repeat a run
	known

	unclaimed bool              // nobody claims anything of the rows
	losses    map[string]string // the share that is printed of each row, by its name; nil: none
}

// choose returns the debate on the rows and series that are named, or on all.
func choose(names []string) (debate, error) { return among(scenarios.Topics(), names) }

func among(topics []scenarios.Topic, names []string) (debate, error) {
	all := debate{topics: topics}
	if len(names) == 0 {
		return all, nil
	}
	known := all.names()
	for i, name := range names { // tables call a series so that has the name of a row
		names[i] = strings.TrimSuffix(name, report.SeriesMark)
	}
	if err := allKnown("row", names, known); err != nil {
		if file := slices.IndexFunc(names, isFile); file >= 0 {
			err = fmt.Errorf("%s: a row is wanted, not a file: use lockstorm run", names[file])
		}
		return debate{}, err
	}
	d := debate{named: true}
	for _, t := range topics {
		t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r scenarios.File) bool { return !slices.Contains(names, r.Name) })
		t.Series = slices.DeleteFunc(slices.Clone(t.Series), func(s scenarios.Series) bool { return !slices.Contains(names, s.Name) })
		if len(t.Rows)+len(t.Series) > 0 {
			d.topics = append(d.topics, t)
		}
	}
	return d, nil
}

// names lists rows and series; some are both.
func (d debate) names() []string {
	var all []string
	for _, t := range d.topics {
		for _, r := range t.Rows {
			all = append(all, r.Name)
		}
	}
	for _, t := range d.topics {
		for _, s := range t.Series {
			if !slices.Contains(all, s.Name) {
				all = append(all, s.Name)
			}
		}
	}
	return all
}

func (*debate) file() string  { return results.DebateFile }
func (*debate) title() string { return "the debate" }

func (*debate) usual(b runner.Backend) (runs, parallel int) {
	if b.Exact {
		return 100, sideBySide(b)
	}
	return 3, sideBySide(b)
}

// tasks returns the scenarios to run, in the order of the main table.
func (d *debate) tasks(o suiteOptions) (all []task) {
	for _, t := range d.topics {
		for _, r := range t.Rows {
			all = append(all, task{r.Scenario, o.seed, o.runs})
		}
		for _, series := range t.Series {
			for _, p := range series.Points {
				if o.backend.Exact || d.named {
					all = append(all, task{p.Scenario, o.seed, (o.runs + 1) / 2})
				}
			}
		}
	}
	return all
}

func (d *debate) learn(now known, again []string) { d.known, d.again = now, again }

func (d *debate) fill(ctx context.Context, page *report.Report, side report.Side, kept keptRun) error {
	return page.Debate(ctx, report.Debate{Topics: d.topics, Sides: []report.Side{side}, StoredRun: kept, Stopped: d.stopped})
}

// finding is a row with its results.
type finding struct {
	row   scenarios.File
	tally runner.Tally
}

// findings returns the rows and series that have results.
func (d debate) findings() (rows []finding, curves []report.Curve) {
	for _, topic := range d.topics {
		for _, r := range topic.Rows {
			if t, ok := d.found[r.Name]; ok {
				rows = append(rows, finding{r, t})
			}
		}
		for _, s := range topic.Series {
			if c := d.found.Curve(s); len(c.Tallies) > 0 {
				curves = append(curves, c)
			}
		}
	}
	return rows, curves
}

// tallies returns those of all rows and points.
func (d debate) tallies() (all []runner.Tally) {
	rows, curves := d.findings()
	for _, r := range rows {
		all = append(all, r.tally)
	}
	for _, c := range curves {
		all = append(all, c.Tallies...)
	}
	return all
}

// conclusion returns the worst conclusion of all rows. A debate without rows decides nothing.
func (d *debate) conclusion() runner.Conclusion { return summary.Worst(d.tallies()) }

// publications is a debate whose rows repeat published results.
type publications struct{ debate }

func newPublications() *publications {
	topic := scenarios.Topic{Name: "Published results"}
	p := &publications{debate{unclaimed: true, losses: map[string]string{}}}
	for _, r := range scenarios.Published() {
		topic.Rows = append(topic.Rows, scenarios.File{Scenario: r.Scenario})
		p.losses[r.Name] = r.Published.Measurement
	}
	p.topics = []scenarios.Topic{topic}
	return p
}

func (*publications) file() string  { return results.PublishedFile }
func (*publications) title() string { return "published results" }

// usual makes one run at a time on real servers, because servers that wait for a core change the
// figures. An interval needs six.
func (*publications) usual(b runner.Backend) (runs, parallel int) {
	if b.Exact {
		return 100, sideBySide(b)
	}
	return 6, 1
}
