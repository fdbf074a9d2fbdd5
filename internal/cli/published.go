package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// publications is the scenarios that repeat published results, and what they gave on some
// backends.
type publications struct {
	results []scenarios.PublishedResult
	sides   []publishedSide
}

// publishedSide is the results on one backend.
type publishedSide struct {
	backend runner.Backend
	runs    int
	tasks   []task
	found   report.Tallies
}

func newPublished() *cobra.Command {
	var runs, simulated int
	var seed uint64
	var out, format string
	cmd := &cobra.Command{
		Use:   "published [NAME…]",
		Short: "Repeat published results on real servers, beside the simulator",
		Long: `Repeat results that others have published on locks, all or the named ones, in the simulator
and on real servers of this machine. Print what they measured, and the share of updates, or
of grants, that is lost here, with its 95 % interval. "lockstorm run NAME" repeats each of them.`,
		Example: `  lockstorm published etcd-lost-updates
  lockstorm published --runs 20 --format markdown`,
	}
	cmd.Flags().IntVar(&runs, "runs", 6, "runs of each on real servers, one at a time; 0: none (an interval needs 6)")
	cmd.Flags().IntVar(&simulated, "simulated", 100, "runs of each in the simulator; 0: none")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "first seed")
	cmd.Flags().StringVar(&out, "out", "", "directory for the stored runs, one directory each (default: runs are not stored)")
	cmd.Flags().StringVar(&format, "format", asText, "text or markdown")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		for flag, n := range map[string]int{"runs": runs, "simulated": simulated} {
			if n < 0 {
				return fmt.Errorf("--%s %d: want at least 0", flag, n)
			}
		}
		if err := checkFormat(format, asText, asMarkdown); err != nil {
			return err
		}
		p, err := publishedNamed(names)
		if err != nil {
			return err
		}
		for backend, n := range map[string]int{"sim": simulated, "process": runs} {
			b, err := findBackend(backend)
			if err != nil {
				return err
			}
			if n > 0 {
				p.sides = append(p.sides, publishedSide{backend: b.Backend, runs: n})
			}
		}
		slices.SortFunc(p.sides, func(a, b publishedSide) int { return strings.Compare(b.backend.Name, a.backend.Name) })
		if err := p.run(cmd.Context(), seed, out, cmd.ErrOrStderr()); err != nil {
			return err
		}
		return p.print(cmd.OutOrStdout(), format, cmd.Context().Err() != nil)
	}
	return cmd
}

// publishedNamed returns the named results, or all.
func publishedNamed(names []string) (publications, error) {
	p := publications{results: scenarios.Published()}
	if len(names) == 0 {
		return p, nil
	}
	var known []string
	for _, r := range p.results {
		known = append(known, r.Name)
	}
	if err := allKnown("published result", names, known); err != nil {
		return publications{}, err
	}
	p.results = slices.DeleteFunc(slices.Clone(p.results), func(r scenarios.PublishedResult) bool { return !slices.Contains(names, r.Name) })
	return p, nil
}

// run runs the scenarios on all sides. On real servers it makes one run at a time, because
// servers that wait for a core change the figures.
func (p *publications) run(ctx context.Context, seed uint64, out string, problems io.Writer) error {
	for i := range p.sides {
		side := &p.sides[i]
		s := suite{what: "published, " + side.backend.Name, backend: side.backend, out: out}
		if !side.backend.Exact {
			s.sideBySide = 1
		}
		for _, r := range p.results {
			s.tasks = append(s.tasks, task{Scenario: r.Scenario, First: seed, Runs: side.runs})
		}
		found, refused, err := s.run(ctx, problems)
		if err != nil {
			return err
		}
		if len(refused) > 0 {
			return fmt.Errorf("%v", refused[0])
		}
		side.tasks, side.found = s.tasks, found
	}
	return nil
}

// print prints the results, and returns the error for their exit code.
func (p publications) print(out io.Writer, format string, stopped bool) error {
	to := &page{out: out}
	if format == asMarkdown {
		all := map[string]string{}
		for _, side := range p.sides {
			maps.Copy(all, versionsOf(side.backend, side.tasks))
		}
		to.say("# Published results, repeated\n\nMade by \"make published\" with %s. Each scenario is a file that can be changed and run: \"lockstorm list NAME\".", madeWith(all))
		to.table(p.table())
		for _, r := range p.results {
			to.publication(r)
		}
	} else {
		terminal.Fit(out)
		printTable(to, p.table())
	}
	if stopped {
		to.say("%s", stoppedLine)
	}
	if to.err != nil {
		return to.err
	}
	conclusion := p.conclusion()
	if stopped && conclusion == runner.AsExpected {
		conclusion = runner.Undecided
	}
	return exitFor(conclusion)
}

// table has a line for each result on each side.
func (p publications) table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"result", "where", "runs", "with two holders", "of these", "were lost", "share, and its 95 % interval", "conclusion"}}
	for _, r := range p.results {
		for _, side := range p.sides {
			tally, ran := side.found[r.Name]
			if !ran {
				continue
			}
			l := lossOf(r.Measurement, tally.Measured.All())
			t.Add(r.Name, side.where(), fmt.Sprint(tally.Runs), fmt.Sprint(tally.Seen[checker.Lease][checker.Violated]),
				textfmt.Count(l.N, l.what), fmt.Sprint(l.K), l.share(tally.Measured), tally.Conclusion().String())
		}
	}
	return t
}

func (s publishedSide) where() string {
	if s.backend.Exact {
		return "simulated"
	}
	return "real"
}

// loss is how many of something were lost.
type loss struct {
	runner.Rate
	what        string
	measurement string // the name of the share
}

// lossOf returns the loss that a published result is about.
func lossOf(measurement string, m checker.Measurements) loss {
	if measurement == "forgotten_grant_share" {
		return loss{runner.Rate{K: m.ForgottenGrants, N: m.StoredGrants}, "grant", measurement}
	}
	return loss{runner.Rate{K: m.LostUpdates, N: m.Updates}, "update", "lost_update_share"}
}

// share is the share in words. If nothing was lost, its interval is that of independent updates
// or grants, because the runs do not differ.
func (l loss) share(a runner.Aggregate) string {
	value, low, high, known := a.Share(l.measurement)
	text := fmt.Sprintf("%.1f %%", 100*value)
	switch {
	case l.K == 0:
		text += " " + l.Interval()
	case known:
		text += fmt.Sprintf(" [%.1f, %.1f]", 100*low, 100*high)
	}
	return text
}

// publication is the section on one result.
func (p *page) publication(r scenarios.PublishedResult) {
	p.say("\n## %s\n\n%s.", r.Name, textfmt.Sentence(r.Summary))
	p.say("\n- They measured: %s", r.Measured)
	p.say("- What differs here: %s", r.Differs)
	for _, source := range r.Sources {
		p.say("- Source: %s", source)
	}
	p.say("")
	p.plan("Plan", r.Plan)
}

// conclusion returns the worst conclusion of all results.
func (p publications) conclusion() runner.Conclusion {
	var all []runner.Tally
	for _, side := range p.sides {
		for _, r := range p.results {
			if tally, ran := side.found[r.Name]; ran {
				all = append(all, tally)
			}
		}
	}
	return summary.Worst(all)
}
