package env

import (
	"context"
	crand "crypto/rand"
	"errors"
	"time"
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

// System returns the runtime of the machine that the program runs on: its
// clocks, goroutines for tasks, and crypto/rand. It is the only place in env,
// redlock and locks where time and randomness come from the machine.
func System() Runtime { return system{} }

type system struct{}

// Now reads absolute CLOCK_MONOTONIC and CLOCK_BOOTTIME where the system has
// them, so that readings can be compared across the processes of one machine.
func (system) Now(c Clock) Instant {
	switch c {
	case Boottime:
		return boottime()
	case Wall:
		return Instant(time.Now().UnixNano())
	}
	return monotonic()
}

func (s system) Sleep(ctx context.Context, until Instant) error {
	d := until.Sub(s.Now(Monotonic))
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (system) Go(_ string, f func()) Task {
	t := make(task)
	go func() {
		defer close(t)
		f()
	}()
	return t
}

func (system) Random(p []byte) { _, _ = crand.Read(p) } // never fails since Go 1.24

type task chan struct{}

func (t task) Wait(ctx context.Context) error {
	select {
	case <-t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
