package checker

import (
	"github.com/lockstorm/lockstorm/history"
)

// section is one read and one write of the guarded resource by a client under one token.
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
	arrived history.Time // when the write took effect; 0: that is not known
	ret     history.Time // return of the write
	late    *lateness    // nil: its write was not late
	held    bool         // there was a hold when the write was called
}

// stage is how far a section has come.
type stage uint8

const (
	reading stage = iota + 1 // the read has not returned
	holding                  // it has, and no write was called
	writing                  // the write has not returned
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
		s := c.sections[i]
		if s.stage == writing && s.wrote == e.Value && s.token == e.Token && s.resource.name == e.Resource {
			return s
		}
	}
	return nil
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

// leave forgets a section that will not write.
func (c *client) leave(s *section) {
	c.sections = remove(c.sections, s)
	if s.stage == reading {
		c.adrift.reads++
	}
}

// leaveAll forgets the sections that will not write because their hold is over, or that will do
// nothing because their client is dead. The property checkers have seen them by then.
func (c *client) leaveAll(h *hold) {
	for i := len(c.sections) - 1; i >= 0; i-- {
		if s := c.sections[i]; c.dead || s.stage != writing && s.token == h.token && s.resource == h.resource {
			c.leave(s)
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
	s.ret = f.Time
	f.client.sections = remove(f.client.sections, s)
	f.hold = f.client.about(f.Event)
	s.look(f.hold, f.client, true)
	if f.Outcome == history.Declined && f.client.writes > 0 {
		f.client.writes--
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

// Access is a read and a write of a guarded resource by a client under one token. Its write
// was accepted, or its outcome is unknown.
type Access struct {
	Client   int
	Resource string
	Token    string

	Blind bool  // there was no read
	Read  int64 // the value that was read
	Wrote int64 // the value that was written

	Call    history.Time // of the read, or of the write if there was none
	WriteAt history.Time // call of the write
	Return  history.Time // of the write; 0: it did not return

	Unknown bool // the write may or may not have been applied
}

// Accesses calls each for every access when its outcome is known, or is known to stay
// unknown, at the latest in Finish. It panics if New was not asked for effect exclusion. Call
// it before the first event.
func (p *Checker) Accesses(each func(Access)) {
	p.byOneClock()
	p.checkerOf(Effect).(*effect).each = each
}

func (s *section) told(o history.Outcome) Access {
	return Access{
		Client: s.client, Resource: s.resource.name, Token: s.token,
		Blind: s.blind, Read: s.read, Wrote: s.wrote,
		Call: s.call, WriteAt: s.writeAt, Return: s.ret,
		Unknown: o != history.OK,
	}
}
