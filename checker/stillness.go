package checker

import "github.com/lockstorm/lockstorm/history"

// stillness is the last time in which a client stood still.
type stillness struct {
	ever     bool
	from, to history.Time
}

// since returns the stillness if it lasted into what began then.
func (s stillness) since(then history.Time) stillness {
	if s.to <= then {
		return stillness{}
	}
	return s
}

// tell says when a client stood still, if it did.
func (s stillness) tell() []Statement {
	if !s.ever {
		return nil
	}
	return []Statement{{Kind: StoodStill, From: s.from, To: s.to}}
}
