// Package cli is the command lockstorm: its verbs, their flags, and what they print.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// gcPercent makes the garbage collector run an eighth as often as usual. The live heap is a
// megabyte or two, and a collection every four megabytes would take a seventh of the time.
const gcPercent = 800

// Main runs the command line of this process, and ends the process with its exit code. Locks in those
// stores can run on real servers.
func Main(known ...*live.StoreServers) {
	stores = known
	beClient()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	// With SIGPIPE, "lockstorm run … | head" would end the process before it has written the page
	// and removed what it made. Children get the default back.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := asked(context.Background(), signals)
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, stderr)
	stop()
	os.Exit(code)
}

// stderr is what Main passes to execute. Tests wrap it.
var stderr io.Writer = os.Stderr

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	root := newRoot()
	told, said := terminal.Outputs(out, problems, os.Getenv)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(told)
	root.SetErr(said)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	told.OnError(stop) // what nobody can read is not worth the work
	err := root.ExecuteContext(ctx)
	if failed := told.Close(); failed != nil && (!errors.Is(failed, syscall.EPIPE) || !isVerdict(err)) {
		err = failed // whatever was found, nobody has seen it; or nobody wants to
	}
	var verdict verdictError
	switch {
	case err == nil:
		return exitAsExpected
	case errors.As(err, &verdict):
		return int(verdict)
	case errors.Is(err, syscall.EPIPE): // the reader knows that it has gone
		return exitUndecided
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		_, _ = fmt.Fprintln(problems, "lockstorm: interrupted")
		return exitUndecided
	}
	complain(problems, err)
	return exitBadInput
}

// complain prints an error in one line. Its text may be a user's, a file's or a program's.
func complain(problems io.Writer, err error) {
	text := redacted(textfmt.Printable(oneLine.Replace(strings.TrimSpace(err.Error()))))
	text = together.ReplaceAllString(text, "--$1 and --$2: want one of them")
	if unknown := new(textfmt.UnknownError); errors.As(err, &unknown) && !unknown.Few() {
		text += fmt.Sprintf(` ("lockstorm %s" names all)`, listOf(unknown.What))
	}
	_, _ = fmt.Fprintln(problems, "lockstorm:", text)
}

// oneLine puts an error of several lines into one.
var oneLine = strings.NewReplacer(":\n", ": ", "\n", "; ")

// together matches cobra's error about flags that exclude each other.
var together = regexp.MustCompile(`^if any flags in the group .* \[(\S+) (\S+)\] were all set$`)

// redacted hides user names and passwords of URLs in a text.
func redacted(text string) string { return credentials.ReplaceAllString(text, "://…@") }

var credentials = regexp.MustCompile(`://[^\s"']*@`)

func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use:   "lockstorm",
		Short: "Test distributed locks under faults, and see which properties hold",
		Long: `Lockstorm runs concurrent clients against a distributed lock while nodes crash, links
fail, clocks jump and clients pause, records a history, and decides from the history
alone which properties held.

` + exitCodes,
		Example: `  lockstorm run crash-restart
  lockstorm debate
  lockstorm hunt --lock single-node --budget 10s`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,

		SuggestionsMinimumDistance: 2,
		Args:                       knownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().String(colourFlag, string(terminal.Auto), "when to colour verdicts: auto (on a terminal, unless NO_COLOR is set), always, never")
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return cmp.Or(colour(cmd), checkCommon(cmd)) }
	group := func(task string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: task, Title: task})
		for _, c := range commands {
			c.GroupID = task
			root.AddCommand(c)
		}
	}
	group("Try:", newRun(), newDebate(), newCompare(), newReplay())
	group("Test your lock:", newTest(), newCheck())
	group("Search:", newHunt(), newExplore(), newRare())
	group("Measure:", newSweep(), newTune(), newDoctor())
	group("Read:", newReport(), newList())
	group("In CI:", newCI())
	root.SetVersionTemplate(versionText())
	ownCommands(root)
	completed(root)
	return root
}

// knownCommand returns an error for an unknown command, with the commands of similar names.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w: did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}

// colourFlag is the name of the flag for colours, spelt as other programs spell it.
const colourFlag = "color"

// colour applies the flag for colours to the output.
func colour(cmd *cobra.Command) error {
	text, err := cmd.Flags().GetString(colourFlag)
	if err != nil {
		return err
	}
	when, err := terminal.ParseWhen(text)
	if err != nil {
		return fmt.Errorf("--%s %w", colourFlag, err)
	}
	if out, is := cmd.OutOrStdout().(*terminal.Output); is {
		out.Coloured(when)
	}
	return nil
}

// asked returns a context that ends with the first signal. A command that has to finish something
// goes on under its [patient] context, which ends with the second signal, or with the first unless
// that is Ctrl-C, because a process that terminates us does not wait for long. Both end with stop
// at the latest.
func asked(parent context.Context, signals <-chan os.Signal) (ctx context.Context, stop func()) {
	last, end := context.WithCancel(parent)
	ctx, cancel := context.WithCancel(context.WithValue(parent, patientKey{}, last))
	go func() {
		defer end()
		defer cancel()
		select {
		case s := <-signals:
			if s != os.Interrupt {
				return
			}
		case <-last.Done():
			return
		}
		cancel()
		select {
		case <-signals:
		case <-last.Done():
		}
	}()
	return ctx, end
}

type patientKey struct{}

// patient returns the context under which a command may finish its work after a signal; without
// [asked] it is ctx.
func patient(ctx context.Context) context.Context {
	if last, ok := ctx.Value(patientKey{}).(context.Context); ok {
		return last
	}
	return ctx
}
