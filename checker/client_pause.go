package checker

import "github.com/lockstorm/lockstorm/history"

// clientPause is the last pause of a client.
type clientPause struct {
	ever     bool
	from, to history.Time
}

// since returns the pause if it ended after an instant.
func (s clientPause) since(then history.Time) clientPause {
	if s.to <= then {
		return clientPause{}
	}
	return s
}

// tell states the pause, if there was one.
func (s clientPause) tell() []Statement {
	if !s.ever {
		return nil
	}
	return []Statement{{Kind: StoodStill, From: s.from, To: s.to}}
}
