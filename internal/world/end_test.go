package world

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

func TestEndSaysWhyARunWasCutShort(t *testing.T) {
	going := context.Background()
	ended, cancel := context.WithCancel(going)
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{going, nil, ""},
		{ended, nil, ""}, // it ended by itself before anybody looked
		{ended, context.Canceled, "stopped: context canceled"},
		{ended, errors.New("server 1 died"), "server 1 died"},
		{going, fmt.Errorf("fault 1: %w", context.Canceled), "fault 1: context canceled"},
		{going, errors.New("panic: oh\ngoroutine 7"), "panic: oh"},
	} {
		if e := End(c.ctx, c.err); *e != (history.Event{Kind: history.End, Reason: c.want}) {
			t.Errorf("%v: got %+v", c.err, e)
		}
	}
}
