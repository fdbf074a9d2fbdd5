package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

func newList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List scenarios, locks, workloads, faults, backends, properties and assumptions",
		Example: "  lockstorm list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.OutOrStdout())
		},
	}
}

func list(out io.Writer) error {
	terminal.Fit(out)
	gap, t := "", &textfmt.Table{}
	title := func(s string) {
		printTable(out, t)
		_, _ = fmt.Fprintf(out, "%s%s\n", gap, terminal.On(out).Strong(s))
		gap, t = "\n", &textfmt.Table{}
	}
	entry := func(cells ...string) { t.Add(append([]string{"  " + cells[0]}, cells[1:]...)...) }

	described := func(names []string, what map[string]string) {
		for _, n := range names {
			entry(n, what[n])
		}
	}

	title("Scenarios")
	for _, s := range scenarios.All() {
		entry(s.Name, s.Summary)
	}
	title("Series")
	for _, s := range scenarios.AllSeries() {
		entry(s.Name, s.Summary)
	}
	title("Sweeps")
	for _, known := range sweeps {
		s, err := known.make()
		if err != nil {
			return err
		}
		entry(s.Name, s.Summary)
	}
	title("Trials of compare")
	for _, t := range scenarios.Trials() {
		entry(t.Name, t.Summary)
	}
	title("Locks of compare")
	for _, c := range scenarios.Contenders() {
		entry(c.Name, c.Summary)
	}
	title("Locks")
	described(runner.Locks())
	title("Workloads")
	described(runner.Workloads())
	title("Faults")
	kinds, does := nemesis.Kinds()
	for _, k := range kinds {
		entry(string(k), does[k]+" ("+strings.Join(able(k), ", ")+")")
	}
	title("Backends")
	for _, b := range backends {
		entry(b.Name, b.what)
	}
	title("Clients on real servers")
	for _, c := range whatClientsAre {
		entry(c.name, c.what)
	}
	title("Properties")
	for _, p := range checker.Properties() {
		entry(p.String(), p.Code(), p.Title())
	}
	title("Assumptions")
	for _, a := range checker.Assumptions() {
		entry(string(a), a.Text())
	}
	printTable(out, t)
	return nil
}

// able names the backends that can carry out a kind of fault.
func able(k nemesis.Kind) []string {
	var list []string
	for _, b := range backends {
		if slices.Contains(b.Kinds, k) {
			list = append(list, b.Name)
		}
	}
	return list
}
