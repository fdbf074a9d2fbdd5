package live

import (
	"context"
	"errors"
	"runtime"

	"github.com/lockstorm/lockstorm/env"
)

// clientStore is a client's [env.Store].
type clientStore struct{ client *client }

// storeOf returns the client's store, or nil.
func storeOf(c *client) env.Store {
	if c.store == nil {
		return nil
	}
	return clientStore{c}
}

// Ask implements [env.Store]. A request is given up according to the client's clock as it
// runs now, as one to a node is.
func (s clientStore) Ask(ctx context.Context, r env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	c := s.client
	c.gate.pass()
	machine, _ := c.clocks.due(env.Monotonic, until)
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(c.over, func() { stop(errRunOver) })()
	if machine != env.Never {
		late, cancel := context.WithTimeoutCause(waiting, machine.Sub(c.clocks.ground.shows(env.Monotonic)), env.ErrTimeout)
		defer cancel()
		waiting = late
	}
	reply, err := c.store.Do(waiting, r)
	cause := context.Cause(waiting)
	c.gate.pass()
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(err, ErrStoreOp):
		c.fail(err)
		runtime.Goexit()
	case ctx.Err() != nil:
		return env.StoreReply{}, ctx.Err()
	case errors.Is(cause, env.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return env.StoreReply{}, env.ErrTimeout
	case errors.Is(err, env.ErrNoLeader):
		return env.StoreReply{}, err
	}
	return env.StoreReply{}, errors.Join(env.ErrStoreLost, err)
}

// errRunOver ends the requests under way when the run is over.
var errRunOver = errors.New("the run is over")
