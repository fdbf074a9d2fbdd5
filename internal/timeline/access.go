package timeline

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Section is one read of the guarded resource by a client and the next write under the same
// token, called before the release of that hold has returned. A write without such a read is a
// section of its own, which is blind.
type Section struct {
	Client   int
	Token    string
	Resource *Resource
	Stage    stage

	Call      history.Time // of the read, or of the write if there was none
	Blind     bool         // there was no read
	Read      int64
	ReadAt    history.Time // return of the read
	Wrote     int64
	WriteAt   history.Time // call of the write
	AppliedAt history.Time
	Applied   bool         // the history records that the write was applied
	Guessed   bool         // the apply may be that of another write of the same value
	Return    history.Time // of the write, or its apply if its outcome is unknown
	Late      *Lateness    // nil: its write was not late
	held      bool         // there was a hold when the write was called
}

// stage is how far a section has come.
type stage uint8

// The stages of a section.
const (
	Reading    stage = iota + 1 // the read has not returned
	Holding                     // it has, and no write was called
	Writing                     // the write has not returned
	Returned                    // the write has returned, and was accepted
	Unanswered                  // the outcome of the write is unknown
)

// find returns the section that the access belongs to, if it is at one of the stages.
func (c *Client) section(e *history.Event, stages ...stage) *Section {
	for i := len(c.Sections) - 1; i >= 0; i-- {
		s := c.Sections[i]
		if s.Token != e.Token || s.Resource.Name != e.Resource {
			continue
		}
		for _, at := range stages {
			if s.Stage == at {
				return s
			}
		}
	}
	return nil
}

// wrote returns the section whose write of that value is in progress.
func (c *Client) wrote(e *history.Event) *Section {
	for i := len(c.Sections) - 1; i >= 0; i-- {
		if s := c.Sections[i]; s.Stage == Writing && s.Wrote == e.Value && s.under(e) {
			return s
		}
	}
	return nil
}

// under reports whether the section has the event's token and resource.
func (s *Section) under(e *history.Event) bool {
	return s.Token == e.Token && s.Resource.Name == e.Resource
}

// unapplied returns a section of the client whose write an apply may be about, and how many such
// sections there are. The section is one that has not returned, or that was accepted, if there is
// one: an accepted write was applied in any case.
func (c *Client) unapplied(e *history.Event, anyValue bool) (found *Section, all int) {
	consider := func(s *Section) {
		if s != nil && s.Stage >= Writing && !s.Applied && s.under(e) && (anyValue || s.Wrote == e.Value) {
			found = s
			all++
		}
	}
	for _, s := range c.unanswered[e.Token] {
		consider(s)
	}
	for _, s := range c.Sections {
		consider(s)
	}
	consider(c.accepted)
	return found, all
}

// applied finds the section whose write is applied, and whether it may be another one. The resource
// may not know the client, and the event may leave the value out.
func (t *Timeline) applied(f *Fact) (found *Section, guessed bool) {
	clients := t.Clients
	if f.Client != 0 {
		clients = clients[f.Client : f.Client+1]
	}
	for _, anyValue := range []bool{false, true} {
		sum := 0
		for _, c := range clients {
			if s, all := c.unapplied(f.Event, anyValue); s != nil {
				found = s
				sum += all
			}
		}
		if found != nil || f.Value != 0 {
			return found, sum > 1
		}
	}
	return nil, false
}

func (t *Timeline) openSection(f *Fact, at stage) *Section {
	s := &Section{
		Client: f.Client, Token: f.Token, Resource: t.Resource(f.Resource),
		Stage: at, Call: f.Time,
	}
	f.Actor.Sections = append(f.Actor.Sections, s)
	return s
}

func (t *Timeline) read(f *Fact, force bool) bool {
	if s := f.Actor.section(f.Event, Reading); s != nil && s.Call == f.Time {
		if !force {
			return false
		}
		t.twice(f, "read")
	}
	if f.Replaced = f.Actor.section(f.Event, Reading, Holding); f.Replaced != nil {
		f.Actor.Leave(f.Replaced) // it has read, and begins anew without a write
	}
	f.Section = t.openSection(f, Reading)
	return true
}

// Leave forgets a section that will not write. A write under way has an unknown outcome from then
// on: it may still be applied.
func (c *Client) Leave(s *Section) {
	c.Sections = Remove(c.Sections, s)
	switch s.Stage {
	case Reading:
		c.adrift.reads++
	case Writing:
		c.keep(s)
	}
}

// keep makes the outcome of a section's write unknown. The section is kept until the write is
// applied.
func (c *Client) keep(s *Section) {
	s.Stage, s.Return = Unanswered, s.AppliedAt
	if s.Applied {
		return
	}
	if c.unanswered == nil {
		c.unanswered = map[string][]*Section{}
	}
	c.unanswered[s.Token] = append(c.unanswered[s.Token], s)
}

// arrive enters that the section's write is applied.
func (c *Client) arrive(s *Section, f *Fact, guessed bool) {
	s.Applied, s.AppliedAt, s.Guessed = true, f.Time, guessed
	if s.Stage == Returned {
		return
	}
	s.look(f.Hold, c, true)
	if s.Stage == Writing {
		return
	}
	s.Return = f.Time
	if c.unanswered[s.Token] = Remove(c.unanswered[s.Token], s); len(c.unanswered[s.Token]) == 0 {
		delete(c.unanswered, s.Token)
	}
}

// leaveAll forgets the sections that will not write because their hold is over, or that will do
// nothing because their client is dead. The property checkers have seen them by then. A try that
// was refused, or that entered a hold again, ends no section.
func (c *Client) leaveAll(h *Hold) {
	for i := len(c.Sections) - 1; i >= 0; i-- {
		s := c.Sections[i]
		ends := h.Granted && s.Token == h.Token && s.Resource == h.Resource
		if ends && s.Stage == Writing && !s.Applied {
			s.look(h, c, true)
		}
		if c.Dead || ends && s.Stage != Writing {
			c.Leave(s)
		}
	}
	for _, s := range c.unanswered[h.Token] {
		if h.Granted && s.Resource == h.Resource {
			s.look(h, c, true)
		}
	}
}

func (t *Timeline) readDone(f *Fact, force bool) bool {
	if f.Section = f.Actor.section(f.Event, Reading); f.Section == nil {
		return force && t.uncalled(f, "a read", &f.Actor.adrift.reads)
	}
	s := f.Section
	s.Stage, s.Read, s.ReadAt = Holding, f.Value, f.Time
	if f.Outcome != history.OK {
		f.Actor.Sections = Remove(f.Actor.Sections, s)
	}
	return true
}

// A write belongs to the read before it. A write without one is a section of its own.
func (t *Timeline) write(f *Fact, force bool) bool {
	f.Hold = f.Actor.about(f.Event)
	if f.Section = f.Actor.section(f.Event, Holding); f.Section == nil {
		if !force {
			return false
		}
		if s := f.Actor.section(f.Event, Writing); s != nil && s.WriteAt == f.Time && s.Wrote == f.Value {
			t.twice(f, "write")
		}
		f.Section = t.openSection(f, Writing)
		f.Section.Blind = true
	}
	s := f.Section
	s.Stage, s.Wrote, s.WriteAt = Writing, f.Value, f.Time
	f.Actor.writes++
	s.look(f.Hold, f.Actor, false)
	if f.Hold != nil {
		f.Hold.Writes++
	}
	return true
}

func (t *Timeline) writeDone(f *Fact, force bool) bool {
	if f.Section = f.Actor.wrote(f.Event); f.Section == nil {
		if !force {
			return false
		}
		if f.Section = f.Actor.section(f.Event, Writing); f.Section == nil {
			return t.unwritten(f)
		}
	}
	s := f.Section
	if f.Outcome == history.Declined && s.Applied && !s.Guessed {
		t.contradict("a write of client %d to %s is declined at %s, but was applied at %s", f.Client, f.lock(), textfmt.Instant(f.Time), textfmt.Instant(s.AppliedAt))
	}
	s.Return = f.Time
	f.Actor.Sections = Remove(f.Actor.Sections, s)
	f.Hold = f.Actor.about(f.Event)
	if !s.Applied {
		s.look(f.Hold, f.Actor, true)
	}
	switch f.Outcome {
	case history.OK:
		s.Stage, f.Actor.accepted = Returned, s
	case history.Unknown:
		f.Actor.keep(s)
	case history.Declined:
		if f.Actor.writes > 0 {
			f.Actor.writes--
		}
	}
	if f.Hold != nil && f.Outcome != history.Unknown {
		f.Hold.Writes--
	}
	return true
}

// unwritten reports the return of a write that was not called.
func (t *Timeline) unwritten(f *Fact) bool {
	return t.contradict("a write of %s returns to client %d, which has none under way", f.lock(), f.Client)
}

// apply enters that a write was applied. Its hold may be over by then. No write is applied
// twice. If the write's outcome is unknown, the event waits for the other calls of its instant:
// it may be about one of those.
func (t *Timeline) apply(f *Fact, force bool) bool {
	if f.Client != 0 {
		f.Hold = f.Actor.about(f.Event)
	} else {
		f.Hold = t.Resource(f.Resource).Find(f.Token)
	}
	due := f.Client == 0 || f.Actor.writes > 0
	section, guessed := t.applied(f)
	if !force && !(due && f.Hold != nil && section != nil && section.Stage != Unanswered) {
		return false
	}
	if !due {
		t.contradict("a write of client %d to %s is applied, but none of that client is under way", f.Client, f.lock())
	} else if f.Client != 0 {
		f.Actor.writes--
	}
	if section != nil {
		f.Section = section
		t.Clients[section.Client].arrive(section, f, guessed)
	}
	return true
}

// Lateness says how a section's write was late.
type Lateness struct {
	Over   bool // the hold had ended when the write was called, or before it took effect
	Told   bool // the holder was told of the loss; else its validity had ended
	Died   bool // the hold had ended with its holder
	Since  history.Time
	Paused Pause
	// else the holder had called release before the write took effect
}

// look notes whether a write is late: when it is called, and when it is applied or, if the history
// does not record that, returns. A hold that is forgotten was looked at before: see [Client.leaveAll].
func (s *Section) look(h *Hold, c *Client, effective bool) {
	switch {
	case s.Late != nil || h == nil:
	case h.ReleaseCalled:
		if s.held && effective {
			s.Late = &Lateness{}
		}
	default:
		s.held = true
		if w := &h.Windows[LeaseWindow]; w.Begun && w.Over && (w.By == history.Lapse || w.By == history.Lost || w.By == history.Kill) {
			told := w.By == history.Lost && !(h.Expired() && h.Expiry() <= w.End)
			s.Late = &Lateness{Over: true, Told: told, Died: w.By == history.Kill, Since: w.End, Paused: c.LastPause.Since(s.Call)}
		}
	}
}
