package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

func newDebate() *cobra.Command {
	var runs int
	var seed uint64
	var out string
	cmd := &cobra.Command{
		Use:   "debate",
		Short: "Run every row of the debate and compare claims, expectations and what was seen",
		Example: `  lockstorm debate
  lockstorm debate --backend process`,
		Args: cobra.NoArgs,
	}
	backend := backendFlag(cmd)
	cmd.Flags().IntVar(&runs, "runs", 0, "runs of each row (default 100 where runs are exact, otherwise 3)")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "first seed")
	cmd.Flags().StringVar(&out, "out", "", "directory that gets a directory for each run (default: runs are not stored)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := findBackend(*backend)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("runs") && runs < 1 {
			return fmt.Errorf("--runs %d: want at least 1", runs)
		}
		if runs == 0 {
			runs = 3
			if b.Exact {
				runs = 100
			}
		}
		d := debate{backend: b, runs: runs, seed: seed, out: out}
		return d.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

type debate struct {
	backend storm.Backend
	runs    int
	seed    uint64
	out     string
}

func (d debate) run(ctx context.Context, out, problems io.Writer) error {
	var tallies []storm.Tally
	var refused []string
	rows := scenarios.All()
	bar := newProgress(problems, "debate", len(rows)*d.runs)
	for _, s := range rows {
		if err := nemesis.Refuse(d.backend.Name, d.backend.Faults, s.Plan, d.backend.Features...); err != nil {
			refused = append(refused, fmt.Sprintf("%s: %v", s.Name, err))
			continue
		}
		t, err := batch{
			backend: d.backend, scenario: s, first: d.seed, runs: d.runs, out: d.out,
			each: func(stored) { bar.step() },
		}.run(ctx)
		if err != nil {
			bar.done()
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		tallies = append(tallies, t)
	}
	bar.done()
	d.print(out, tallies)
	for _, r := range refused {
		_, _ = fmt.Fprintf(out, "not run: %s\n", r)
	}
	return exitFor(worst(tallies))
}

// worst is the worst outcome of all rows; a debate without a row decides
// nothing.
func worst(tallies []storm.Tally) storm.Outcome {
	worst := storm.AsExpected
	if len(tallies) == 0 {
		worst = storm.Undecided
	}
	for _, t := range tallies {
		switch t.Outcome() {
		case storm.Contradiction:
			return storm.Contradiction
		case storm.Undecided:
			worst = storm.Undecided
		}
	}
	return worst
}

func (d debate) print(out io.Writer, tallies []storm.Tally) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ROW\tKLEPPMANN\tANTIREZ\tEXPECTED\tOBSERVED\tSHOWN\tREPLAY")
	for _, t := range tallies {
		replay := "-"
		if t.Shown+t.Against > 0 {
			replay = fmt.Sprintf("lockstorm run %s --seed %d%s", t.Scenario.Name, t.Witness, d.flag())
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			t.Scenario.Name, claim(t.Scenario.Claims.Kleppmann), claim(t.Scenario.Claims.Antirez),
			signs(expected(t.Scenario)),
			signs(t.Observed), shown(t), replay)
	}
	_ = w.Flush()
	_, _ = fmt.Fprintln(out, "\n✓ holds  ✗ violated  ? unknown  · nothing to judge   V1 lease, V2 section, V3 effect exclusion, V4 fence order, L1 deadlock freedom, L2 fault tolerance, L3 clean-up, C contract")
	_, _ = fmt.Fprintln(out, "SHOWN counts the runs whose every verdict was the expected one; REPLAY repeats the first of them, or the first run that contradicts.")
}

// shown says how many runs showed what was expected, and what that amounts to
// if it is not enough.
func shown(t storm.Tally) string {
	text := fmt.Sprintf("%d/%d", t.Shown, t.Runs)
	if o := t.Outcome(); o != storm.AsExpected {
		text += " " + o.String()
	}
	return text
}

func (d debate) flag() string {
	if d.backend.Name == backends[0].Name {
		return ""
	}
	return " --backend " + d.backend.Name
}

func claim(c string) string {
	if c == "" {
		return "–"
	}
	return c
}

// expected says what a scenario expects: nothing to judge, where it does not
// say.
func expected(s scenarios.Scenario) func(checker.Property) checker.Verdict {
	return func(p checker.Property) checker.Verdict {
		if v, stated := s.Expect[p]; stated {
			return v
		}
		return checker.NotApplicable
	}
}

// judged are the properties that the table has room for: those that some
// judge judges.
var judged = []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence, checker.DeadlockFreedom, checker.FaultTolerance, checker.Cleanup, checker.Contract}

func signs(verdict func(checker.Property) checker.Verdict) string {
	text := ""
	for i, p := range judged {
		if i > 0 {
			text += " "
		}
		text += p.Code() + sign(verdict(p))
	}
	return text
}

func sign(v checker.Verdict) string {
	switch v {
	case checker.Holds:
		return "✓"
	case checker.Violated:
		return "✗"
	case checker.NotApplicable:
		return "·"
	}
	return "?"
}
