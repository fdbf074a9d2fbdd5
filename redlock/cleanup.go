package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// The keys of a try are deleted when it fails or its hold is released. A key that stays keeps others
// out until it expires. Two things can go wrong: the delete overtakes the SET, which then sets the key;
// and the delete fails or gets no reply.
//
// The try goes through three stages:
//
//	wanted ── Release ──▶ releasing ── its result is known ──▶ abandoned
//	   └─────────────── the try fails ───────────────────────────▲
//
// What a late reply to SET means, by the stage:
//
//	        wanted             releasing             abandoned
//	yes     the key counts     in lateSet            deleted again; in lateSet if the delete's reply is outstanding
//	lost    in unheard         in unheard            deleted again
//	no, failed                 in without: the node has no key and gets no further delete
//
// What the reply to a delete means, once the try is abandoned:
//
//	yes     in deleted: the key cannot come back, because the node has processed its only SET
//	no      deleted again if the node is in lateSet: the delete has overtaken the SET
//	lost    sent again at once, and pending if that fails, too
//	failed  pending: sent again after pauses that double, until the keys have expired or the mutex is closed
//
// Nodes in unheard may set the key even later: they get another delete a linger time after the first.
// A key that is set after that stays until it expires.

// stage decides what to do with a key that is set late.
type stage uint8

const (
	wanted    stage = iota
	releasing       // it must be deleted, but only after the release has returned, or its result would be wrong
	abandoned
)

// stragglers are the nodes that may have set the key late, under the mutex's mu.
type stragglers struct {
	stage   stage
	lateSet env.NodeSet // replied that they set the key, after it had become unwanted
	unheard env.NodeSet // the reply to SET is env.Lost: they may still set the key
	without env.NodeSet // have not set the key, and never will
	asked   env.NodeSet // have not replied to the first delete yet
	deleted env.NodeSet // replied that they deleted the key
}

// Release releases the lock on every node. It returns nil if a quorum of nodes deleted the keys,
// [ErrLost] if so many nodes no longer held them that no quorum is possible, and [ErrNoQuorum]
// or the error of ctx if too few nodes replied. The deletes are sent in any case, even if ctx has
// ended. After ErrLost, somebody else may have held the lock during the work. A second release
// returns [ErrReleased].
func (h *Hold) Release(ctx context.Context) error {
	m, a := h.attempt.mutex, h.attempt
	m.running.Add(1)
	defer m.running.Add(-1)
	if err := h.markReleased(); err != nil {
		return err
	}
	event := env.Event{Step: env.StepBeforeRelease, Resource: a.resource, Token: a.token}
	m.observer.Observe(event)
	h.end(ErrReleased)

	r := a.eraseFirst(m.all)
	event.Err = r.gather(ctx, r.sent.Add(m.config.NodeTimeout), ErrLost)
	switch {
	case event.Err == nil:
		event.Answer = env.Yes
	case r.votes.denied():
		event.Answer = env.No
	default:
		event.Answer = env.Lost
	}
	m.observe(event, env.StepReleased)
	a.finishRelease()
	return event.Err
}

// markReleased ends the hold for its holder.
func (h *Hold) markReleased() error {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	if h.state == released {
		return ErrReleased
	}
	h.state, h.attempt.late.stage = released, releasing
	return nil
}

// finishRelease waits for the remaining replies in the background, and deletes the keys that were
// set late. The second delete is sent only now, because before the release has returned it would
// make the release's result wrong.
func (a *attempt) finishRelease() {
	r := &a.deletion
	overtaken, unheard := a.abandon(r.silent, r.votes.yes)
	if r.silent|r.uncertain|r.unapplied|overtaken|unheard == 0 {
		return
	}
	a.mutex.background("finish release", func() {
		if overtaken != 0 {
			a.erase(overtaken).finish()
		}
		a.finishFirstDelete(unheard)
	})
}

// cleanUp deletes the keys of a failed try on every node, because a node that did not reply may
// have set the key or may still set it. Nodes that are known to have failed get no delete: they
// set no key, and a node that refuses connections would have to refuse another one.
func (a *attempt) cleanUp() {
	m := a.mutex
	a.late.without = a.set.unapplied | a.set.votes.no
	asked := m.all &^ a.set.unapplied
	a.abandon(asked, 0)
	a.eraseFirst(asked)
	unheard := a.set.uncertain // the key may still be set: a broken connection does not mean that the request was lost
	m.background("clean up", func() { a.finishFirstDelete(unheard) })
	a.drainSet()
}

// trackStragglers notes which nodes may still set the key of a granted try, and waits for their replies.
func (a *attempt) trackStragglers() {
	a.late.without = a.set.unapplied | a.set.votes.no
	a.late.unheard = a.set.uncertain // their env.Lost was counted, so the drain does not see them
	a.drainSet()
}

// drainSet waits for the outstanding replies to SET in the background, and deletes a late key as
// soon as its reply arrives: the last reply can take long.
func (a *attempt) drainSet() {
	if a.set.silent == 0 {
		return
	}
	a.set.leavesKey = (*attempt).recordLateSet
	a.mutex.background("drain", func() {
		a.set.drain()
		finishAll(a.set.deletes)
	})
}

// finishFirstDelete waits for the first delete of abandoned keys, and repeats it where a key may be left.
func (a *attempt) finishFirstDelete(unheard env.NodeSet) {
	r, m := &a.deletion, a.mutex
	r.leavesKey = (*attempt).recordDelete
	r.finish()
	finishAll(r.deletes)
	if unheard != 0 {
		_ = m.runtime.Sleep(context.Background(), m.runtime.Now(env.Monotonic).Add(m.config.Linger))
		a.erase(unheard).finish()
	}
}

// abandon records that every key that is set from now on must be deleted. asked are the nodes that
// have not replied to the first delete, deleted those that replied yes. It returns the nodes where
// the delete has overtaken the SET, and those that may still set the key.
func (a *attempt) abandon(asked, deleted env.NodeSet) (overtaken, unheard env.NodeSet) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	l := &a.late
	l.stage, l.asked, l.deleted = abandoned, asked, deleted
	return l.lateSet &^ (asked | deleted), l.unheard
}

// recordLateSet records a late reply to SET. It reports whether the node's key has to be deleted
// now.
func (a *attempt) recordLateSet(r env.Reply) bool {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	l := &a.late
	set, unknown := r.Answer == env.Yes, r.Answer == env.Lost
	switch {
	case !set && !unknown:
		l.without = l.without.With(r.Node)
	case l.stage == abandoned && (unknown || !l.asked.Has(r.Node)):
		return !l.deleted.Has(r.Node)
	case unknown:
		l.unheard = l.unheard.With(r.Node)
	case set && l.stage != wanted:
		l.lateSet = l.lateSet.With(r.Node)
	}
	return false
}

// recordDelete records a reply to the first delete of an abandoned key. It reports whether
// that delete has overtaken a SET, so that the key has to be deleted again.
func (a *attempt) recordDelete(r env.Reply) bool {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	l := &a.late
	l.asked = l.asked.Without(r.Node)
	if r.Answer == env.Yes {
		l.deleted = l.deleted.With(r.Node)
	}
	return r.Answer == env.No && l.lateSet.Has(r.Node)
}

// eraseFirst sends the first delete of the keys to the nodes of the set. A try sends it once: when it
// fails or its hold is released.
func (a *attempt) eraseFirst(from env.NodeSet) *round { return a.eraseIn(&a.deletion, from) }

// erase sends another delete to the nodes of the set.
func (a *attempt) erase(from env.NodeSet) *round { return a.eraseIn(new(round), from) }

func (a *attempt) eraseIn(r *round, from env.NodeSet) *round {
	r.send(a, from, env.Command{Op: env.OpDelete, Key: a.resource, Token: a.token, Native: a.mutex.config.NativeCommands}, a.mutex.config.NodeTimeout)
	return r
}

// finish waits for all replies to a delete. Nodes that did not reply are asked again at once, and
// get a linger time to reply. What is still left becomes a pending delete, except on nodes that are
// known not to have set the key.
func (r *round) finish() {
	a, m := r.attempt, r.attempt.mutex
	r.drain()
	left := r.uncertain | r.unapplied
	if r.uncertain != 0 {
		again := a.send(r.uncertain, r.command, m.config.Linger)
		again.drain()
		left = r.unapplied | again.uncertain | again.unapplied
	}
	if left == 0 {
		return
	}
	m.mu.Lock()
	left &^= a.late.without
	expired := r.sent.Add(a.longest)
	m.mu.Unlock()
	if left != 0 {
		m.deleteLater(pendingDelete{attempt: a, command: r.command, nodes: left, expired: expired})
	}
}

func finishAll(deletes []*round) {
	for _, r := range deletes {
		r.finish()
	}
}

// noteTTL records the TTL that the keys are about to get from an extension.
func (a *attempt) noteTTL(ttl time.Duration) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	a.longest = max(a.longest, ttl)
}

// pendingDelete is a delete that failed or got no reply, because nodes are down or out of reach.
type pendingDelete struct {
	attempt *attempt
	command env.Command
	nodes   env.NodeSet
	pause   time.Duration // until it is sent again; doubles
	next    env.Instant   // when it is sent again
	expired env.Instant   // when the keys have expired
}

// maxPendingDeletes is the largest number of pending deletes. Beyond it the oldest, which
// expires first, is dropped.
const maxPendingDeletes = 1024

// deleteLater schedules a pending delete, unless the mutex is closed or the keys expire before it is
// due. One task sends all pending deletes, however many tries fail while a node is down.
func (m *Mutex) deleteLater(p pendingDelete) {
	p.pause = max(2*p.pause, m.config.Linger)
	p.next = m.runtime.Now(env.Monotonic).Add(p.pause)
	if m.closed.Load() || p.next >= p.expired {
		return
	}
	m.mu.Lock()
	if len(m.pending) == maxPendingDeletes {
		m.pending = m.pending[1:]
	}
	m.pending = append(m.pending, p)
	start := !m.repeating
	m.repeating = true
	m.mu.Unlock()
	if start {
		m.background("erase remnants", m.sendPendingDeletes)
	}
}

// sendPendingDeletes sends the deletes that are due, every linger time, until none is pending or
// the mutex is closed.
func (m *Mutex) sendPendingDeletes() {
	for m.anyPendingDelete() {
		if m.runtime.Sleep(m.open, m.runtime.Now(env.Monotonic).Add(m.config.Linger)) != nil {
			return
		}
		due := m.duePendingDeletes()
		rounds := make([]*round, len(due))
		for i, p := range due {
			rounds[i] = p.attempt.send(p.nodes, p.command, m.config.Linger)
		}
		for i, p := range due {
			rounds[i].drain()
			if p.nodes = rounds[i].uncertain | rounds[i].unapplied; p.nodes != 0 {
				m.deleteLater(p)
			}
		}
	}
}

// anyPendingDelete reports whether a delete is pending. If not, the task ends.
func (m *Mutex) anyPendingDelete() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repeating = len(m.pending) > 0
	return m.repeating
}

// duePendingDeletes removes the deletes that are due and returns them. It drops nodes that are
// known by now not to have set the key.
func (m *Mutex) duePendingDeletes() (due []pendingDelete) {
	now := m.runtime.Now(env.Monotonic)
	m.mu.Lock()
	defer m.mu.Unlock()
	var later []pendingDelete
	for _, p := range m.pending {
		p.nodes &^= p.attempt.late.without
		switch {
		case p.nodes == 0:
		case p.next <= now:
			due = append(due, p)
		default:
			later = append(later, p)
		}
	}
	m.pending = later
	return due
}
