package checker

import "github.com/lockstorm/lockstorm/history"

// clientPause is the last time in which a client stood still.
type clientPause struct {
	ever     bool
	from, to history.Time
}

// since returns the stillness if it lasted into what began then.
func (s clientPause) since(then history.Time) clientPause {
	if s.to <= then {
		return clientPause{}
	}
	return s
}

// tell says when a client stood still, if it did.
func (s clientPause) tell() []Statement {
	if !s.ever {
		return nil
	}
	return []Statement{{Kind: StoodStill, From: s.from, To: s.to}}
}
