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

// Try builds a mutant and hunts it until a named property is violated or the budget is used
// up: runs, or time if runs is 0. progress, unless nil, is called with the current stage.
func (c Checkout) Try(ctx context.Context, m Mutant, seed uint64, budget time.Duration, runs int, progress func(what string)) (Trial, error) {
	return c.try(ctx, m, Task{Lock: m.Lock, Seed: seed, Budget: budget, Runs: runs, Named: m.Names}, progress)
}

// Control is Try for a lock without a defect. It uses up the budget, and nothing should be
// found.
func (c Checkout) Control(ctx context.Context, lock string, seed uint64, budget time.Duration, runs int, progress func(what string)) (Trial, error) {
	return c.try(ctx, Mutant{Lock: lock}, Task{Lock: lock, Seed: seed, Budget: budget, Runs: runs}, progress)
}

func (c Checkout) try(ctx context.Context, m Mutant, q Task, progress func(what string)) (_ Trial, err error) {
	if q.Runs > 0 {
		q.Budget = math.MaxInt64
	}
	if progress == nil {
		progress = func(string) {}
	}
	progress("building")
	h, err := c.Build(ctx, m)
	if err != nil {
		return Trial{}, err
	}
	defer func() {
		if closing := h.Close(); err == nil {
			err = closing
		}
	}()
	progress("hunting")
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
