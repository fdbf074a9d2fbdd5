//go:build linux

package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// slowRound has its reply at the second call only.
type slowRound struct {
	asked  int
	during func() // what happens while Next waits
}

func (r *slowRound) Next(context.Context, env.Instant) (env.Reply, error) {
	r.asked++
	if r.asked == 1 {
		r.during()
		return env.Reply{}, env.ErrTimeout
	}
	return env.Reply{Node: 1, Answer: env.Yes}, nil
}

func TestResumedClientSeesRepliesBeforeItsDeadline(t *testing.T) {
	g := newGate(t.Context())
	replies := &slowRound{during: func() {
		g.pause()
		time.AfterFunc(20*time.Millisecond, g.resume)
	}}
	if reply, err := (clientRound{g, newClocks(newGround(nil)), replies}).Next(t.Context(), 0); err != nil || reply.Answer != env.Yes {
		t.Errorf("%+v, %v: the reply came during the pause, as did the end of the wait", reply, err)
	}
}

func TestClientThatRunsSeesItsDeadline(t *testing.T) {
	replies := &slowRound{during: func() {}}
	if _, err := (clientRound{newGate(t.Context()), newClocks(newGround(nil)), replies}).Next(t.Context(), 0); !errors.Is(err, env.ErrTimeout) {
		t.Error(err)
	}
}
