package redlock

import "github.com/lockstorm/lockstorm/env"

// This file is about keys that are set late: by nodes that had not answered SET when the
// try failed, or when the hold was released. The deletion may have overtaken the SET, and
// then the key has to be deleted once more. A node that says that it deleted the key has
// been reached by both, and is left in peace: the token is sent in one SET alone.

// stragglerState is what is known of late keys, under the mutex's mu.
type stragglerState struct {
	stage   stage
	set     env.NodeSet // who said that it has set the key when the key had to go
	unheard env.NodeSet // whose answer to SET was given up: the key may still be set
	without env.NodeSet // who has said that it did not set the key, and never will
	asked   env.NodeSet // who has not answered the first deletion yet
	deleted env.NodeSet // who has said that it deleted the key
}

// stage says what a key that is set late means.
type stage uint8

const (
	wanted    stage = iota // it counts for the lock
	releasing              // it has to go, but not before the release has been answered, or the answer would be untrue
	abandoned              // it has to go
)

// isWanted reports whether keys that are set still count for the lock.
func (a *attempt) isWanted() bool {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	return a.late.stage == wanted
}

// abandon says that every key that is set from now on has to go. The first deletion is
// under way to the nodes of asked, and those of deleted have said that they deleted the
// key. It returns the nodes whose key the deletion has overtaken, and those whose key may
// come still.
func (a *attempt) abandon(asked, deleted env.NodeSet) (overtaken, unheard env.NodeSet) {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	l := &a.late
	l.stage, l.asked, l.deleted = abandoned, asked, deleted
	return l.set &^ (asked | deleted), l.unheard
}

// recordLateSet takes note of a late reply to SET, and reports whether the node's
// key has to be deleted now: it was set, or may have been, and the delete may
// have overtaken it.
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
		l.set = l.set.With(r.Node)
	}
	return false
}

// recordDelete takes note of a reply to the first deletion of an abandoned key, and reports
// whether that has overtaken a SET, so that the key has to be deleted now.
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

// neverSet returns the nodes that are known not to have set the key.
func (a *attempt) neverSet() env.NodeSet {
	a.mutex.mu.Lock()
	defer a.mutex.mu.Unlock()
	return a.late.without
}

// finishFirstDelete finishes the first deletion of keys that are abandoned.
func (a *attempt) finishFirstDelete(keys deletion) {
	overtaken := a.deleteAgain(keys.round, a.recordDelete)
	keys.finish()
	finishAll(overtaken)
}

// drainInBackground hears those out that have not answered SET, and deletes what they set
// too late as soon as it is known: the last of them can be long in coming.
func (a *attempt) drainInBackground() {
	if a.round.silent == 0 {
		return
	}
	a.mutex.background("drain", nil, func() {
		finishAll(a.deleteAgain(a.round, func(r env.Reply) bool {
			a.counts(a.round.votes.yes)
			return a.recordLateSet(r)
		}))
	})
}

// deleteAgain hears a round out, and has the key deleted, once more, of each node whose
// reply says that it may still be there.
func (a *attempt) deleteAgain(r *round, stays func(env.Reply) bool) (keys []deletion) {
	r.drain(func(reply env.Reply) {
		if stays(reply) {
			keys = append(keys, a.erase(env.SetOf(reply.Node)))
		}
	})
	return keys
}

func finishAll(all []deletion) {
	for _, keys := range all {
		keys.finish()
	}
}
