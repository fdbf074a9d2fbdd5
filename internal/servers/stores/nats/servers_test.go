//go:build linux

package nats

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A request whose reply never comes is sent again.
func TestInsist(t *testing.T) {
	silence := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	refusal := errors.New("no leader")
	for name, script := range map[string][]func(context.Context) error{
		"no reply, twice": {silence, silence},
		"refused":         {func(context.Context) error { return refusal }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
				defer cancel()
				attempts := 0
				err := insist(ctx, func(ctx context.Context) error {
					attempts++
					if attempts <= len(script) {
						return script[attempts-1](ctx)
					}
					return nil
				})
				if err != nil || attempts != len(script)+1 {
					t.Errorf("%d attempts, error %v", attempts, err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := insist(ctx, func(context.Context) error { return refusal }); !errors.Is(err, refusal) {
			t.Errorf("error %v", err)
		}
	})
}
