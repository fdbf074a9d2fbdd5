package checker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Report is all that a [Checker] finds in one history.
type Report struct {
	Findings     []Finding    `json:"findings"` // one for each property that New was asked for, in the order of [Properties]
	Measurements Measurements `json:"measurements"`

	// Cut is why the history is incomplete, so that every property that is not
	// violated is unknown; empty if the history is complete.
	Cut string `json:"cut,omitempty"`

	// Untried lists the numbers of the faults after which no client began a try to acquire, or was granted
	// a lock, in order: also those that went on when the history ended.
	Untried []int `json:"-"`

	// UntilClock is the clock by which the history was judged: that of its header or, if it names none,
	// that which the events show.
	UntilClock history.UntilClock `json:"-"`
}

// Place is a part of a history: the events of one resource, or of all if none is
// named, from one instant to another, both included.
type Place struct {
	Resource string       `json:"resource,omitempty"` // left out: all
	Client   int          `json:"client,omitempty"`   // the client that it is about; left out: several or none
	From     history.Time `json:"from"`               // its first instant
	To       history.Time `json:"to"`                 // its last instant
}

// Pair is two grants that overlap. From and To are equal if the second grant ended before its call
// returned.
type Pair struct {
	First  Grant        `json:"first"`          // the holder's
	Second Grant        `json:"second"`         // the newcomer's
	From   history.Time `json:"from"`           // from when both were held
	To     history.Time `json:"to"`             // until when
	Open   bool         `json:"open,omitempty"` // the history ended before either hold did, at that instant
}

// Overlap returns how long both grants were held.
func (p *Pair) Overlap() time.Duration { return p.To.Sub(p.From) }

// Grant names one grant.
type Grant struct {
	Client   int           `json:"client"`   // who acquired the lock
	Resource string        `json:"resource"` // what is locked
	Token    string        `json:"token"`    // of the acquisition
	Call     history.Time  `json:"call"`     // when acquire was called
	Granted  history.Time  `json:"granted"`  // when it returned
	Validity time.Duration `json:"validity"` // what was left then, by the client's clock
}

// Finding returns what was found about a property.
func (r Report) Finding(p Property) Finding {
	for _, f := range r.Findings {
		if f.Property == p {
			return f
		}
	}
	return Finding{Property: p, Verdict: Unknown, Undecided: "it was not judged"}
}

// Verdicts returns the verdict of every property.
func (r Report) Verdicts() Verdicts {
	v := make(Verdicts, len(r.Findings))
	for _, f := range r.Findings {
		v[f.Property] = f.Verdict
	}
	return v
}

// Verdicts are the verdicts of one history, found or expected. In files they are a
// mapping of names to names, in JSON in the order of [Properties].
type Verdicts map[Property]Verdict

// MarshalJSON writes an object in the order of the properties.
func (v Verdicts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	written := 0
	for _, p := range Properties() {
		verdict, ok := v[p]
		if !ok {
			continue
		}
		if written > 0 {
			b.WriteByte(',')
		}
		written++
		value, err := json.Marshal(verdict)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", p, value)
	}
	if written < len(v) {
		return nil, fmt.Errorf("checker: a verdict of a property that there is not")
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
