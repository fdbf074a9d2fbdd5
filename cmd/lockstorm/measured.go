package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/storm"
)

// printMeasured prints a short block of measurements.
func printMeasured(out io.Writer, a *storm.Aggregate) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w)
	for _, f := range a.Figures() {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", f.Name, strings.Join(f.Parts, ", "))
	}
	_ = w.Flush()
}

// inWords makes one sentence of measurements.
func inWords(figures []checker.Figure) string {
	parts := make([]string, len(figures))
	for i, f := range figures {
		parts[i] = f.Name + " " + strings.Join(f.Parts, ", ")
	}
	return strings.Join(parts, "; ")
}

// measured reports whether anything was measured where so many properties were judged:
// where only some were asked for nothing is.
func measured(judged int) bool { return judged == len(checker.Properties()) }
