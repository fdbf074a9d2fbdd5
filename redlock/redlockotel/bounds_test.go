package redlockotel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// Tries that are over are forgotten with time: requests on their behalf hang on them
// as long as they are remembered, and have no span after that.
func TestOldTriesAreForgotten(t *testing.T) {
	telemetry, r := recorded(t)
	o, nodes := telemetry.Observer(nil), telemetry.Nodes(refusing{})
	const tries = 5000
	for i := range tries {
		token := fmt.Sprintf("%010d", i)
		o.Observe(env.Event{Step: env.StepAcquire, Token: token})
		o.Observe(env.Event{Step: env.StepRefused, Token: token, Err: redlock.ErrTaken})
	}
	ask := func(try int) (spans int) {
		before := len(r.Ended())
		_, _ = nodes.Send(1, env.Command{Op: env.OpDelete, Token: fmt.Sprintf("%010d", try)}, 0).Next(context.Background(), 0)
		return len(r.Ended()) - before
	}
	for try, want := range map[int]int{0: 0, tries - 4097: 0, tries - 4096: 1, tries - 1: 1} {
		if got := ask(try); got != want {
			t.Errorf("try %d of %d: %d spans, want %d", try, tries, got, want)
		}
	}
}
