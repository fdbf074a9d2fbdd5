package checker

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// section is one read of the guarded resource by a client and the next write under the same
// token, called before the release of that hold has returned. A write without such a read is a
// section of its own, which is blind.
type section struct {
	client   int
	token    string
	resource *resource
	stage    stage

	call    history.Time // of the read, or of the write if there was none
	blind   bool         // there was no read
	read    int64
	readAt  history.Time // return of the read
	wrote   int64
	writeAt history.Time // call of the write
	arrived history.Time // when the write was applied; 0: that is not known
	ret     history.Time // return of the write, or arrived if its outcome is unknown
	guessed bool         // arrived may be that of another write of the same value
	late    *lateness    // nil: its write was not late
	held    bool         // there was a hold when the write was called
}

// stage is how far a section has come.
type stage uint8

const (
	reading    stage = iota + 1 // the read has not returned
	holding                     // it has, and no write was called
	writing                     // the write has not returned
	returned                    // the write has returned, and was accepted
	unanswered                  // the outcome of the write is unknown
)

// find returns the section that the access belongs to, if it is at one of the stages.
func (c *client) section(e *history.Event, stages ...stage) *section {
	for i := len(c.sections) - 1; i >= 0; i-- {
		s := c.sections[i]
		if s.token != e.Token || s.resource.name != e.Resource {
			continue
		}
		for _, at := range stages {
			if s.stage == at {
				return s
			}
		}
	}
	return nil
}

// wrote returns the section whose write of that value is in progress.
func (c *client) wrote(e *history.Event) *section {
	for i := len(c.sections) - 1; i >= 0; i-- {
		if s := c.sections[i]; s.stage == writing && s.wrote == e.Value && s.under(e) {
			return s
		}
	}
	return nil
}

// under reports whether the section has the event's token and resource.
func (s *section) under(e *history.Event) bool {
	return s.token == e.Token && s.resource.name == e.Resource
}

// unapplied returns a section of the client whose write an apply may be about, and how many such
// sections there are. The section is one that has not returned, or that was accepted, if there is
// one: an accepted write was applied in any case.
func (c *client) unapplied(e *history.Event, anyValue bool) (found *section, all int) {
	consider := func(s *section) {
		if s != nil && s.stage >= writing && s.arrived == 0 && s.under(e) && (anyValue || s.wrote == e.Value) {
			found = s
			all++
		}
	}
	for _, s := range c.unanswered[e.Token] {
		consider(s)
	}
	for _, s := range c.sections {
		consider(s)
	}
	consider(c.accepted)
	return found, all
}

// applied finds the section whose write is applied, and whether it may be another one. The resource
// may not know the client, and the event may leave the value out.
func (l *state) applied(f *fact) (found *section, guessed bool) {
	clients := l.clients
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

func (l *state) openSection(f *fact, at stage) *section {
	s := &section{
		client: f.Client, token: f.Token, resource: l.resource(f.Resource),
		stage: at, call: f.Time,
	}
	f.client.sections = append(f.client.sections, s)
	return s
}

func (l *state) read(f *fact, force bool) bool {
	if s := f.client.section(f.Event, reading); s != nil && s.call == f.Time {
		if !force {
			return false
		}
		l.twice(f, "read")
	}
	if f.replaced = f.client.section(f.Event, reading, holding); f.replaced != nil {
		f.client.leave(f.replaced) // it has read, and begins anew without a write
	}
	f.section = l.openSection(f, reading)
	return true
}

// leave forgets a section that will not write. A write under way has an unknown outcome from then
// on: it may still be applied.
func (c *client) leave(s *section) {
	c.sections = remove(c.sections, s)
	switch s.stage {
	case reading:
		c.adrift.reads++
	case writing:
		c.keep(s)
	}
}

// keep makes the outcome of a section's write unknown. The section is kept until the write is
// applied.
func (c *client) keep(s *section) {
	s.stage, s.ret = unanswered, s.arrived
	if s.arrived != 0 {
		return
	}
	if c.unanswered == nil {
		c.unanswered = map[string][]*section{}
	}
	c.unanswered[s.token] = append(c.unanswered[s.token], s)
}

// arrive enters that the section's write is applied.
func (c *client) arrive(s *section, f *fact, guessed bool) {
	s.arrived, s.guessed = f.Time, guessed
	if s.stage == returned {
		return
	}
	s.look(f.hold, c, true)
	if s.stage == writing {
		return
	}
	s.ret = f.Time
	if c.unanswered[s.token] = remove(c.unanswered[s.token], s); len(c.unanswered[s.token]) == 0 {
		delete(c.unanswered, s.token)
	}
}

// leaveAll forgets the sections that will not write because their hold is over, or that will do
// nothing because their client is dead. The property checkers have seen them by then. A try that
// was refused, or that entered a hold again, ends no section.
func (c *client) leaveAll(h *hold) {
	for i := len(c.sections) - 1; i >= 0; i-- {
		s := c.sections[i]
		ends := h.returned && s.token == h.token && s.resource == h.resource
		if ends && s.stage == writing && s.arrived == 0 {
			s.look(h, c, true)
		}
		if c.dead || ends && s.stage != writing {
			c.leave(s)
		}
	}
	for _, s := range c.unanswered[h.token] {
		if h.returned && s.resource == h.resource {
			s.look(h, c, true)
		}
	}
}

func (l *state) readDone(f *fact, force bool) bool {
	if f.section = f.client.section(f.Event, reading); f.section == nil {
		return force && l.uncalled(f, "a read", &f.client.adrift.reads)
	}
	s := f.section
	s.stage, s.read, s.readAt = holding, f.Value, f.Time
	if f.Outcome != history.OK {
		f.client.sections = remove(f.client.sections, s)
	}
	return true
}

// A write belongs to the read before it. A write without one is a section of its own.
func (l *state) write(f *fact, force bool) bool {
	f.hold = f.client.about(f.Event)
	if f.section = f.client.section(f.Event, holding); f.section == nil {
		if !force {
			return false
		}
		if s := f.client.section(f.Event, writing); s != nil && s.writeAt == f.Time && s.wrote == f.Value {
			l.twice(f, "write")
		}
		f.section = l.openSection(f, writing)
		f.section.blind = true
	}
	s := f.section
	s.stage, s.wrote, s.writeAt = writing, f.Value, f.Time
	f.client.writes++
	s.look(f.hold, f.client, false)
	if f.hold != nil {
		f.hold.writes++
	}
	return true
}

func (l *state) writeDone(f *fact, force bool) bool {
	if f.section = f.client.wrote(f.Event); f.section == nil {
		if !force {
			return false
		}
		if f.section = f.client.section(f.Event, writing); f.section == nil {
			return l.unwritten(f)
		}
	}
	s := f.section
	if f.Outcome == history.Declined && s.arrived != 0 && !s.guessed {
		l.contradict("a write of client %d to %s is declined at %s, but was applied at %s", f.Client, f.lock(), textfmt.Instant(f.Time), textfmt.Instant(s.arrived))
	}
	s.ret = f.Time
	f.client.sections = remove(f.client.sections, s)
	f.hold = f.client.about(f.Event)
	if s.arrived == 0 {
		s.look(f.hold, f.client, true)
	}
	switch f.Outcome {
	case history.OK:
		s.stage, f.client.accepted = returned, s
	case history.Unknown:
		f.client.keep(s)
	case history.Declined:
		if f.client.writes > 0 {
			f.client.writes--
		}
	}
	if f.hold != nil && f.Outcome != history.Unknown {
		f.hold.writes--
	}
	return true
}

// unwritten reports the return of a write that was not called.
func (l *state) unwritten(f *fact) bool {
	return l.contradict("a write of %s returns to client %d, which has none under way", f.lock(), f.Client)
}

// apply enters that a write was applied. Its hold may be over by then. No write is applied
// twice.
func (l *state) apply(f *fact, force bool) bool {
	if f.Client != 0 {
		f.hold = f.client.about(f.Event)
	} else {
		f.hold = l.resource(f.Resource).find(f.Token)
	}
	due := f.Client == 0 || f.client.writes > 0
	section, guessed := l.applied(f)
	if !force && !(due && f.hold != nil && section != nil) {
		return false
	}
	if !due {
		l.contradict("a write of client %d to %s is applied, but none of that client is under way", f.Client, f.lock())
	} else if f.Client != 0 {
		f.client.writes--
	}
	if section != nil {
		f.section = section
		l.clients[section.client].arrive(section, f, guessed)
	}
	return true
}

// lateness says how a section's write was late.
type lateness struct {
	over  bool // the hold had ended when the write was called, or before it took effect
	told  bool // the holder was told of the loss; else its validity had ended
	died  bool // the hold had ended with its holder
	since history.Time
	stood clientPause
	// else the holder had called release before the write took effect
}

// look notes whether a write is late: when it is called, and when it is applied or, if the history
// does not record that, returns. A hold that is forgotten was looked at before: see [client.leaveAll].
func (s *section) look(h *hold, c *client, effective bool) {
	switch {
	case s.late != nil || h == nil:
	case h.letGo:
		if s.held && effective {
			s.late = &lateness{}
		}
	default:
		s.held = true
		if w := &h.windows[leaseWindow]; w.begun && w.over && (w.by == history.Lapse || w.by == history.Lost || w.by == history.Kill) {
			told := w.by == history.Lost && !(h.expired() && h.expiry() <= w.end)
			s.late = &lateness{over: true, told: told, died: w.by == history.Kill, since: w.end, stood: c.still.since(s.call)}
		}
	}
}
