// Package cli is the command lockstorm: its verbs, their flags, and what they print.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/spf13/cobra"
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

// The order of the commands is that of newRoot.
func init() { cobra.EnableCommandSorting = false }

func newRoot() *cobra.Command {
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
	group("In CI:", newCI(runLine))
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

// runLine is the [commandLine] of ci.
func runLine(ctx context.Context, args ...string) (code int, out, problems string) {
	var o, p bytes.Buffer
	code = execute(ctx, args, strings.NewReader(""), &o, &p)
	return code, strings.TrimSpace(o.String()), strings.TrimPrefix(strings.TrimSpace(p.String()), "lockstorm: ")
}
