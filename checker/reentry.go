package checker

import "github.com/lockstorm/lockstorm/history"

// reentered is the kind of a grant to a client that holds the resource under the same token
// already. The fact has that hold, and the try that was granted.
//
// The hold goes on until the later of the two ends of validity. It ends with as many
// releases as there were grants; the earlier ones change nothing. Anything else that ends it
// ends it for all of them.
const reentered history.Kind = maxKinds - 1

// holding returns the client's hold that a grant enters again, or nil. The hold has the same
// token and is not over. As for an extension, an end of validity in this very instant does
// not count.
func (c *client) holding(f *fact) *hold {
	if c.held == 0 {
		return nil
	}
	now := f.Time
	return c.find(f.Event, func(h *hold) bool {
		return h.returned && !h.letGo && !h.lost && !h.over && !(h.expired() && h.expiry() < now)
	})
}

// reenter turns the grant of a try into one that enters a hold again.
func (l *state) reenter(f *fact, held *hold) {
	f.hold.end(f.Time)
	l.settling = append(l.settling, f.hold)
	l.entered = *f.Event
	l.entered.Kind = reentered
	f.Event, f.hold, f.try = &l.entered, held, f.hold
	held.depth++
	if until := validityEnd(f.Event); until > held.until {
		held.declare(until, f.call.at)
		held.renewed = extension{at: f.Time, left: f.Validity}
	}
}

// leave enters a release that is not the last one of the hold. Nothing happens to the hold,
// so the fact has none.
func (h *hold) leave(f *fact) bool {
	if h.depth == 0 {
		return false
	}
	h.depth--
	h.inner = append(h.inner, f.client.begin(f.Time))
	return true
}

// left makes f the return of the first such release.
func (h *hold) left(f *fact) {
	f.close(&h.inner[0])
	h.inner = h.inner[1:]
}

func isLeaving(h *hold) bool { return len(h.inner) > 0 }
