package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

const asHTML = "html"

func newReport() *cobra.Command {
	var to reportFile
	var format string
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Make an HTML page from stored runs, debates, cases, sweeps and advice",
		Long: `Make one HTML file, readable in any browser without other files, from stored results.
A DIR holds a run or many runs, a debate or comparison (--save), the cases of a hunt,
a sweep or advice (--out), or directories with any of these. Debates of several
backends are shown side by side. A history or a case can also be named directly.

The page shows each row of the debate with the claims of both sides and the observed
verdicts; the full story of violated runs, up to --details; pictures of sweeps and
advice, each also as a table. Runs of a debate that were not stored are repeated in the
simulator. docs/counterexample.md explains how to read the page.

Exit codes: 0 the page is written; 2 bad usage or input.`,
		Example: `  lockstorm report runs/crash-restart-sim-1
  lockstorm report results/reference results/process --out debate.html
  lockstorm report cases --format text | less`,
		Args: takes(1, anyNumber),
	}
	cmd.Flags().StringVar(&to.path, "out", "report.html", "`file` for the page; an existing file is replaced (default for text: standard output)")
	cmd.Flags().StringVar(&format, "format", asHTML, "html or text")
	to.details(cmd)
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if err := checkFormat(format, asHTML, asText); err != nil {
			return err
		}
		printed := format == asText && !cmd.Flags().Changed("out")
		if !printed {
			if err := to.check("out"); err != nil {
				return err
			}
		}
		if to.most < 0 {
			return fmt.Errorf("--details %d: want at least 0", to.most)
		}
		r, err := report.Of(cmd.Context(), dirs, to.options())
		if err != nil {
			return err
		}
		r.Title = "Lockstorm: " + r.Title
		to.sign(r, typed(cmd))
		write := func(w io.Writer) error { return r.Write(w) }
		if format == asText {
			write = func(w io.Writer) error { return r.WriteText(w, terminal.On(cmd.OutOrStdout()).Prose()) }
		}
		if printed {
			return write(cmd.OutOrStdout())
		}
		if err := to.save("out", write); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "written to %s\n", to.path)
		return err
	}
	return cmd
}

// reportFile is the flags for an HTML page: its path, and the number of runs with details.
type reportFile struct {
	path string // empty: there is none
	most int
}

// flag declares --report for a command.
func (f *reportFile) flag(cmd *cobra.Command) {
	f.most = report.DefaultMaxDetails
	cmd.Flags().StringVar(&f.path, "report", "", "`file` for an HTML page with all results; an existing file is replaced")
}

func (f *reportFile) details(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.most, "details", report.DefaultMaxDetails, "maximum `number` of runs shown with their history")
}

// options are those of the page.
func (f reportFile) options() report.Options {
	return report.Options{
		Backend: func(name string) (runner.Backend, error) {
			b, err := findBackend(name)
			return b.Backend, err
		},
		Simulator: backends[0].Backend, MaxDetails: f.most,
	}
}

// check returns an error if the page cannot be written, before anything runs.
func (f reportFile) check(flag string) error {
	return writableFile("--"+flag, f.path)
}

// sign writes the version and the command into the foot of the page.
func (f reportFile) sign(r *report.Report, command string) {
	r.Foot = append(r.Foot, "Made by lockstorm "+version()+": "+command)
}

// typed returns the command with its arguments and the flags that were given.
func typed(cmd *cobra.Command) string {
	args := append(strings.Fields(cmd.CommandPath())[1:], cmd.Flags().Args()...)
	return textfmt.Command(append(args, givenWords(cmd.Flags(), but())...)...)
}

// save writes the page atomically.
func (f reportFile) save(flag string, write func(io.Writer) error) error {
	var text bytes.Buffer
	err := write(&text)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(f.path), 0o755)
	}
	if err == nil {
		err = files.WriteWhole(f.path, text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// after writes the page of a command that ended with err, unless it failed. The exit code stays. A
// command that was stopped gets a page of the results so far, and Ctrl-C while the page is made
// does not take it away.
func (f reportFile) after(cmd *cobra.Command, err error, title string, fill func(context.Context, *report.Report) error) error {
	var verdict verdictError
	if f.path == "" || err != nil && !errors.As(err, &verdict) {
		return err
	}
	r := report.New("Lockstorm: "+title, f.options())
	if failed := fill(patient(cmd.Context()), r); failed != nil {
		return fmt.Errorf("--report: %w", failed)
	}
	f.sign(r, typed(cmd))
	if failed := f.save("report", func(w io.Writer) error { return r.Write(w) }); failed != nil {
		return failed
	}
	_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", f.path)
	return err
}

// page writes text for people, and returns the first write error at the end.
type page struct {
	out io.Writer
	err error
}

func (p *page) say(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// table prints a table between two blank lines.
func (p *page) table(t *textfmt.Table) {
	p.say("")
	t.Markdown(p)
	p.say("")
}

// Write lets a table be printed into the page.
func (p *page) Write(text []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.out.Write(text)
	}
	return len(text), p.err
}

// Screen is what the page is printed on.
func (p *page) Screen() terminal.Screen { return terminal.On(p.out) }

// madeWith names versions, in the order of their names.
func madeWith(versions map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, k+" "+versions[k])
	}
	return strings.Join(parts, ", ")
}
