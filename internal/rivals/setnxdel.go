package rivals

import "context"

// NewSetNXDel returns a lock that creates the key with its time to live at once
// (SET NX PX), and is released by DEL. The page of the command SET on redis.io
// shows it first ("SET resource-name anystring NX EX max-lock-time"), and then why
// it should be more robust.
//
// A holder who is late deletes a key that is not its own any more: its lock has
// expired, another has got it, and is now without; a third gets in. And it is told
// that it still held the lock.
func NewSetNXDel(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, setNXDel{}) }

type setNXDel struct{ naive }

func (setNXDel) acquire(ctx context.Context, a *attempt) error { return a.setForTTL(ctx) }
