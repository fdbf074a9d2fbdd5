package redisnode

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// round is the replies to one Send.
type round struct {
	runtime env.Runtime
	replies chan env.Reply // has room for all, so that no request waits for us
	left    int            // not yet returned by Next
	timer   *time.Timer    // of the last wait that had an end; nil: none has
	ends    env.Instant    // when it goes off
}

func newRound(runtime env.Runtime, asked int) *round {
	return &round{runtime: runtime, replies: make(chan env.Reply, asked), left: asked}
}

// Next returns the next reply; see [env.Round]. A round that is over says so
// whatever has become of ctx and until.
func (r *round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if r.left == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	if reply, ok := r.waiting(); ok {
		return reply, nil
	}
	reply, err := r.wait(ctx, until)
	if err == nil {
		return reply, nil
	}
	if reply, ok := r.waiting(); ok { // it came together with the end of the wait
		return reply, nil
	}
	return env.Reply{}, err
}

// waiting returns a reply that is already there.
func (r *round) waiting() (env.Reply, bool) {
	select {
	case reply := <-r.replies:
		r.left--
		return reply, true
	default:
		return env.Reply{}, false
	}
}

func (r *round) wait(ctx context.Context, until env.Instant) (env.Reply, error) {
	if err := ctx.Err(); err != nil {
		return env.Reply{}, err
	}
	select {
	case reply := <-r.replies:
		r.left--
		return reply, nil
	case <-r.timeout(until):
		r.timer = nil
		return env.Reply{}, env.ErrTimeout
	case <-ctx.Done():
		return env.Reply{}, ctx.Err()
	}
}

// timeout returns what tells that the instant has come. Who waits for several replies
// mostly does so to the same instant, and has one timer for it. It need not be stopped:
// the runtime heeds a timer only while somebody waits for it.
func (r *round) timeout(until env.Instant) <-chan time.Time {
	if until == env.Never {
		return nil
	}
	if r.timer == nil || r.ends != until {
		r.timer, r.ends = time.NewTimer(until.Sub(r.runtime.Now(env.Monotonic))), until
	}
	return r.timer.C
}
