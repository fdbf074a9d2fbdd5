package redlock

import (
	"context"
	"errors"
	"strings"
)

// This file keeps tokens out of logs and traces, and separates routine errors from others.

// routine lists what a lock fails for in daily work. What is not listed is
// trouble, so that an error nobody has thought of is seen.
var routine = [...]error{ErrTaken, ErrReleased, context.Canceled, context.DeadlineExceeded}

// Routine reports whether an acquisition or an extension has failed for what
// comes again and again while all is well: another holds the lock ([ErrTaken]), the
// caller's context has ended, or the hold was released meanwhile ([ErrReleased]).
// Any other failure is worth a look at the nodes or the network.
func Routine(err error) bool {
	for _, known := range routine {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// shownDigits is how many digits of a token are told: enough to tell holds
// apart, and far too few to act as their holder.
const shownDigits = 8

// ShortToken returns what may be told of a token, by which the records of one hold
// are found: its first 8 digits of 40, and of a shorter one a fifth.
func ShortToken(token string) string { return token[:min(shownDigits, len(token)/5)] }

// ErrorText returns the text of an error with [ShortToken] in the token's place:
// Redis quotes the arguments of a command that it does not know.
func ErrorText(err error, token string) string {
	return strings.ReplaceAll(err.Error(), token, ShortToken(token))
}
