package main

import (
	"context"
	"os"
)

// asked returns a context that ends with the first of some signals. A command that has
// something to round off goes on under its [patient] context, which ends with the second,
// or with the first unless that is Ctrl-C: whoever terminates us does not wait for long.
// Both end with stop at the latest.
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

// patient returns the context under which a command that was asked to end may round off
// what it has begun; without [asked] it is ctx.
func patient(ctx context.Context) context.Context {
	if last, ok := ctx.Value(patientKey{}).(context.Context); ok {
		return last
	}
	return ctx
}
