package env

import (
	"context"
	crand "crypto/rand"
	"time"
)

// System returns the runtime of the machine that the program runs on: its
// clocks, goroutines for tasks, and crypto/rand. It is the only place in env,
// redlock and internal/rivals where time and randomness come from the machine.
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
