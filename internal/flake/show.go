//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lockstorm/lockstorm/internal/files"
)

// show prints the tables of the results and puts them into the page, if there is one.
func show(o options, root string, jobs []*job, left []string, kept *store) error {
	var text strings.Builder
	about(&text, o, root, left)
	pages(&text, jobs, kept)
	if _, err := os.Stdout.WriteString(text.String()); err != nil || o.page == "" {
		return err
	}
	page, err := os.ReadFile(o.page)
	if err != nil {
		return err
	}
	whole, err := between(string(page), text.String())
	if err != nil {
		return err
	}
	return files.WriteWhole(o.page, []byte(whole))
}

// about says what the tables are of.
func about(text *strings.Builder, o options, root string, left []string) {
	fmt.Fprintf(text, "Commit %s, %s, %s, %d binaries at a time:\n\n```\n$ make flake", commit(root), runtime.Version(), machine(), o.abreast)
	if len(o.patterns) > 0 {
		fmt.Fprintf(text, " PACKAGES='%s'", strings.Join(o.patterns, " "))
	}
	fmt.Fprintf(text, "\n```\n\n")
	for _, s := range stresses {
		fmt.Fprintf(text, "- %s: %s\n", s.name, s.about)
	}
	fmt.Fprintf(text, "\nA cell has the number of runs if all are green; of %d green runs the upper end of Wilson's 95 %% interval is %.1f %%.", o.runs, 100*bound(0, o.runs))
	text.WriteString(" A dash: not run.")
	if o.chosen.skip != "" {
		fmt.Fprintf(text, " Tests whose names match `%s` are left out", o.chosen.skip)
		if len(left) > 0 {
			fmt.Fprintf(text, ", which are all of `%s`", strings.Join(left, "`, `"))
		}
		text.WriteString(".")
	}
	text.WriteString("\n\n")
}

// commit names the commit of the checkout, and whether files differ from it.
func commit(root string) string {
	text, err := command(context.Background(), root, "git", "describe", "--always", "--abbrev=12", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// machine names the class of the machine.
func machine() string {
	model := "unknown processor"
	text, _ := os.ReadFile(filepath.FromSlash("/proc/cpuinfo"))
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%s/%s, %d cores (%s)", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), model)
}
