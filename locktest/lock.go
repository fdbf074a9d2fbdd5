package locktest

import (
	"context"
	"errors"
	"time"
)

// Locker is one client's lock.
type Locker interface {
	// Lock waits until the resource is acquired, the lock gives up or ctx ends. An error
	// says that it was not acquired, whatever it is.
	//
	// ctx lives on behind the call, as long as the hold does: a lock may tie the hold to
	// it. It is cancelled when the call has not returned after [Config.Patience], when a
	// fault of the plan cancels the call, and at the end of the hold.
	Lock(ctx context.Context, resource string) (Hold, error)
}

// LockerFunc is a function that is a [Locker].
type LockerFunc func(ctx context.Context, resource string) (Hold, error)

// Lock calls the function.
func (f LockerFunc) Lock(ctx context.Context, resource string) (Hold, error) {
	return f(ctx, resource)
}

// Hold is what a grant is, in functions that call the lock's own. All are called by one
// goroutine, one after another.
type Hold struct {
	// Release lets the lock go. Nil says that it was still held until then, [ErrNotHeld]
	// that it was not, any other error that nobody knows. It is called once.
	Release func(ctx context.Context) error

	// Until is the end of the validity that the lock vouches for, by time.Now. Zero:
	// nothing but Release or Lost ends the hold. Of a lock that tells none, and whose keys
	// live for env.TTL, it is sent.Add(env.TTL), where sent is when the request was sent
	// that has set the key: not when a call began that has tried many times.
	Until time.Time

	// Extend asks for another TTL, and returns the new end of validity, which is as Until
	// is. Nil: the lock cannot.
	Extend func(ctx context.Context) (until time.Time, err error)

	// Lost is closed when the lock tells its holder that it is lost; a context's Done
	// will do. Nil: the lock does not tell.
	Lost <-chan struct{}

	// Fence is the number that came with the grant, of which a later one has a larger; it
	// is shown to the guarded resource. 0: there is none.
	Fence uint64
}

// ErrNotHeld is what Release returns, wrapped or not, where the lock was not held any more.
var ErrNotHeld = errors.New("the lock is not held any more")
