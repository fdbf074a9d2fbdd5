package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

func newList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List scenarios, locks, workloads, faults, backends and properties",
		Example: "  lockstorm list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.OutOrStdout())
		},
	}
}

func list(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	title := func(s string) { _, _ = fmt.Fprintf(w, "%s\n", s) }
	entry := func(cells ...string) { _, _ = fmt.Fprintf(w, "  %s\n", strings.Join(cells, "\t")) }

	described := func(names []string, what map[string]string) {
		for _, n := range names {
			entry(n, what[n])
		}
	}

	title("Scenarios")
	for _, s := range scenarios.All() {
		entry(s.Name, s.Summary)
	}
	title("\nSeries")
	for _, s := range scenarios.AllSeries() {
		entry(s.Name, s.Summary)
	}
	title("\nSweeps")
	for _, known := range sweeps {
		s, err := known.make()
		if err != nil {
			return err
		}
		entry(s.Name, s.Summary)
	}
	title("\nTrials of compare")
	for _, t := range scenarios.Trials() {
		entry(t.Name, t.Summary)
	}
	title("\nLocks of compare")
	for _, c := range scenarios.Contenders() {
		entry(c.Name, c.Summary)
	}
	title("\nLocks")
	described(storm.Locks())
	title("\nWorkloads")
	described(storm.Workloads())
	title("\nFaults")
	kinds, does := nemesis.Kinds()
	for _, k := range kinds {
		entry(string(k), does[k]+" ("+strings.Join(able(k), ", ")+")")
	}
	title("\nBackends")
	for _, b := range backends {
		entry(b.Name, b.what)
	}
	title("\nClients on real servers")
	for _, c := range whatClientsAre {
		entry(c.name, c.what)
	}
	title("\nProperties")
	for _, p := range checker.Properties() {
		entry(p.String(), p.Code(), p.Title())
	}
	return w.Flush()
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
