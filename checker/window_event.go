package checker

import (
	"cmp"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// windowEvent is one thing that happens to a line, at an instant.
type windowEvent struct {
	kind  windowEventKind
	hold  *hold
	at    history.Time
	since history.Time  // of an empty window: the earliest p
	by    history.Kind  // what ended the window
	act   *impliedGrant // by which alone the window may have begun; nil: that is certain
}

// open reports whether it is not known yet if the turn is one.
func (t *windowEvent) open() bool { return t.act != nil && t.act.open() }

type windowEventKind uint8

// The kinds, in the order in which those of one instant are judged.
const (
	noTurn windowEventKind = iota
	endTurn
	beginTurn
	emptyTurn
	claimTurn // an extension was granted that says the hold has gone on, and the hold ended in the same instant
)

// compare orders the turns of one instant, so that the order in which their
// events were recorded makes no difference.
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
