package checker

import (
	"cmp"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// windowEvent is the begin or end of a window.
type windowEvent struct {
	kind    windowEventKind
	hold    *hold
	at      history.Time
	since   history.Time  // for an empty window: the earliest p
	by      history.Kind  // what ended the window
	implied *impliedGrant // the call with which the window may have begun; nil: it is certain
}

// open reports whether it is unknown yet if the event takes place.
func (t *windowEvent) open() bool { return t.implied != nil && t.implied.open() }

type windowEventKind uint8

// The kinds, in the order in which they are judged in an instant.
const (
	noTurn windowEventKind = iota
	windowEnds
	windowBegins
	windowEmpty
	extendedLate // a late extension was granted, and its hold ended in the same instant
)

// compare orders the events of one instant, so that the order in which they were recorded
// makes no difference.
func (t windowEvent) compare(u windowEvent) int {
	if t.kind != u.kind {
		return cmp.Compare(t.kind, u.kind)
	}
	return cmp.Or(
		cmp.Compare(t.hold.client.number, u.hold.client.number),
		strings.Compare(t.hold.token, u.hold.token),
		cmp.Compare(t.since, u.since),
	)
}
