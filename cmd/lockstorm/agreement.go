package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

func newAgreement() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "agreement DIR DIR…",
		Short: "Compare what saved debates have shown on different backends, row by row",
		Long: `Compare what saved debates ("lockstorm debate --save DIR") have shown on different
backends, row by row, with the first of them: every property of which a row expects
something should have got the same verdict. It says which rows a backend cannot run,
and why, and for each difference the reason that is known of it.

Exit codes: 1 if there is a difference without a reason, or a reason without a
difference; 3 if a row was not decided, or not run.`,
		Example: `  lockstorm agreement results/reference results/process
  lockstorm agreement results/reference results/process --format markdown`,
		Args: cobra.MinimumNArgs(2),
	}
	cmd.Flags().StringVar(&format, "format", asText, "text or markdown")
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if format != asText && format != asMarkdown {
			return fmt.Errorf("unknown format %q: want %s or %s", format, asText, asMarkdown)
		}
		var sides []report.Side
		for _, dir := range dirs {
			s, err := loadSide(dir)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(sides, func(other report.Side) bool { return other.Name == s.Name }) {
				return fmt.Errorf("%s: a debate on %s is there already", dir, s.Name)
			}
			sides = append(sides, s)
		}
		a := report.Agree(scenarios.Topics(), sides, scenarios.Differences())
		v := agreementView{a}
		show := v.text
		if format == asMarkdown {
			show = v.page
		}
		if err := show(cmd.OutOrStdout()); err != nil {
			return err
		}
		return exitFor(a.Conclusion())
	}
	return cmd
}

func loadSide(dir string) (report.Side, error) {
	reference, err := results.LoadReference(dir, results.DebateFile)
	if err != nil {
		return report.Side{}, err
	}
	b, err := findBackend(reference.Backend)
	if err != nil {
		return report.Side{}, fmt.Errorf("%s: %w", dir, err)
	}
	found, err := report.Recall(reference)
	return report.Side{Backend: b.Backend, Found: found, Versions: reference.Versions}, err
}
