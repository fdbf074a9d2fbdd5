package world

import (
	"context"
	"errors"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// End returns the event that closes the history of a run under ctx. err says why
// the run was cut short; nil means that it was not. The event's reason is one line.
func End(ctx context.Context, err error) *history.Event {
	e := &history.Event{Kind: history.End}
	if err == nil {
		return e
	}
	e.Reason, _, _ = strings.Cut(err.Error(), "\n")
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		e.Reason = "stopped: " + e.Reason
	}
	return e
}
