package rivals

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// expiringKey is a key for each resource, which the store deletes when its time is over.
type expiringKey struct{}

// NewExpiringKey returns the lock of stores whose keys expire by themselves, such as
// Redis with failover: the client creates the key with its
// token, extends the hold by an update at the key's revision, and deletes the key at its latest
// revision to release the lock. If the key exists, the client retries after a random delay. The
// fence is the revision that created the key.
//
// The TTL is measured by the store.
func NewExpiringKey(c Config, p Ports) (*Mutex, error) { return newStoreMutex(c, p, expiringKey{}) }

func (expiringKey) acquire(ctx context.Context, a *attempt) error {
	m := a.mutex
	a.renewable = true
	a.setUntil(m.validUntil(m.config.TTL))
	if _, err := a.create(ctx, env.StoreRequest{Key: path(a.resource), TTL: m.config.TTL, Expires: true}); err != nil {
		return err
	}
	return a.check()
}

func (expiringKey) abandon(a *attempt) { a.clear() }

// errOvertaken is the error of an extension that others of the same hold have overtaken for a TTL. Where
// requests take longer than the time between extensions, that could go on for ever.
var errOvertaken = errors.New("other extensions of the hold were ahead each time")

func (expiringKey) extend(ctx context.Context, h *Hold, ttl time.Duration) (env.Instant, error) {
	return h.renew(ctx, ttl, func(e env.Entry) env.StoreRequest {
		return env.StoreRequest{Op: env.StoreRenew, Key: e.Key, Revision: e.Revision, TTL: ttl}
	})
}

// renew sends a request that renews the entry at its revision, again if it has another one, and returns the new
// end of validity.
func (h *Hold) renew(ctx context.Context, ttl time.Duration, request func(env.Entry) env.StoreRequest) (env.Instant, error) {
	m := h.mutex
	for end := m.mono().Add(m.config.TTL); ; {
		until := m.validUntil(ttl)
		reply, err := m.ask(ctx, request(h.latest()))
		switch {
		case err != nil:
			return 0, err
		case reply.Done:
			h.follow(reply.Entries[0])
			return until, nil
		}
		there, err := h.refresh(ctx)
		if err == nil && !there {
			err = ErrLost
			h.lose(err)
		}
		if err == nil && m.mono() >= end {
			err = errOvertaken
		}
		if err != nil {
			return 0, err
		}
	}
}

func (expiringKey) release(ctx context.Context, h *Hold) (env.Answer, error) {
	for {
		answer, err := h.drop(ctx)
		if answer != env.No {
			return answer, err
		}
		there, looking := h.refresh(ctx)
		switch {
		case looking != nil:
			h.clear()
			return env.Lost, looking
		case !there:
			return env.No, err
		}
	}
}

// latest returns the try's entry with its latest known revision.
func (a *attempt) latest() env.Entry {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	return a.entry
}

// follow notes the revision of a renewed entry. Renewals may be answered in any order: the
// latest revision counts.
func (a *attempt) follow(e env.Entry) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	if e.Revision > a.entry.Revision {
		a.entry = e
	}
}

// refresh finds the entry of a try after a request that was declined: a renewal whose
// reply was lost, or that was sent at the same time, has changed the revision, or the store
// has gone back to an earlier one. It reports whether the entry still exists.
func (a *attempt) refresh(ctx context.Context) (there bool, err error) {
	found, err := a.mutex.find(ctx, env.StoreRequest{Key: a.latest().Key}, a.token)
	if err != nil || found.Revision == 0 {
		return false, err
	}
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	a.entry = found
	return true, nil
}
