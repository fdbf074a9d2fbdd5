package mutants

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// Trial is one lock that was built and hunted.
type Trial struct {
	// Mutant is its defect; the zero value: the unchanged lock.
	Mutant
	Build time.Duration
	Report
}

// Effort bounds a hunt: by time, or by runs if these are positive.
type Effort struct {
	Seed   uint64
	Budget time.Duration
	Runs   int
}

// Try builds a mutant and hunts it until a named property is violated, or the effort is made. A mutant
// without a number is a lock without a defect: the whole effort is made, and nothing should be found.
func (c Checkout) Try(ctx context.Context, m Mutant, e Effort) (_ Trial, err error) {
	q := Task{Lock: m.Lock, Seed: e.Seed, Budget: e.Budget, Runs: e.Runs, Named: m.Names}
	if q.Runs > 0 {
		q.Budget = math.MaxInt64
	}
	h, err := c.Build(ctx, m)
	if err != nil {
		return Trial{}, err
	}
	defer func() {
		if closing := h.Close(); err == nil {
			err = closing
		}
	}()
	report, err := h.Hunt(ctx, q)
	return Trial{Mutant: m, Build: h.Took, Report: report}, err
}

// Controls reports whether the lock had no defect.
func (t Trial) Controls() bool { return t.Number == "" }

// Caught returns the find that revealed the defect: the first of a named property, or else the
// first of all; nil: none.
func (t Trial) Caught() *Find {
	switch i := slices.IndexFunc(t.Finds, func(f Find) bool { return slices.Contains(t.Names, f.Property) }); {
	case i >= 0:
		return &t.Finds[i]
	case len(t.Finds) > 0:
		return &t.Finds[0]
	}
	return nil
}

// AsNamed reports whether a named property was violated.
func (t Trial) AsNamed() bool {
	f := t.Caught()
	return f != nil && slices.Contains(t.Names, f.Property)
}

// Codes returns the codes of properties.
func Codes(properties []checker.Property) []string {
	codes := make([]string, len(properties))
	for i, p := range properties {
		codes[i] = p.Code()
	}
	return codes
}

// Report is the result of a hunter.
type Report struct {
	Space string `json:"ground"`
	Seed  uint64 `json:"seed"`
	fuzz.Counts
	Seconds float64 `json:"seconds"` // of the hunt
	Finds   []Find  `json:"finds"`   // the first of each property, in the order of their runs
}

// Find is a run that broke a promise inside its assumptions, with what repeats it in a program
// with the same defect.
type Find struct {
	fuzz.Find
	Seed     uint64          `json:"seed"`
	Scenario json.RawMessage `json:"scenario"` // with the plan that was carried out
}
