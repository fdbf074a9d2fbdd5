package rivals

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Ports are what a lock is built on: one client's view of its world. A lock in a store
// does not use nodes, and other locks do not use the store.
type Ports struct {
	Runtime  env.Runtime
	Nodes    env.Nodes
	Store    env.Store
	Observer env.Observer
}

// Mutex acquires locks of one scheme for one client. It may be used concurrently.
type Mutex struct {
	Ports
	config Config
	scheme scheme

	mu sync.Mutex // never held across a wait
}

// scheme is the part in which locks differ.
type scheme interface {
	// acquire tries once. It returns nil if the attempt's token has the lock; what
	// it has set of the attempt (see [attempt.aim]) is then the hold's.
	acquire(ctx context.Context, a *attempt) error

	// abandon cleans up after a failed try. It does not wait.
	abandon(a *attempt)

	// release gives the lock up. The error says why if the answer is not Yes;
	// with No it is, or wraps, [ErrLost].
	release(ctx context.Context, h *Hold) (env.Answer, error)
}

// extender is a scheme whose holder can extend. (Sessions are kept by their heartbeats.)
type extender interface {
	// extend asks for a new life of the hold's key, and returns the new end of
	// validity.
	extend(ctx context.Context, h *Hold, ttl time.Duration) (env.Instant, error)
}

// grantee is a scheme that does something for a hold while it lasts.
type grantee interface {
	granted(h *Hold)
}

func newMutex(c Config, p Ports, s scheme) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Mutex{Ports: p, config: c, scheme: s}, nil
}

// The errors of tries and holds.
var (
	// ErrTaken: somebody else has the lock.
	ErrTaken = errors.New("somebody else has the lock")
	// ErrNoAnswer: the store or node has not answered, or with an error.
	ErrNoAnswer = errors.New("no answer")
	// ErrValidity: the validity was over before the try was.
	ErrValidity = errors.New("the validity is over")
	// ErrExpiring: the validity is about to end.
	ErrExpiring = errors.New("the validity is about to end")
	// ErrLost: the lock is held no more.
	ErrLost = errors.New("the lock is lost")
	// ErrReleased: the lock has been released.
	ErrReleased = errors.New("the lock has been released")

	errNoExtension = errors.New("this lock cannot be extended")
)

// Lock acquires the resource, and retries after a random delay. It gives up with the last
// try's error after [Config.Tries], and with that of ctx when ctx ends.
func (m *Mutex) Lock(ctx context.Context, resource string) (*Hold, error) {
	for try := 1; ; try++ {
		hold, err := m.tryLock(ctx, resource)
		if err == nil || ctx.Err() != nil || try == m.config.Tries {
			return hold, err
		}
		if ended := m.Runtime.Sleep(ctx, m.mono().Add(m.retryDelay())); ended != nil {
			return nil, fmt.Errorf("%w; the last try: %w", ended, err)
		}
	}
}

// attempt is one try to acquire.
type attempt struct {
	mutex    *Mutex
	resource string
	token    string
	until    env.Instant   // the end of validity that it aims at
	validity time.Duration // what was left of it at the check
	fence    uint64

	// Of a lock on one node; replies is guarded by the mutex's mu.
	setAnswer env.Answer // of the node that was asked to set the key
	replies   int        // that have counted so far

	// Of a lock in a store.
	entry      env.Entry   // its key alone: it is not known whether there is one; guarded by the mutex's mu once it is held
	renewable  bool        // the revision of the entry can change while it is the try's
	member     *member     // of a session; nil: none
	connection *connection // of an advisory lock; nil: none
	mayRecover bool        // the hold can go on after the end of its validity

	// Of a lease.
	stop   context.CancelFunc // ends the renewals, at the release
	gaveUp bool               // renewals have failed up to the deadline; guarded by the mutex's mu
}

func (m *Mutex) tryLock(ctx context.Context, resource string) (*Hold, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := &attempt{mutex: m, resource: resource, token: m.newToken(), until: env.Never}
	m.Observer.Observe(env.Event{Step: env.StepAcquire, Resource: resource, Token: a.token, TTL: m.config.TTL})
	if err := m.scheme.acquire(ctx, a); err != nil {
		m.scheme.abandon(a)
		m.Observer.Observe(env.Event{Step: env.StepRefused, Resource: resource, Token: a.token, Err: err})
		return nil, err
	}
	hold := newHold(a)
	if a.until != env.Never {
		m.Runtime.Go("watch", hold.watch)
	}
	granted := a.event(env.StepGranted)
	granted.Fence, granted.Validity = a.fence, a.validity
	m.Observer.Observe(granted)
	a.member.adopt(hold)
	if s, does := m.scheme.(grantee); does {
		s.granted(hold)
	}
	return hold, nil
}

// event returns the event of a step of the try.
func (a *attempt) event(step env.Step) env.Event {
	return env.Event{Step: step, Resource: a.resource, Token: a.token, TTL: a.mutex.config.TTL, Until: a.until}
}

// setUntil sets the end of validity of the try; [env.Never]: none. It is called before the
// request is sent from which the validity is counted.
func (a *attempt) setUntil(until env.Instant) {
	a.until = until
	a.mutex.Observer.Observe(a.event(env.StepBeforeSend))
}

// check is the validity check, which a scheme does last.
func (a *attempt) check() error {
	m := a.mutex
	if a.member != nil { // a heartbeat may have been answered since the try began
		a.until = max(a.until, a.member.session.until())
	}
	m.Observer.Observe(a.event(env.StepBeforeCheck))
	if a.validity = a.until.Sub(m.now()); a.validity <= 0 {
		return fmt.Errorf("%w: it ended %v ago", ErrValidity, -a.validity)
	}
	m.Observer.Observe(a.event(env.StepAfterCheck))
	return nil
}

// reportReply reports a reply that counts. Replies are numbered from the start of the try,
// on into the hold.
func (a *attempt) reportReply(op env.Op, r env.Reply) {
	e := a.event(env.StepReply)
	a.mutex.mu.Lock()
	a.replies++
	e.Op, e.Reply, e.K = op, r, a.replies
	a.mutex.mu.Unlock()
	a.mutex.Observer.Observe(e)
}

// validUntil returns the end of validity of a request that is sent now.
func (m *Mutex) validUntil(ttl time.Duration) env.Instant {
	return m.now().Add(ttl - m.config.Allowance)
}

// now reads the clock on which the validity is counted.
func (m *Mutex) now() env.Instant { return m.Runtime.Now(m.config.Clock) }

// mono reads the clock that waits use.
func (m *Mutex) mono() env.Instant { return m.Runtime.Now(env.Monotonic) }

func (m *Mutex) newToken() string {
	var random [20]byte
	m.Runtime.Random(random[:])
	return hex.EncodeToString(random[:])
}

func (m *Mutex) retryDelay() time.Duration {
	var bits [8]byte
	m.Runtime.Random(bits[:])
	width := uint64(m.config.RetryMax-m.config.RetryMin) + 1
	return m.config.RetryMin + time.Duration(binary.LittleEndian.Uint64(bits[:])%width)
}
