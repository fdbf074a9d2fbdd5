package timeline

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Fact is an event and what it is about. Fields that do not apply are nil.
type Fact struct {
	*history.Event
	Ordinal  int // of the event, from 1; 0: the history does not record it, as a lapse by the file's clock
	Actor    *Client
	Locked   *Resource // of a change of a key
	Hold     *Hold
	Try      *Hold // the try of a grant that enters the hold again: see [Reentered]
	Section  *Section
	Released *releasedHold // the released hold that an extension is about

	Replaced *Section // the section that a read ends without a write

	LinkChanged bool         // the event changes the state of a link
	WaitedSince history.Time // since when a watch has waited for the answer that the event is

	Call Call          // the call that the event returns from
	Took time.Duration // from call to return, without pauses of the client
}

// isCall reports whether the kind is a call that a return ends.
func isCall(k history.Kind) bool {
	switch k {
	case history.Acquire, history.Extend, history.Release, history.Read, history.Write, history.Check:
		return true
	}
	return false
}

// lock names the resource and the token of the event.
func (f *Fact) lock() string {
	return fmt.Sprintf("%q under token %s", textfmt.Name(f.Resource), textfmt.Token(f.Token))
}
