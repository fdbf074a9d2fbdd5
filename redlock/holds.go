package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Holds are several locks that were acquired together.
type Holds struct {
	list []*Hold // in the order of their resources
}

// LockAll acquires all of the resources or none: if one cannot be acquired, it releases the
// others. It acquires them in the order of their names, so that two callers never wait for each
// other. A resource that is named twice is acquired once. The error names the resource.
//
// The validity of the first lock is running while the last is acquired. With many resources or
// much contention, use a long TTL or a watchdog.
func (m *Mutex) LockAll(ctx context.Context, resources ...string) (*Holds, error) {
	return m.lockAll(ctx, context.WithoutCancel(ctx), resources)
}

func (m *Mutex) lockAll(ctx, base context.Context, resources []string) (*Holds, error) {
	if len(resources) == 0 {
		return nil, fmt.Errorf("%w: no resource to lock", ErrConfig)
	}
	h := &Holds{}
	for _, resource := range slices.Compact(slices.Sorted(slices.Values(resources))) {
		// Each hold's context derives from the previous one, so the last context ends
		// when any of the locks ends.
		hold, err := m.lock(ctx, base, resource)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%q: %w", resource, err), ignoreLost(h.Release(context.WithoutCancel(ctx))))
		}
		h.list = append(h.list, hold)
		base = hold.ctx
	}
	if cause := context.Cause(h.Context()); cause != nil {
		return nil, errors.Join(fmt.Errorf("while the others were acquired: %w", cause), ignoreLost(h.Release(context.WithoutCancel(ctx))))
	}
	return h, nil
}

// ignoreLost drops the error of a release whose lock was already lost.
func ignoreLost(err error) error {
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// Each returns the holds, in the order of their resources.
func (h *Holds) Each() []*Hold { return slices.Clone(h.list) }

// Context returns a context that ends when the first of the holds ends; see [Hold.Context].
func (h *Holds) Context() context.Context { return h.list[len(h.list)-1].ctx }

// Until returns the earliest end of validity; see [Hold.Until].
func (h *Holds) Until() env.Instant {
	until := env.Never
	for _, hold := range h.list {
		until = min(until, hold.Until())
	}
	return until
}

// Extend extends the holds one after another; see [Hold.Extend]. It stops at the first error.
func (h *Holds) Extend(ctx context.Context, ttl time.Duration) error {
	for _, hold := range h.list {
		if err := hold.Extend(ctx, ttl); err != nil {
			return fmt.Errorf("%q: %w", hold.Resource(), err)
		}
	}
	return nil
}

// Release releases all holds, the last acquired first, and joins the errors; see [Hold.Release].
func (h *Holds) Release(ctx context.Context) error {
	var errs []error
	for _, hold := range slices.Backward(h.list) {
		if err := hold.Release(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", hold.Resource(), err))
		}
	}
	return errors.Join(errs...)
}
