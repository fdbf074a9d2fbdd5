package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// printMeasured prints a short block of measurements.
func printMeasured(out io.Writer, a *runner.Aggregate) {
	t := &textfmt.Table{}
	for _, f := range a.Figures() {
		t.Add(f.Name, strings.Join(f.Parts, ", "))
	}
	_, _ = fmt.Fprintln(out)
	printTable(out, t)
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
