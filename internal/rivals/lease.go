package rivals

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// LeaseConfig is that of [NewKubernetesLease]. The TTL is client-go's LeaseDuration. The TTL less
// the allowance is its RenewDeadline: client-go has no other allowance for clock error. The node
// timeout is that of a request, and the retry delay is that of candidates, for which client-go
// draws 1 to 2.2 retry periods.
type LeaseConfig struct {
	Config

	// RetryPeriod is the time from the end of one renewal, or attempt at it, to the next.
	RetryPeriod time.Duration
}

// leaseJitter is client-go's JitterFactor.
const leaseJitter = 1.2

// Validate returns an [ErrConfig] that names the first value that cannot be.
func (c LeaseConfig) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	deadline := c.renewDeadline()
	if c.RetryPeriod <= 0 || time.Duration(leaseJitter*float64(c.RetryPeriod)) >= deadline {
		return fmt.Errorf("%w: a renewal every %v: want more than 0, and that %v of it are less than the deadline of renewals, %v", ErrConfig, c.RetryPeriod, leaseJitter, deadline)
	}
	return nil
}

// renewDeadline is client-go's RenewDeadline.
func (c LeaseConfig) renewDeadline() time.Duration { return c.TTL - c.Allowance }

// lease is a record for each resource, which stays in the store when nobody holds the lock.
type lease struct {
	LeaseConfig
	observed map[string]observation // by resource; guarded by the mutex's mu

	byRevision bool // a record with another revision is a new one, whatever it contains
}

// observation is a record that the client has seen or written last.
type observation struct {
	env.Entry
	leaseRecord
	since env.Instant // when it did first, on the lock's clock
}

// expired reports whether the record has not changed for as long as its holder has asked for.
func (o observation) expired(now env.Instant) bool { return now >= o.since.Add(o.duration) }

// NewKubernetesLease returns the lock of Kubernetes' controllers: the leader election of client-go
// (tools/leaderelection, v0.34 to v0.37) by a Lease object. The object is a record that stays. A
// candidate that sees another holder in it waits until the record has not changed for the holder's
// LeaseDuration, on its own clock, and then replaces it by a compare-and-swap. So no clock is
// compared with another; only their rates matter. The holder renews the record every RetryPeriod
// while it holds the lock. The fence is the number of changes of the holder (leaseTransitions) and
// 1, which client-go does not use.
//
// As there:
//
//   - The holder relies on the lock until RenewDeadline after the retry period that follows the
//     reply to a renewal. The record can have changed earlier by the time that the reply took, so
//     LeaseDuration must exceed RenewDeadline, RetryPeriod and that time together. With the
//     defaults of 15, 10 and 2 s, and requests of up to 5 s, it does not.
//   - A holder that reads that another client has taken over goes on to its deadline.
//   - A release reads the record, and empties it if the client has last seen itself as the
//     holder. So a holder that stood still, and releases before it renews, takes the lock from the
//     next one, who goes on, and lets a third in. (Before v0.34 a release was a compare-and-swap at
//     the revision that the holder had written.)
//   - A wall clock that stands still makes renewals that change nothing, so that others take over.
//
// Some things differ. A token stands for the identity of a client, so each try is one. A try that does
// not know whether it is the holder empties the record in the background, where client-go tries again
// under the same identity. A holder that stood still goes on in client-go for another RenewDeadline,
// while it tries to renew; here its deadline is over, and it only reads the record. One that has given
// up releases at once in client-go, if at all, and its context ends after that; here the context ends at
// the deadline, and then the user releases only what is still its own. client-go counts in whole
// seconds, this lock in milliseconds.
func NewKubernetesLease(c LeaseConfig, p Ports) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return newStoreMutex(c.Config, p, &lease{LeaseConfig: c, observed: map[string]observation{}})
}

func (l *lease) acquire(ctx context.Context, a *attempt) error {
	m := a.mutex
	a.renewable = true
	a.setUntil(m.validUntil(m.config.TTL))
	if err := l.claim(ctx, a); err != nil {
		return err
	}
	a.until = m.validUntil(m.config.TTL) // the first round of renewals begins now
	a.fence = l.seen(a).transitions + 1
	return a.check()
}

// claim acquires the lock or renews it, once.
func (l *lease) claim(ctx context.Context, a *attempt) error {
	m := a.mutex
	now := m.now()
	if o := l.seen(a); o.holder == a.token && !o.expired(now) && l.write(ctx, a, o) == nil {
		return nil
	}
	there, err := l.read(ctx, a)
	if err != nil {
		return err
	}
	o, err := l.observe(a, there)
	switch {
	case err != nil:
		return err
	case o.holder != "" && o.holder != a.token && !o.expired(now):
		return ErrTaken
	}
	return l.write(ctx, a, o)
}

// write makes the try the holder in the record that was observed, or creates the record if there
// was none, and observes the result.
func (l *lease) write(ctx context.Context, a *attempt, o observation) error {
	m := a.mutex
	now := m.Runtime.Now(env.Wall)
	record := leaseRecord{holder: a.token, duration: m.config.TTL, acquired: now, renewed: now, transitions: o.transitions}
	switch {
	case o.Revision == 0:
	case o.holder == a.token:
		record.acquired = o.acquired
	default:
		record.transitions++
	}
	r := env.StoreRequest{Op: env.StoreUpdate, Key: path(a.resource), Revision: o.Revision, Value: record.String()}
	if o.Revision == 0 {
		r.Op = env.StoreCreate
	}
	a.note(env.Entry{Key: r.Key, Revision: o.Revision})
	reply, err := m.ask(ctx, r)
	switch {
	case errors.Is(err, env.ErrNoLeader) || err == nil && !reply.Done:
		if o.holder != a.token {
			a.note(env.Entry{})
		}
		if err == nil {
			err = ErrTaken
		}
	case err == nil:
		a.note(reply.Entries[0])
		_, err = l.observe(a, reply.Entries[0])
	}
	return err
}

// note notes the try's entry. Before a write is answered its revision is the one that it replaces.
func (a *attempt) note(e env.Entry) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	a.entry = e
}

// read returns the record's entry, or one with revision 0 if there is none.
func (l *lease) read(ctx context.Context, a *attempt) (there env.Entry, err error) {
	key := path(a.resource)
	reply, err := a.mutex.ask(ctx, env.StoreRequest{Op: env.StoreList, Key: key})
	for _, e := range reply.Entries {
		if e.Key == key {
			there = e
		}
	}
	return there, err
}

// seen returns the record of the try's resource as it was observed last.
func (l *lease) seen(a *attempt) observation {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	return l.observed[a.resource]
}

// observe notes a record that was read or written. Only one with another content is a new one, unless the revision
// decides.
func (l *lease) observe(a *attempt, e env.Entry) (observation, error) {
	m := a.mutex
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	o := l.observed[a.resource]
	if o.Value != e.Value || o.Revision == 0 || l.byRevision && o.Revision != e.Revision {
		record, err := parseLease(e.Value)
		if err != nil && e.Revision != 0 {
			return o, err
		}
		o.leaseRecord, o.since = record, now
	}
	o.Entry = e
	l.observed[a.resource] = o
	return o, nil
}

// granted implements [grantee]: it renews the record until the hold ends.
func (l *lease) granted(h *Hold) {
	m := h.mutex
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	m.Runtime.Go("renew", func() {
		failing := false
		for h.ctx.Err() == nil {
			h.reportExtend(m.config.TTL)
			err := l.claim(h.ctx, h.attempt)
			until := m.validUntil(m.config.TTL).Add(l.RetryPeriod) // the next round begins after the period
			_ = h.reportExtended(m.config.TTL, until, err)
			failing = err != nil
			_ = m.Runtime.Sleep(h.ctx, m.mono().Add(l.RetryPeriod))
		}
		switch {
		case h.isReleased():
		case failing:
			m.mu.Lock()
			h.gaveUp = true
			m.mu.Unlock()
		default: // it stood still, and the next round begins
			if there, err := l.read(ctx, h.attempt); err == nil {
				_, _ = l.observe(h.attempt, there)
			}
		}
	})
}

// abandon empties the record if the try is, or may become, its holder.
func (l *lease) abandon(a *attempt) {
	if a.entry.Key != "" {
		a.clearBy(func(ctx context.Context) error { return l.vacate(ctx, a) })
	}
}

// vacate empties the record if the try is its holder. It returns nil if the try is not, and will
// not be.
func (l *lease) vacate(ctx context.Context, a *attempt) error {
	for {
		there, err := l.read(ctx, a)
		switch {
		case err != nil:
			return err
		case there.Token() == a.token:
		case there.Revision == a.latest().Revision:
			return errAbsent // a write that is under way would replace it
		default:
			return nil
		}
		if done, err := l.empty(ctx, a, there); done || err != nil {
			return err
		}
	}
}

// releasedLease is the LeaseDuration of a record without a holder.
const releasedLease = time.Second

// empty replaces the record that is there by one without a holder.
func (l *lease) empty(ctx context.Context, a *attempt, there env.Entry) (done bool, err error) {
	record, err := parseLease(there.Value)
	if err != nil {
		return false, err
	}
	now := a.mutex.Runtime.Now(env.Wall)
	free := leaseRecord{duration: releasedLease, acquired: now, renewed: now, transitions: record.transitions}
	reply, err := a.mutex.ask(ctx, env.StoreRequest{Op: env.StoreUpdate, Key: there.Key, Revision: there.Revision, Value: free.String()})
	if err != nil || !reply.Done {
		return false, err
	}
	_, err = l.observe(a, reply.Entries[0])
	return true, err
}

// release empties the record that it reads, whoever is the holder in it, if the client has last seen
// itself as the holder. It tries again if the record changes meanwhile, as by a renewal that is under
// way, until the deadline of renewals has passed.
func (l *lease) release(ctx context.Context, h *Hold) (env.Answer, error) {
	m := h.mutex
	h.stop()
	m.mu.Lock()
	gaveUp := h.gaveUp
	m.mu.Unlock()
	for giveUp := m.mono().Add(l.renewDeadline()); ; {
		there, err := l.read(ctx, h.attempt)
		if err != nil {
			return env.Lost, err
		}
		holder := l.seen(h.attempt).holder
		if gaveUp {
			holder = there.Token()
		}
		if there.Revision == 0 || holder != h.token {
			return env.No, ErrLost
		}
		switch done, err := l.empty(ctx, h.attempt, there); {
		case done && err == nil:
			return env.Yes, nil
		case err != nil:
			return env.Lost, err
		case m.mono() >= giveUp:
			return env.Lost, fmt.Errorf("%w: the record has changed again and again", ErrNoAnswer)
		}
	}
}

// leaseRecord is what the entry of a lease contains. Times are those of the holder's wall clock.
type leaseRecord struct {
	holder            string // the token of a try; "": nobody
	duration          time.Duration
	acquired, renewed env.Instant
	transitions       uint64 // how often the holder has changed
}

// String returns the record as the value of an entry, which begins with the token.
func (r leaseRecord) String() string {
	return fmt.Sprintf("%s %d %d %d %d", r.holder, r.duration.Milliseconds(),
		int64(r.acquired)/int64(time.Microsecond), int64(r.renewed)/int64(time.Microsecond), r.transitions)
}

// parseLease is the inverse of String.
func parseLease(value string) (r leaseRecord, err error) {
	holder, rest, _ := strings.Cut(value, " ")
	var numbers [4]int64
	fields := strings.Fields(rest)
	if len(fields) != len(numbers) {
		return r, fmt.Errorf("%q is no record of a lease", value)
	}
	for i, field := range fields {
		if numbers[i], err = strconv.ParseInt(field, 10, 64); err != nil {
			return r, fmt.Errorf("%q is no record of a lease: %w", value, err)
		}
	}
	micros := func(n int64) env.Instant { return env.Instant(n * int64(time.Microsecond)) }
	return leaseRecord{holder, time.Duration(numbers[0]) * time.Millisecond, micros(numbers[1]), micros(numbers[2]), uint64(numbers[3])}, nil
}
