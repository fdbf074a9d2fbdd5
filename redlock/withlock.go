package redlock

import (
	"context"
	"errors"
)

// WithLock acquires the resource as [Mutex.Lock] does, calls work, and releases
// the resource, whatever becomes of work. The context of work ends when ctx does,
// when the lock is lost, and a margin before its validity ends.
//
// The error is that of acquiring, and then work was not called; or those of
// work and of the release, joined. If the lock was lost while work went on, or
// its validity was about to end, the error is also [ErrLost] or [ErrExpiring],
// even if work has not noticed.
func (m *Mutex) WithLock(ctx context.Context, resource string, work func(ctx context.Context) error) (err error) {
	hold, err := m.lock(ctx, ctx, resource)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.close(ctx)) }()
	return work(hold.Context())
}

// close releases the hold, and says if it had ended before. Whoever acquired it
// may have been cancelled meanwhile; the release must not be.
func (h *Hold) close(ctx context.Context) error {
	var ended error
	if h.ctx.Err() != nil && ctx.Err() == nil {
		ended = context.Cause(h.ctx)
	}
	err := h.Release(context.WithoutCancel(ctx))
	if errors.Is(err, ErrLost) && ended != nil {
		return ended
	}
	return errors.Join(ended, err)
}
