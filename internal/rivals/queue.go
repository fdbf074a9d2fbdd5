package rivals

import (
	"context"
	"errors"

	"github.com/lockstorm/lockstorm/env"
)

// queue is a scheme in which each try has an entry in the store, which belongs to its
// session. The oldest entry has the lock, and each of the others waits until the entry
// before it is gone: so a release wakes one client. The fence is the revision that created
// the entry.
type queue struct {
	sessions
	key        func(a *attempt) string
	sequential bool // the store completes the key
}

func (q *queue) acquire(ctx context.Context, a *attempt) error {
	return q.inSession(ctx, a, func(ctx context.Context) error {
		if err := q.enqueue(ctx, a); err != nil {
			return err
		}
		for {
			q.setUntil(a)
			before, err := q.before(ctx, a)
			switch {
			case err != nil:
				return err
			case before.Revision == 0:
				return a.check()
			}
			if err := a.await(ctx, before); err != nil {
				return err
			}
		}
	})
}

func (q *queue) enqueue(ctx context.Context, a *attempt) error {
	s := a.member.session
	a.setUntil(s.until())
	there, err := a.create(ctx, env.StoreRequest{Key: q.key(a), Session: s.id, Sequential: q.sequential})
	if errors.Is(err, ErrTaken) && there.Revision == 0 {
		s.end(ErrSession) // there is no other reason to decline
		return ErrSession
	}
	return err
}

// setUntil sets the end of validity for the case that the try is the first. A lock that
// does not check its session treats an expired one as if it had just been kept alive.
func (q *queue) setUntil(a *attempt) {
	m, until := a.mutex, a.member.session.until()
	if q.unchecked && m.now() >= until {
		until = m.validUntil(m.config.TTL)
	}
	a.setUntil(until)
}

// before returns the entry before the try's own, or one with revision 0 if there is none.
func (q *queue) before(ctx context.Context, a *attempt) (before env.Entry, err error) {
	reply, err := a.mutex.ask(ctx, env.StoreRequest{Op: env.StoreList, Key: path(a.resource) + "/"})
	if err != nil {
		return before, err
	}
	for _, e := range reply.Entries {
		if e.Revision == a.entry.Revision {
			return before, nil
		}
		if e.Revision < a.entry.Revision {
			before = e
		}
	}
	if q.unchecked {
		return before, nil
	}
	a.member.session.end(ErrSession) // nothing else takes the try's own entry
	return before, ErrSession
}
