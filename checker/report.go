package checker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Report is all that a panel finds of one history.
type Report struct {
	Findings     []Finding    `json:"findings"` // one of each property that was asked for, in their order
	Measurements Measurements `json:"measurements"`

	// Cut is why the history does not go to the end of a run, so that what it
	// does not violate is unknown; empty if it does.
	Cut string `json:"cut,omitempty"`
}

// Place is a part of a history: what concerns a resource, or all of them if none is
// named, from one instant to another, both included.
type Place struct {
	Resource string       `json:"resource,omitempty"`
	Client   int          `json:"client,omitempty"` // whom it is about alone; 0: nobody in particular
	From     history.Time `json:"from"`
	To       history.Time `json:"to"`
}

// Pair is two grants that exclude each other and did not.
type Pair struct {
	First  Grant `json:"first"`
	Second Grant `json:"second"`

	// From and To bound the time in which both were held. They are equal
	// when the second grant was over before its call returned.
	From history.Time `json:"from"`
	To   history.Time `json:"to"`

	// Open says that the history ended before either hold did; To is then
	// its last instant.
	Open bool `json:"open,omitempty"`
}

// Overlap returns how long both grants were held.
func (p *Pair) Overlap() time.Duration { return p.To.Sub(p.From) }

// Grant names one grant.
type Grant struct {
	Client   int           `json:"client"`
	Resource string        `json:"resource"`
	Token    string        `json:"token"`
	Call     history.Time  `json:"call"`     // of acquire
	Granted  history.Time  `json:"granted"`  // its return
	Validity time.Duration `json:"validity"` // that it was granted with, on the client's clock
}

// Finding returns what was found of a property.
func (r Report) Finding(p Property) Finding {
	for _, f := range r.Findings {
		if f.Property == p {
			return f
		}
	}
	return Finding{Property: p, Verdict: Unknown, Events: []Statement{{Kind: NotJudged}}}
}

// Verdicts returns the verdict of every property.
func (r Report) Verdicts() Verdicts {
	v := make(Verdicts, len(r.Findings))
	for _, f := range r.Findings {
		v[f.Property] = f.Verdict
	}
	return v
}

// Verdicts is the verdicts of one history, or those that are expected of it.
// In files it is a mapping of names to names; in JSON in the order of the
// properties.
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
