package timeline

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Fact is an event and what it is about. Fields that do not apply are nil.
type Fact struct {
	*history.Event
	Ordinal  int // of the event, from 1; 0: the history does not record it, as a lapse by the file's clock
	Actor    *Client
	Locked   *Resource // of a change of a key
	Hold     *Hold
	Try      *Hold // the try of a grant that enters the hold again: see [Reentered]
	Section  *Section
	Released *releasedHold // the released hold that an extension is about

	Replaced *Section // the section that a read ends without a write

	LinkChanged bool         // the event changes the state of a link
	WaitedSince history.Time // since when a watch has waited for the answer that the event is

	Call Call          // the call that the event returns from
	Took time.Duration // from call to return, without pauses of the client
}

// resolve finds what the event is about and updates the timeline: see [Timeline.take]. It returns false, and
// does nothing, if the event has to wait.
func (t *Timeline) resolve(f *Fact, force bool) bool {
	c := t.Client(f.Client)
	f.Actor = c
	if c.Dead && f.posthumous() && !t.contradictDead(f, force) {
		return false
	}
	if enter := entries[f.Kind]; enter != nil && !enter(t, f, force) {
		return false
	}
	if noted.Has(f.Kind) {
		t.Faults.observe(f)
	}
	if h := f.Hold; h != nil && (h.Over || h.Client.Dead) {
		t.retiring = append(t.retiring, h)
	}
	return true
}

// contradictDead reports an act of a dead client.
func (t *Timeline) contradictDead(f *Fact, force bool) bool {
	return force && t.contradict("%s comes after the client's death at %s", naming(f.Event), textfmt.Instant(f.Actor.Died))
}

// entries are the functions that update the timeline, by kind of event.
var entries = [1 << 8]func(l *Timeline, f *Fact, force bool) bool{
	history.Acquire: (*Timeline).acquire,
	history.Granted: (*Timeline).granted,
	history.Refused: (*Timeline).refused,

	history.Extend:       (*Timeline).extend,
	history.Extended:     (*Timeline).extended,
	history.ExtendFailed: (*Timeline).extendFailed,

	history.Expiring: (*Timeline).about,
	history.Lost:     (*Timeline).lost,
	history.Lapse:    (*Timeline).lapse,

	history.Release:  (*Timeline).release,
	history.Released: (*Timeline).released,

	history.Read:      (*Timeline).read,
	history.ReadDone:  (*Timeline).readDone,
	history.Write:     (*Timeline).write,
	history.WriteDone: (*Timeline).writeDone,
	history.Apply:     (*Timeline).apply,

	history.Pause:  func(_ *Timeline, f *Fact, _ bool) bool { f.Actor.setPaused(true, f.Time); return true },
	history.Resume: (*Timeline).resume,
	history.Kill:   (*Timeline).kill,
	history.Cancel: (*Timeline).cancel,

	history.NodeDown: (*Timeline).nodeDown,
	history.NodeUp:   (*Timeline).nodeUp,
	history.LinkDown: (*Timeline).linkDown,
	history.LinkUp:   (*Timeline).linkUp,

	history.KeySet:      (*Timeline).keyChanged,
	history.KeyExtended: (*Timeline).keyChanged,
	history.KeyGone:     (*Timeline).keyChanged,

	history.FaultStart: (*Timeline).faultStart,
	history.FaultEnd:   (*Timeline).faultEnd,

	history.Leader:    (*Timeline).leader,
	history.EntryGone: (*Timeline).entryGone,

	history.EntrySet:     (*Timeline).entrySet,
	history.EntryDeleted: (*Timeline).entryDeleted,
	history.EntriesSeen:  (*Timeline).entriesSeen,

	history.Step: (*Timeline).step,

	history.Check:   (*Timeline).check,
	history.Checked: (*Timeline).checked,
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
func (f *Fact) close(c *Call) {
	if !c.Open {
		return
	}
	f.Call = *c
	f.Took = c.Took(f.Actor, f.Time)
	c.Open = false
}

// closeTry makes f the return of a try. The time in its queue does not count.
func (f *Fact) closeTry(h *Hold) {
	f.close(&h.Acquire)
	if h.Queue != nil {
		h.Queue.leave(f.Actor, f.Time)
		f.Took -= h.Queue.waited
	}
}
