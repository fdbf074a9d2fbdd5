package env

import (
	"context"
	"errors"
)

// Runtime is the machine that one client runs on: its clocks, its sleep, its
// background tasks and its source of randomness. Tasks are paused and killed
// together with their client.
//
// Contexts passed to a Runtime, a [Round] or a [Task] may be cancelled by the
// client's own code. Contexts with a deadline or with context.AfterFunc follow
// the machine's clock instead of the client's and must not be used in code that is
// to run in a simulator: build a time limit from the until of [Round.Next], or
// from Go and Sleep. In production any context will do.
type Runtime interface {
	// Now reads one of the client's clocks.
	Now(Clock) Instant

	// Sleep returns nil once the monotonic clock has reached until, or the
	// error of ctx as soon as ctx ends.
	Sleep(ctx context.Context, until Instant) error

	// Go runs f beside the caller. The name appears in diagnostics only.
	Go(name string, f func()) Task

	// Random fills p with random bytes.
	Random(p []byte)
}

// Task is background work started by [Runtime.Go].
type Task interface {
	// Wait returns nil once the task has returned, or the error of ctx as
	// soon as ctx ends.
	Wait(ctx context.Context) error
}

// ErrTimeout is returned by [Round.Next] when its until has come.
var ErrTimeout = errors.New("no reply in time")

// ErrRoundOver is returned by [Round.Next] when every node that was asked has
// been reported.
var ErrRoundOver = errors.New("every node has been reported")
