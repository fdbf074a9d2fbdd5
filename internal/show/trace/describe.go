package trace

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Entry is one event of a trace: [Happened], [Sent], [*Replied], [Asked], [Answered] or [ClockIs].
type Entry interface {
	// tell puts it into words: who did it, and what. Without words it is not worth a line.
	tell(t *describer) (who Participant, what string)
}

// describer puts records into words, one after another.
type describer struct {
	header   history.Header
	rounds   map[int]*round
	requests map[int]env.StoreRequest
	windows  windows
	several  bool // resources are locked
	strikes  bool // something happens at the step that is told
}

// round is a request and the votes for it so far.
type round struct {
	command env.Command
	asked   env.NodeSet
	yes     int // votes
}
