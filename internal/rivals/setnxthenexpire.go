package rivals

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// NewSetNXThenExpire returns a lock that creates the key (SETNX), gives it a time
// to live (EXPIRE, here in milliseconds) when it has got it, and is released by
// DEL. It is from before SET had options (Redis 2.6.12); the book "Redis in
// Action", section 6.2.5, has it with a cure: whoever finds the lock taken looks
// whether the key has a time to live, and gives it one. Here it is without.
//
// If the client dies between the two, or its EXPIRE is lost, the lock is taken for
// ever. Its release is that of [NewSetNXDel], with the same defect.
//
// The validity is counted from before SETNX. EXPIRE comes later, and so does the
// end of the key's life.
func NewSetNXThenExpire(c Config, p Ports) (*Mutex, error) {
	return newMutex(c, p, setNXThenExpire{})
}

type setNXThenExpire struct{ naive }

func (setNXThenExpire) acquire(ctx context.Context, a *attempt) error {
	ttl := a.mutex.config.TTL
	a.aim(a.mutex.validUntil(ttl))
	if err := outcome(a.hearNode(ctx, env.Command{Op: env.OpAdd}), ErrTaken); err != nil {
		return err
	}
	if err := outcome(a.hearNode(ctx, env.Command{Op: env.OpExpire, TTL: ttl}), ErrLost); err != nil {
		return err
	}
	return a.check()
}
