package rivals

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// NewCheckThenSet returns a lock that looks whether there is a key (GET), and if
// there is none sets it (SET), for ever; it is released by DEL. That is what one
// writes who takes a key for a boolean variable.
//
// Between the look and the SET another can look as well: both find nothing, both
// set the key, and both hold the lock. The first of them to release it deletes the
// key of the other, and lets a third in. If the holder dies, or the answer to its
// SET is lost, the lock is taken for ever, because the key has no time to live. So
// there is no end of validity either, [Hold.Until]; and no use for
// [Config.TTL], but for its being there.
func NewCheckThenSet(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, checkThenSet{}) }

type checkThenSet struct{ naive }

func (checkThenSet) acquire(ctx context.Context, a *attempt) error {
	a.aim(env.Never)
	looked := a.hearNode(ctx, env.Command{Op: env.OpGet})
	if looked.Answer == env.No {
		return outcome(a.hearNode(ctx, env.Command{Op: env.OpPut}), nil)
	}
	if err := outcome(looked, nil); err != nil {
		return err
	}
	return ErrTaken
}
