package checker

import "github.com/lockstorm/lockstorm/history"

// Access is one read and one write of a guarded resource by a client under one token.
// Its write was accepted, or nobody can tell.
type Access struct {
	Client   int
	Resource string
	Token    string

	Blind bool  // there was no read
	Read  int64 // the value
	Wrote int64 // the value

	Call    history.Time // of the read, or of the write if there was none
	WriteAt history.Time // call of the write
	Return  history.Time // of the write; 0: it did not return

	Unknown bool // the write may have been applied, or not at all
}

// Accesses makes a panel that was asked for effect exclusion tell each access when its
// outcome is known, or is known to stay unknown: at the latest when the panel is asked to
// finish. It is to be called before the first event.
func (p *Checker) Accesses(each func(Access)) { p.checkerOf(Effect).(*effect).each = each }

func (s *section) told(o history.Outcome) Access {
	return Access{
		Client: s.client, Resource: s.resource.name, Token: s.token,
		Blind: s.blind, Read: s.read, Wrote: s.wrote,
		Call: s.call, WriteAt: s.writeAt, Return: s.ret,
		Unknown: o != history.OK,
	}
}
