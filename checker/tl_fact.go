package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// resolve finds what the event is about and updates the timeline: see [state.take]. It returns false, and
// does nothing, if the event has to wait.
func (l *state) resolve(f *fact, force bool) bool {
	c := l.client(f.Client)
	f.client = c
	if c.dead && f.posthumous() && !l.contradictDead(f, force) {
		return false
	}
	if enter := entries[f.Kind]; enter != nil && !enter(l, f, force) {
		return false
	}
	if noted.has(f.Kind) {
		l.faultLog.observe(f)
	}
	if h := f.hold; h != nil && (h.over || h.client.dead) {
		l.retiring = append(l.retiring, h)
	}
	return true
}

// contradictDead reports an act of a dead client.
func (l *state) contradictDead(f *fact, force bool) bool {
	return force && l.contradict("%s comes after the client's death at %s", naming(f.Event), textfmt.Instant(f.client.died))
}

// entries are the functions that update the state, by kind of event.
var entries = [1 << 8]func(l *state, f *fact, force bool) bool{
	history.Acquire: (*state).acquire,
	history.Granted: (*state).granted,
	history.Refused: (*state).refused,

	history.Extend:       (*state).extend,
	history.Extended:     (*state).extended,
	history.ExtendFailed: (*state).extendFailed,

	history.Expiring: (*state).about,
	history.Lost:     (*state).lost,
	history.Lapse:    (*state).lapse,

	history.Release:  (*state).release,
	history.Released: (*state).released,

	history.Read:      (*state).read,
	history.ReadDone:  (*state).readDone,
	history.Write:     (*state).write,
	history.WriteDone: (*state).writeDone,
	history.Apply:     (*state).apply,

	history.Pause:  func(_ *state, f *fact, _ bool) bool { f.client.setPaused(true, f.Time); return true },
	history.Resume: (*state).resume,
	history.Kill:   (*state).kill,
	history.Cancel: func(_ *state, f *fact, _ bool) bool { f.client.cancelled = f.Time; return true },

	history.NodeDown: (*state).nodeDown,
	history.NodeUp:   (*state).nodeUp,
	history.LinkDown: (*state).linkDown,
	history.LinkUp:   (*state).linkUp,

	history.KeySet:      (*state).keyChanged,
	history.KeyExtended: (*state).keyChanged,
	history.KeyGone:     (*state).keyChanged,

	history.FaultStart: (*state).faultStart,
	history.FaultEnd:   (*state).faultEnd,

	history.Leader:    (*state).leader,
	history.EntryGone: (*state).entryGone,

	history.EntrySet:     (*state).entrySet,
	history.EntryDeleted: (*state).entryDeleted,
	history.EntriesSeen:  (*state).entriesSeen,

	history.Step: (*state).step,

	history.Check:   (*state).check,
	history.Checked: (*state).checked,
}

// isCall reports whether the kind is a call that a return ends.
func isCall(k history.Kind) bool {
	switch k {
	case history.Acquire, history.Extend, history.Release, history.Read, history.Write, history.Check:
		return true
	}
	return false
}

// close makes f the return of an open call.
func (f *fact) close(c *call) {
	if !c.open {
		return
	}
	f.call = *c
	f.took = c.took(f.client, f.Time)
	c.open = false
}

// closeTry makes f the return of a try. The time in its queue does not count.
func (f *fact) closeTry(h *hold) {
	f.close(&h.acquire)
	if h.queue != nil {
		h.queue.leave(f.client, f.Time)
		f.took -= h.queue.waited
	}
}

// fact is an event and what it is about. Fields that do not apply are nil.
type fact struct {
	*history.Event
	ordinal int // of the event, from 1; 0: the history does not record it, as a lapse by the file's clock
	client  *client
	about   *resource // of a change of a key
	hold    *hold
	try     *hold // the try of a grant that enters the hold again: see [reentered]
	section *section
	parted  *releasedHold // the released hold that an extension is about

	replaced *section // the section that a read ends without a write

	changes bool         // the event changes the state of a link
	waited  history.Time // since when a watch has waited for the answer that the event is

	call call          // the call that the event returns from
	took time.Duration // from call to return, without pauses of the client
}
