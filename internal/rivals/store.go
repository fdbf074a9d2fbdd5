package rivals

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/env"
)

// newStoreMutex is newMutex for a lock in a store.
func newStoreMutex(c Config, p Ports, s scheme) (*Mutex, error) {
	if c.RetryMax == 0 {
		return nil, fmt.Errorf("%w: no retry delay: a store that has no leader is asked again after it", ErrConfig)
	}
	return newMutex(c, p, s)
}

// path returns the name of a resource in the store. It is a single path element, so that
// no resource's entries are below another's.
func path(resource string) string { return pathEscaper.Replace(resource) }

var pathEscaper = strings.NewReplacer("%", "%25", "/", "%2F")

// ask sends a request to the store, and repeats it while the store has no leader, up to
// the timeout. If the error is also [env.ErrNoLeader] the request has no effect; after
// other errors it may have one, now or later.
func (m *Mutex) ask(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	giveUp := m.mono().Add(m.config.NodeTimeout)
	for {
		reply, err := m.Store.Ask(ctx, r, giveUp)
		if err == nil {
			return reply, nil
		}
		if !errors.Is(err, env.ErrNoLeader) || m.mono() >= giveUp || m.wait(ctx, giveUp) != nil {
			return reply, fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
	}
}

// wait sleeps for a retry delay, but not beyond until.
func (m *Mutex) wait(ctx context.Context, until env.Instant) error {
	return m.Runtime.Sleep(ctx, min(m.mono().Add(m.retryDelay()), until))
}

// create creates the entry of the try, whose value is its token. If the reply is lost it
// checks whether the entry exists. With [ErrTaken] it returns the entry that exists
// instead, if there is one.
func (a *attempt) create(ctx context.Context, r env.StoreRequest) (instead env.Entry, err error) {
	r.Op, r.Value = env.StoreCreate, a.token
	a.entry = env.Entry{Key: r.Key}
	reply, err := a.mutex.ask(ctx, r)
	switch {
	case errors.Is(err, env.ErrNoLeader):
		a.entry = env.Entry{}
		return instead, err
	case err != nil:
		found, looking := a.mutex.find(ctx, env.StoreRequest{Key: r.Key}, a.token)
		if looking != nil || found.Revision == 0 {
			return instead, err // the entry may still come: see leftover
		}
		a.entry = found
	case reply.Done:
		a.entry = reply.Entries[0]
	default:
		a.entry = env.Entry{}
		if len(reply.Entries) > 0 {
			instead = reply.Entries[0]
		}
		return instead, ErrTaken
	}
	a.fence = a.entry.Revision
	return instead, nil
}

// find returns the entry with that token, or one with revision 0 if there is none.
func (m *Mutex) find(ctx context.Context, r env.StoreRequest, token string) (env.Entry, error) {
	r.Op = env.StoreList
	reply, err := m.ask(ctx, r)
	for _, e := range reply.Entries {
		if e.Token() == token {
			return e, err
		}
	}
	return env.Entry{}, err
}

// await waits until the entry is gone, and reports the wait to the observer.
func (a *attempt) await(ctx context.Context, e env.Entry) error {
	m := a.mutex
	m.Observer.Observe(a.event(env.StepQueued))
	for {
		// A store that has gone silent is asked again from time to time.
		_, err := m.Store.Ask(ctx, env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision}, m.mono().Add(m.config.TTL))
		if err == nil {
			m.Observer.Observe(a.event(env.StepWoken))
			return nil
		}
		if err := m.wait(ctx, env.Never); err != nil {
			return err
		}
	}
}

// drop deletes the entry of a hold; where nobody can tell whether it is gone, in
// the background.
func (a *attempt) drop(ctx context.Context) (env.Answer, error) {
	e := a.latest()
	reply, err := a.mutex.ask(ctx, env.StoreRequest{Op: env.StoreDelete, Key: e.Key, Revision: e.Revision})
	switch {
	case err != nil:
		a.clear()
		return env.Lost, err
	case !reply.Done:
		return env.No, ErrLost
	}
	return env.Yes, nil
}

// clear deletes in the background what the try has left in the store, or may have, and repeats the
// request until it is answered. An entry that is not there yet may still come: the intervals
// between looks double, so it is found after at most twice the time that it took. A client without
// an answer for a TTL retires its session, so that the entry goes with it.
func (a *attempt) clear() {
	if a.entry.Key != "" {
		a.clearBy(a.delete)
	}
}

// clearBy is clear with another request, which returns what delete does.
func (a *attempt) clearBy(request func(context.Context) error) {
	m := a.mutex
	m.Runtime.Go("clear", func() {
		ctx, begin, pause := context.Background(), m.mono(), m.config.NodeTimeout
		for {
			err := request(ctx)
			if err == nil || a.expired(begin) {
				return
			}
			if errors.Is(err, errAbsent) {
				pause *= 2
			} else if m.mono() >= begin.Add(m.config.TTL) {
				a.member.retire()
			}
			_ = m.Runtime.Sleep(ctx, m.mono().Add(pause))
		}
	})
}

// expired reports whether the try's entry will vanish by itself, even if it is created
// later: a row by its TTL, any other entry with its session.
func (a *attempt) expired(begin env.Instant) bool {
	m := a.mutex
	if a.member == nil {
		return m.mono() >= begin.Add(m.config.TTL)
	}
	return a.member.session.gone()
}

// errAbsent: the entry is not there, and nobody has seen it.
var errAbsent = errors.New("there is no such entry yet")

// delete deletes the entry of the try, and finds it by its value if its revision is unknown, or
// may have changed. It returns nil if the store has confirmed that the entry is gone.
func (a *attempt) delete(ctx context.Context) error {
	if a.latest().Revision == 0 {
		there, err := a.refresh(ctx)
		switch {
		case err != nil:
			return err
		case !there:
			return errAbsent
		}
	}
	for {
		e := a.latest()
		reply, err := a.mutex.ask(ctx, env.StoreRequest{Op: env.StoreDelete, Key: e.Key, Revision: e.Revision})
		if err != nil || reply.Done || !a.renewable {
			return err
		}
		if there, err := a.refresh(ctx); err != nil || !there {
			return err
		}
	}
}

// row is a row for each resource, which exists while somebody holds the lock.
type row struct{}

// NewRow returns the lock of a table in a database, as articles describe it. It deletes
// the rows that are past their TTL, inserts a row under a unique key, and deletes that row
// to release the lock. If the insertion fails, it retries after a random delay. The fence
// is the row's increasing number.
//
// The TTL is measured by the database's clock. A row cannot be extended.
func NewRow(c Config, p Ports) (*Mutex, error) { return newStoreMutex(c, p, row{}) }

func (row) acquire(ctx context.Context, a *attempt) error {
	m, key := a.mutex, path(a.resource)
	a.setUntil(m.validUntil(m.config.TTL))
	if _, err := m.ask(ctx, env.StoreRequest{Op: env.StoreSweep, Key: key}); err != nil {
		return err
	}
	if _, err := a.create(ctx, env.StoreRequest{Key: key, TTL: m.config.TTL}); err != nil {
		return err
	}
	return a.check()
}

func (row) abandon(a *attempt) { a.clear() }

func (row) release(ctx context.Context, h *Hold) (env.Answer, error) { return h.drop(ctx) }
