package locktest

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
)

// Locker is the lock of one client.
type Locker interface {
	// Lock waits until the resource is acquired, the lock gives up or ctx ends. Any error
	// means that it was not acquired.
	//
	// ctx lives as long as the hold, so a lock may tie the hold to it. It is cancelled when
	// the call has not returned after [Config.Patience], and at the end of the hold. A fault of the
	// plan may cancel it at any time, as a server does with the context of a request: then the
	// caller stops its work, and calls Release with another context.
	//
	// In some storms several goroutines call Lock at the same time: see [Config.Callers].
	Lock(ctx context.Context, resource string) (Hold, error)
}

// LockerFunc is a function that implements [Locker].
type LockerFunc func(ctx context.Context, resource string) (Hold, error)

// Lock calls the function.
func (f LockerFunc) Lock(ctx context.Context, resource string) (Hold, error) {
	return f(ctx, resource)
}

// Hold is a grant. Its functions call the user's lock. Those of one Hold are called by one goroutine,
// one after another.
type Hold struct {
	// Release releases the lock. It is called once. nil means that the lock was held until
	// then, [ErrNotHeld] that it was not, and any other error that this is not known.
	Release func(ctx context.Context) error

	// Until is the end of the validity that the lock guarantees, by time.Now. Zero means
	// that only Release or Lost ends the hold. If the lock does not return it and its keys
	// live for env.TTL, it is sent.Add(env.TTL), where sent is when the request was sent
	// that set the key. That may be later than the beginning of a call that retries.
	Until time.Time

	// Extend extends the hold by another TTL and returns the new Until. nil means that the
	// lock cannot do that.
	Extend func(ctx context.Context) (until time.Time, err error)

	// Lost is closed when the lock reports that the hold is lost, as a context's Done. nil
	// means that the lock does not report losses.
	Lost <-chan struct{}

	// Fence is the number of the grant, which grows with every grant. It is passed to the
	// guarded resource. 0 means that there is none.
	Fence uint64

	// Weight is the number of permits that the hold takes, up to [Config.Capacity]. 0 means all of them: an
	// exclusive hold.
	Weight int
}

// Weight returns how many permits a call of Lock asks for: 1 up to one less than [Config.Capacity], or 0 for all of
// them. ctx is the context of the call. Most calls ask for one permit, some for all, some for any other number.
//
//   - A read-write lock is acquired exclusively if that is 0, else shared, with a [Hold] of Weight 1.
//   - A semaphore that can take several permits at once takes so many.
//   - A lock that does not call Weight takes as many as it likes, such as one permit of a semaphore in each call. One
//     that does takes no more than it was asked for.
//
// L1 relies on it: while holds leave fewer permits than a waiting client asks for, nobody has to be granted the lock.
func Weight(ctx context.Context) int { return external.Weight(ctx) }

// ErrNotHeld is returned by Release, possibly wrapped, if the lock was not held any more.
var ErrNotHeld = external.ErrNotHeld
