package cli

import (
	"errors"
	"fmt"

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
