package checker

import "github.com/lockstorm/lockstorm/history"

// reentered is the kind by which the judges hear of a grant that makes no hold: to the
// client that holds the resource already, under the same token, by which alone it can be
// told. The fact names that hold, and the try that was granted.
//
// The hold goes on, to the later of the two ends of validity: what its holder was
// promised first, a further grant does not take back. It ends with the release that is
// called as often as it was granted; those before change nothing. Whatever else ends it
// ends it for all of them.
const reentered history.Kind = maxKinds - 1

// holding returns the client's hold that a grant enters again, or nil: one that has been
// granted under this token, and is not over yet. Its end of validity is no end if it is
// reached only now, as when it is extended.
func (c *client) holding(f *fact) *hold {
	if c.held == 0 {
		return nil
	}
	now := f.Time
	return c.find(f.Event, func(h *hold) bool {
		return h.returned && !h.letGo && !h.lost && !h.over && !(h.expired() && h.expiry() < now)
	})
}

// reenter makes of the grant of a try one that enters a hold again.
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

// leave makes of a release one that leaves the hold once, unless it is the last. Nothing
// happens to the hold, so the fact has none.
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
