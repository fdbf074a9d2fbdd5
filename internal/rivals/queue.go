package rivals

import (
	"context"
	"errors"

	"github.com/lockstorm/lockstorm/env"
)

// queue is a scheme in which each try has an entry in the store, which its session
// keeps there. The entry that was created first has the lock, and each of the others
// waits for the one before it to go: so a release wakes one client. The revision
// that created the entry is the fence.
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

// setUntil sets the end of validity for when the try proves to be the first. Who does not
// check takes a session that is past its deadline for one that was kept just now.
func (q *queue) setUntil(a *attempt) {
	m, until := a.mutex, a.member.session.until()
	if q.unchecked && m.now() >= until {
		until = m.validUntil(m.config.TTL)
	}
	a.setUntil(until)
}

// before returns the entry before that of the try; its revision is 0 if there is
// none.
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
