//go:build linux

// Command flake runs the tests of the project repeatedly under stress, and counts how often
// each fails. "make flake" starts it.
//
// It compiles the tests of each package once, and once more for the race detector. It runs
// each binary in its package's directory, once under each stress, then again. Results are
// stored in a file by the hash of the binary, so that a stopped command can be resumed, and
// changed tests start anew.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/files"
)

// options are the flags.
type options struct {
	patterns []string
	root     string
	modules  []string
	keep     string
	page     string
	runs     int
	abreast  int
	budget   time.Duration
	limit    time.Duration
	chosen   selection
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == spinning {
		spin(os.Stdin)
	}
	runtime.LockOSThread() // see command
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failures, err := flake(ctx, parse(), os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "flake:", err)
		os.Exit(2)
	}
	if failures > 0 {
		os.Exit(1)
	}
}

func parse() (o options) {
	flag.StringVar(&o.keep, "keep", "runs/flake", "`directory` for binaries, results and the output of failed runs")
	flag.StringVar(&o.page, "page", "", "the `file` whose table between <!-- flake --> and <!-- /flake --> is replaced; none if empty")
	flag.IntVar(&o.runs, "runs", 30, "number of runs of each package under each stress")
	flag.IntVar(&o.abreast, "abreast", 1, "number of binaries run in parallel")
	flag.DurationVar(&o.budget, "budget", 0, "time after which no run begins; 0: no limit")
	flag.DurationVar(&o.limit, "limit", 30*time.Minute, "time limit of a run; a longer one fails and prints the stacks of its goroutines")
	flag.StringVar(&o.chosen.skip, "skip", "", "regular `expression` of tests that do not run")
	flag.StringVar(&o.chosen.raced, "raced", "", "`patterns`, separated by spaces, of packages all of whose tests run under the race detector; empty: all")
	flag.StringVar(&o.chosen.others, "race-only", "", "regular `expression` of tests of other packages that run under the race detector")
	modules := flag.String("modules", ". bench", "`directories` of modules, separated by spaces")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, "usage: flake [flags] [packages, such as ./internal/rivals and ./internal/servers/...]\n\nruns the tests of packages under stress, and counts how often each fails\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	o.patterns, o.root, o.modules = flag.Args(), ".", strings.Fields(*modules)
	return o
}

// flake runs the tests until the budget is used up and prints the tables. failures is how many
// of the counted runs failed.
func flake(ctx context.Context, o options, progress io.Writer) (failures int, err error) {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return 0, err
	}
	keep, err := filepath.Abs(o.keep)
	if err != nil {
		return 0, err
	}
	desk, err := openWorkspace(ctx, keep)
	if err != nil {
		return 0, err
	}
	defer desk.close()
	packages, err := listPackages(ctx, root, o.modules)
	if err != nil {
		return 0, err
	}
	jobs, left, err := compileAll(ctx, packages, o, desk.binaries, progress)
	if err != nil {
		return 0, err
	}
	if len(jobs) == 0 {
		return 0, fmt.Errorf("no package with tests is meant by %q", o.patterns)
	}
	err = desk.work(ctx, jobs, o, progress)
	if ctx.Err() != nil {
		err = nil // show the results so far
	}
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		failures += count(desk.kept.of(*j)).failures
	}
	return failures, publish(o, root, jobs, left, desk.kept)
}

// publish prints the tables and replaces those of the page, if there is one.
func publish(o options, root string, jobs []*job, left []string, kept *store) error {
	var text strings.Builder
	writeHeader(&text, o, root, left)
	writeTables(&text, jobs, kept)
	if _, err := os.Stdout.WriteString(text.String()); err != nil || o.page == "" {
		return err
	}
	page, err := os.ReadFile(o.page)
	if err != nil {
		return err
	}
	whole, err := replaceSection(string(page), text.String())
	if err != nil {
		return err
	}
	return files.WriteWhole(o.page, []byte(whole))
}

// writeHeader describes the tables.
func writeHeader(text *strings.Builder, o options, root string, left []string) {
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

// commit returns the commit of the checkout, and whether files differ from it.
func commit(root string) string {
	text, err := command(context.Background(), root, "git", "describe", "--always", "--abbrev=12", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// machine describes the machine.
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
