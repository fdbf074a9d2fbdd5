package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR|history.jsonl",
		Short: "Judge a stored history again",
		Long: `Judge a stored history again. The directory of a run brings its scenario's
expectations along; a bare history has none, and a violation is then exit code 1.`,
		Example: "  lockstorm check runs/crash-restart-sim-1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(args[0], cmd.OutOrStdout())
		},
	}
}

func check(path string, out io.Writer) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var run results.Run
	file := path
	if info.IsDir() {
		if run, err = results.Load(path); err != nil {
			return err
		}
		file = filepath.Join(path, results.HistoryFile)
	}
	header, report, err := results.Judge(file)
	if err != nil {
		return err
	}
	s := run.Scenario.Scenario
	if s.Name == "" {
		s = scenarios.Scenario{Name: header.Scenario}
	}
	tally := storm.NewTally(s)
	tally.Add(storm.Result{Scenario: s, Backend: header.Backend, Seed: header.Seed, Report: report, Interrupted: run.Cut})
	printTally(out, tally)
	if differs := differing(run.Verdicts, report.Verdicts()); len(differs) > 0 {
		_, _ = fmt.Fprintf(out, "\nThe verdicts stored with the run were others: %v\n", differs)
		return verdictError(exitContradiction)
	}
	return exitFor(tally.Conclusion())
}

// differing names the properties whose stored verdict is not the new one.
func differing(stored, now checker.Verdicts) []string {
	var list []string
	for _, p := range checker.Properties() {
		if was, ok := stored[p]; ok && was != now[p] {
			list = append(list, fmt.Sprintf("%s was %s", p, was))
		}
	}
	return list
}
