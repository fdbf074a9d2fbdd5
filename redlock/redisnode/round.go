package redisnode

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// round collects the replies to one Send.
type round struct {
	runtime env.Runtime
	replies chan env.Reply // has room for all replies, so that no sender blocks
	left    int            // not yet returned by Next
	timer   *time.Timer    // of the last wait that had an end; nil: none
	ends    env.Instant    // when the timer fires
}

func newRound(runtime env.Runtime, asked int) *round {
	return &round{runtime: runtime, replies: make(chan env.Reply, asked), left: asked}
}

// Next returns the next reply; see [env.Round]. [env.ErrRoundOver] takes precedence over the end
// of ctx and until.
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
	if reply, ok := r.waiting(); ok { // it arrived as the wait ended
		return reply, nil
	}
	return env.Reply{}, err
}

// waiting returns a reply that has already arrived.
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

// timeout returns a channel that receives when the instant has come. Consecutive waits mostly
// end at the same instant and share one timer. The timer need not be stopped: the runtime
// collects a timer that nobody waits for.
func (r *round) timeout(until env.Instant) <-chan time.Time {
	if until == env.Never {
		return nil
	}
	if r.timer == nil || r.ends != until {
		r.timer, r.ends = time.NewTimer(until.Sub(r.runtime.Now(env.Monotonic))), until
	}
	return r.timer.C
}
