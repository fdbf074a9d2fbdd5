package world

import "github.com/lockstorm/lockstorm/history"

// Tries remembers the tries of a run by their tokens. A store keeps tokens, and knows neither
// clients nor resources: Complete adds them to the events of its entries.
type Tries struct{ byToken map[string]history.Event }

// Note remembers the call of acquire, and ignores other events.
func (t *Tries) Note(e *history.Event) {
	if e.Kind != history.Acquire {
		return
	}
	if t.byToken == nil {
		t.byToken = map[string]history.Event{}
	}
	t.byToken[e.Token] = *e
}

// Complete adds to a change of an entry what follows from its token: the resource and, when the
// entry was created, the client and the earliest instant at which its request can have been sent.
// It returns false if the token is of no try: then the entry belongs to no lock.
func (t *Tries) Complete(e *history.Event) bool {
	if e.Kind != history.EntrySet && e.Kind != history.EntryDeleted && e.Kind != history.EntryGone {
		return true
	}
	try, known := t.byToken[e.Token]
	if !known {
		return false
	}
	switch e.Kind {
	case history.EntrySet:
		e.Resource, e.Client, e.Sent = try.Resource, try.Client, try.Time
	case history.EntryDeleted:
		e.Resource = try.Resource
	}
	return true
}
