package world

import "github.com/lockstorm/lockstorm/history"

// Tries remembers the tries of a run. A store keeps tokens, and knows neither clients nor
// resources: Complete adds them to the events of its entries. Clients that are clones of one
// another draw the same tokens, so a try is named by its client and token; if the client is not
// known, the token means the latest try that has it.
type Tries struct {
	byToken map[string]history.Event
	byTry   map[tryName]history.Event
}

type tryName struct {
	client int
	token  string
}

// Note remembers the call of acquire, and ignores other events.
func (t *Tries) Note(e *history.Event) {
	if e.Kind != history.Acquire {
		return
	}
	if t.byToken == nil {
		t.byToken, t.byTry = map[string]history.Event{}, map[tryName]history.Event{}
	}
	t.byToken[e.Token], t.byTry[tryName{e.Client, e.Token}] = *e, *e
}

// Complete adds to a change of an entry what follows from its token: the resource and, when the
// entry was created, the client, if it is not known, and the earliest instant at which its request
// can have been sent. It returns false if the token is of no try: then the entry belongs to no lock.
//
// Of a key, whose resource is known, it completes who set it. The Reason [history.RolledBack] says
// that nobody did; no such event has a reason in a history.
func (t *Tries) Complete(e *history.Event) bool {
	switch e.Kind {
	case history.KeySet, history.KeyExtended, history.KeyGone:
		return t.completeKey(e)
	case history.EntrySet, history.EntryDeleted, history.EntryGone:
	default:
		return true
	}
	try, known := t.byToken[e.Token]
	if e.Kind == history.EntrySet && e.Client != 0 {
		try, known = t.byTry[tryName{e.Client, e.Token}]
	}
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

func (t *Tries) completeKey(e *history.Event) bool {
	try, known := t.byToken[e.Token]
	if !known || try.Resource != e.Resource {
		return false
	}
	switch {
	case e.Kind == history.KeySet && e.Reason == history.RolledBack:
		e.Reason = ""
	case e.Kind == history.KeySet:
		e.Client, e.Sent = try.Client, try.Time
	}
	return true
}
