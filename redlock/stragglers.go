package redlock

import "github.com/lockstorm/lockstorm/env"

// This file handles stragglers: nodes that had not answered SET when the try failed or the
// hold was released. The delete may have overtaken the SET; then the key has to be deleted
// again. A node that reports that it deleted the key has received both requests and needs
// no further delete, because a token is sent in only one SET.

// stragglerState records which nodes may have set the key late, under the mutex's mu.
type stragglerState struct {
	stage   stage
	set     env.NodeSet // replied that they set the key, after it had become unwanted
	unheard env.NodeSet // their reply to SET was given up: they may still set the key
	without env.NodeSet // replied that they did not set the key, and never will
	asked   env.NodeSet // have not replied to the first delete yet
	deleted env.NodeSet // replied that they deleted the key
}

// stage says what to do with a key that is set late.
type stage uint8

const (
	wanted    stage = iota // it counts for the lock
	releasing              // it must be deleted, but only after the release has returned, or its result would be wrong
	abandoned              // it must be deleted
)

// abandon records that every key that is set from now on must be deleted. asked are the nodes to
// which the first delete is under way, deleted those that replied that they deleted the key.
// It returns the nodes where the delete has overtaken the SET, and those that may still set the
// key.
func (a *attempt) abandon(asked, deleted env.NodeSet) (overtaken, unheard env.NodeSet) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	l := &a.late
	l.stage, l.asked, l.deleted = abandoned, asked, deleted
	return l.set &^ (asked | deleted), l.unheard
}

// recordLateSet records a late reply to SET. It reports whether the node's key has to
// be deleted now: the key was set, or may have been, and the delete may have
// overtaken the SET.
func (a *attempt) recordLateSet(r env.Reply) bool {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	a.counted = a.set.votes.yes
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
		l.set = l.set.With(r.Node)
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
	return r.Answer == env.No && l.set.Has(r.Node)
}

// neverSet returns the nodes that certainly have not set the key.
func (a *attempt) neverSet() env.NodeSet {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	return a.late.without
}

// finishFirstDelete waits for the first delete of abandoned keys and repeats it as needed.
func (a *attempt) finishFirstDelete(keys deletion) {
	keys.round.late = firstDelete{a}
	keys.finish()
	finishAll(keys.round.again)
}

// firstDelete judges the replies to the first delete.
type firstDelete struct{ *attempt }

func (d firstDelete) stays(r env.Reply) bool { return d.recordDelete(r) }

// drainInBackground waits for the outstanding replies to SET, and deletes a late key as
// soon as its reply arrives: the last reply can take long.
func (a *attempt) drainInBackground() {
	if a.set.silent == 0 {
		return
	}
	a.set.late = lateSet{a}
	a.mutex.background("drain", func() {
		a.set.drain()
		finishAll(a.set.again)
	})
}

// lateSet judges the replies to SET that come after the decision.
type lateSet struct{ *attempt }

func (s lateSet) stays(r env.Reply) bool { return s.recordLateSet(r) }

func finishAll(all []deletion) {
	for _, keys := range all {
		keys.finish()
	}
}
