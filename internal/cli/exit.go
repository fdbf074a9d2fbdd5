package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// The exit codes. They mean the same in every command.
const (
	exitAsExpected    = 0
	exitContradiction = 1
	exitBadInput      = 2
	exitUndecided     = 3
)

// exitCodes is the table of "lockstorm --help". The help of a command says only what a contradiction is there.
const exitCodes = `Exit codes, the same for every command:
  0  as expected: what was run, checked or measured is as expected or promised
  1  contradiction: a property is violated that was expected or promised to hold, or
     about which nothing was expected; or something else differs from what was stated
  2  bad usage or input, or something could not be run
  3  undecided: stopped, out of time, or the runs show too little`

// verdictError ends the program with a code other than 0 after all output.
type verdictError int

func (e verdictError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// isVerdict reports whether an error is no error but an exit code.
func isVerdict(err error) bool {
	var verdict verdictError
	return err == nil || errors.As(err, &verdict)
}

// exitFor returns the error that ends the program with the conclusion's code.
func exitFor(o runner.Conclusion) error {
	switch o {
	case runner.AsExpected:
		return nil
	case runner.Contradiction:
		return verdictError(exitContradiction)
	}
	return verdictError(exitUndecided)
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
