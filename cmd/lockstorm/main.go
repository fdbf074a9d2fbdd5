// Command lockstorm puts distributed locks into a storm and says what holds.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/storm"
)

// The exit codes.
const (
	exitAsExpected    = 0
	exitContradiction = 1
	exitBadInput      = 2
	exitUndecided     = 3
)

// verdictError ends the program with a code other than 0 after everything has
// been said.
type verdictError int

func (e verdictError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitFor returns the error that makes the program end with the conclusion's
// code.
func exitFor(o storm.Conclusion) error {
	switch o {
	case storm.AsExpected:
		return nil
	case storm.Contradiction:
		return verdictError(exitContradiction)
	}
	return verdictError(exitUndecided)
}

// quiet keeps go-redis from writing to stderr of its own accord: that a
// connection broke is nothing new to whoever broke it.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// gcPercent lets the garbage collector run an eighth as often as usual. What is
// alive is a megabyte or two, however long a campaign lasts, and the collector
// that comes every four megabytes costs a seventh of the time.
const gcPercent = 800

func main() {
	beClient()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := asked(context.Background(), signals)
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	root, told := newRoot(), &outlet{to: out}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(told)
	root.SetErr(problems)
	err := root.ExecuteContext(ctx)
	if told.err != nil { // whatever was found, nobody has seen it
		err = told.err
	}
	var verdict verdictError
	switch {
	case err == nil:
		return exitAsExpected
	case errors.As(err, &verdict):
		return int(verdict)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		_, _ = fmt.Fprintln(problems, "lockstorm: interrupted")
		return exitUndecided
	}
	complain(problems, err)
	return exitBadInput
}

// complain says in one line what is wrong.
func complain(problems io.Writer, err error) {
	_, _ = fmt.Fprintln(problems, "lockstorm:", oneLine.Replace(strings.TrimSpace(err.Error())))
}

// oneLine makes one line of an error that quotes several.
var oneLine = strings.NewReplacer(":\n", ": ", "\n", "; ")

// outlet is the output, and keeps its first error, which those who print do not look at.
type outlet struct {
	to  io.Writer
	err error
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstorm",
		Short: "Put distributed locks into a storm and see what holds",
		Long: `Lockstorm drives a distributed lock with concurrent clients while nodes crash,
links break, clocks jump and clients stand still, and judges from the recorded
history alone what held.

Exit codes: 0 as expected; 1 a verdict contradicts what was expected or, where
nothing was, a property was violated; 2 bad usage or input; 3 undecided.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newDebate(), newAgreement(), newCompare(), newRun(), newSweep(), newMerge(), newTune(), newHunt(), newMutants(), newReplay(), newCheck(), newReport(), newList(), newShow(), newValidate(), newSchema())
	return root
}
