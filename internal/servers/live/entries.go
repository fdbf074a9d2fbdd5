package live

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// EntryLog records the changes of a store's entries, or of a node's keys, for whoever watches it. A
// watch reports a change after it took place, so the time of its event is only an upper bound. What
// bounds it from below is Seen. A checker may conclude that something did not happen only from Seen.
type EntryLog interface {
	// Record records a change, once, in the order in which they were made: an
	// [history.EntrySet], [history.EntryDeleted] or [history.EntryGone] with its Token, see
	// [env.EntryToken], or an [history.KeySet], [history.KeyExtended] or [history.KeyGone] with its
	// Resource and Token, which are the key's name and value, and Ends, the latest instant of the machine's
	// monotonic clock at which its time to live may be over (0: it is not known). An entry or a key whose token is of no try is ignored. An update of an entry that changes the token is the end of one entry and the
	// beginning of another; any other is not recorded.
	Record(e history.Event)

	// Gap records that changes before now may never be recorded. What there is now has to be
	// recorded next: an entry whose end was missed as an [history.EntryGone] without a Reason, a
	// key that was not recorded as an [history.KeySet] with the Reason [history.RolledBack].
	Gap()

	// Seen records that every change between the last gap and an instant has been recorded. The instant is one
	// that Now returned before the store was asked for its latest change.
	Seen(before env.Instant)

	// Now returns the present instant.
	Now() env.Instant
}

// entryLog records entries, or the keys of a node, in a world's history.
type entryLog struct {
	*recorder
	node int // 0: it records entries
}

// Record implements [EntryLog].
func (l entryLog) Record(e history.Event) {
	e.Node = l.node
	l.add(0, justNow, func(at history.Time) {
		if e.Ends != 0 {
			e.Ends = history.Time(env.Instant(e.Ends).Sub(l.origin))
		}
		if l.tries.Complete(&e) {
			l.write(at, e)
		}
	})
}

// Gap implements [EntryLog].
func (l entryLog) Gap() { l.add(0, justNow, func(at history.Time) { l.gaps[l.node] = at }) }

// Seen implements [EntryLog].
func (l entryLog) Seen(before env.Instant) {
	l.seen(l.node, before)
	l.add(0, justNow, func(at history.Time) {
		sent, since := history.Time(before.Sub(l.origin)), l.gaps[l.node]
		if l.requests != nil && !l.requests.Certain() {
			since = sent // some change of the lock's keys may be missing
		}
		if sent > 0 {
			l.write(at, history.Event{Kind: history.EntriesSeen, Node: l.node, Since: since, Sent: sent})
		}
	})
}

// Now implements [EntryLog].
func (l entryLog) Now() env.Instant { return l.ground.shows(env.Monotonic) }
