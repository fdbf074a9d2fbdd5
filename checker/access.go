package checker

import "github.com/lockstorm/lockstorm/history"

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
func (p *Checker) Accesses(each func(Access)) { p.checkerOf(Effect).(*effect).each = each }

func (s *section) told(o history.Outcome) Access {
	return Access{
		Client: s.client, Resource: s.resource.name, Token: s.token,
		Blind: s.blind, Read: s.read, Wrote: s.wrote,
		Call: s.call, WriteAt: s.writeAt, Return: s.ret,
		Unknown: o != history.OK,
	}
}
