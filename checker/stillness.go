package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

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

// tell adds when a client stood still, if it did.
func (s stillness) tell() string {
	switch {
	case !s.ever:
		return ""
	case s.to == forever:
		return fmt.Sprintf("; it stood still from %s on", at(s.from))
	}
	return fmt.Sprintf("; it stood still from %s to %s", at(s.from), at(s.to))
}
