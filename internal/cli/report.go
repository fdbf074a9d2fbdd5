package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

const asHTML = "html"

func newReport() *cobra.Command {
	var to reportFile
	var format string
	var over httpOptions
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Make an HTML page from stored runs, debates, cases, sweeps and advice, or serve it",
		Long: `Make one HTML file, readable in any browser without other files, from stored results.
A DIR holds a run or many runs, a debate or comparison, the cases of a hunt, a sweep or
advice (--out of each), or directories with any of these. Debates of several backends are
shown side by side. A history, a case or an advice can also be named directly.

The page shows each row of the debate with the claims of both sides and the observed
verdicts; the full story of violated runs, up to --details; pictures of sweeps and
advice, each also as a table. Runs of a debate that were not stored are repeated in the
simulator. docs/counterexample.md explains how to read the page.

--http ADDR serves the page of what is stored (default: in runs) at /report until Ctrl-C,
made anew whenever it is loaded, and the playground at /, if this program was built with
it: that runs the debate, any scenario of yours and the checker in the browser, lists the
stored runs, and shows a run on real servers while it goes on. Who can reach ADDR, can
read them: 127.0.0.1:PORT is for this machine alone.`,
		Example: `  lockstorm report runs/crash-restart-sim-1
  lockstorm report results/reference results/process --out debate.html
  lockstorm report cases --format text | less
  lockstorm report --http 127.0.0.1:8642 --open`,
		Args: func(cmd *cobra.Command, args []string) error {
			if over.address != "" {
				return nil
			}
			return takes(1, anyNumber)(cmd, args)
		},
	}
	cmd.Flags().StringVar(&to.path, "out", "report.html", "`file` for the page; an existing file is replaced (default for text: standard output)")
	formatFlag(cmd, &format, []string{asHTML, asText}, "")
	to.details(cmd)
	cmd.Flags().StringVar(&over.address, "http", "", "serve the page and the playground at this `HOST:PORT`")
	cmd.Flags().BoolVar(&over.open, "open", false, "with --http: open the page in the browser")
	for _, f := range []string{"out", "format"} {
		cmd.MarkFlagsMutuallyExclusive("http", f)
	}
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if to.most < 0 {
			return fmt.Errorf("--details %d: want at least 0", to.most)
		}
		made := func(ctx context.Context) (*report.Report, error) {
			r, err := report.Of(ctx, dirs, to.options())
			if err == nil {
				r.Title = "Lockstorm: " + r.Title
				to.sign(r, typed(cmd))
			}
			return r, err
		}
		switch {
		case over.address != "":
			if len(dirs) == 0 {
				dirs = []string{"runs"}
			}
			return over.serve(cmd, dirs, func(ctx context.Context) ([]byte, error) {
				var page bytes.Buffer
				r, err := made(ctx)
				if err == nil {
					err = r.Write(&page)
				}
				return page.Bytes(), err
			})
		case over.open:
			return errors.New("--open needs --http")
		}
		printed := format == asText && !cmd.Flags().Changed("out")
		if !printed {
			if err := to.check("out"); err != nil {
				return err
			}
		}
		r, err := made(cmd.Context())
		if err != nil {
			return err
		}
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
