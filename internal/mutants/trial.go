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
	// Mutant is the defect in it; its zero value: none, for this is the lock as it is.
	Mutant
	Build time.Duration
	Report
}

// Try builds a mutant and hunts it until one of the properties that the catalogue
// names breaks, or the budget has been spent: so many runs, however long they take, or,
// if that is 0, so much time. tell, if it is not nil, hears what is being done.
func (c Checkout) Try(ctx context.Context, m Mutant, seed uint64, budget time.Duration, runs int, tell func(what string)) (Trial, error) {
	return c.try(ctx, m, Quarry{Lock: m.Lock, Seed: seed, Budget: budget, Runs: runs, Named: m.Names}, tell)
}

// Control is Try for a lock without a defect, of which nothing should be found: all of
// the budget is spent.
func (c Checkout) Control(ctx context.Context, lock string, seed uint64, budget time.Duration, runs int, tell func(what string)) (Trial, error) {
	return c.try(ctx, Mutant{Lock: lock}, Quarry{Lock: lock, Seed: seed, Budget: budget, Runs: runs}, tell)
}

func (c Checkout) try(ctx context.Context, m Mutant, q Quarry, tell func(what string)) (_ Trial, err error) {
	if q.Runs > 0 {
		q.Budget = math.MaxInt64
	}
	if tell == nil {
		tell = func(string) {}
	}
	tell("building")
	h, err := c.Build(ctx, m)
	if err != nil {
		return Trial{}, err
	}
	defer func() {
		if closing := h.Close(); err == nil {
			err = closing
		}
	}()
	tell("hunting")
	report, err := h.Hunt(ctx, q)
	return Trial{Mutant: m, Build: h.Took, Report: report}, err
}

// Controls reports whether the lock had no defect in it.
func (t Trial) Controls() bool { return t.Number == "" }

// Caught returns what gave the defect away: the first find of a property that the
// catalogue names, or else the first of all; nil: nothing did.
func (t Trial) Caught() *Find {
	switch i := slices.IndexFunc(t.Finds, func(f Find) bool { return slices.Contains(t.Names, f.Property) }); {
	case i >= 0:
		return &t.Finds[i]
	case len(t.Finds) > 0:
		return &t.Finds[0]
	}
	return nil
}

// AsNamed reports whether the defect was caught by a property that the catalogue names.
func (t Trial) AsNamed() bool {
	f := t.Caught()
	return f != nil && slices.Contains(t.Names, f.Property)
}

// Codes lists the codes of the properties that the catalogue names.
func Codes(properties []checker.Property) []string {
	codes := make([]string, len(properties))
	for i, p := range properties {
		codes[i] = p.Code()
	}
	return codes
}

// Report is what a hunter has found.
type Report struct {
	Ground string `json:"ground"`
	Seed   uint64 `json:"seed"`
	fuzz.Counts
	Seconds float64 `json:"seconds"` // of the hunt
	Finds   []Find  `json:"finds"`   // the first of each property, in the order of their runs
}

// Find is a run that broke a promise inside its assumptions, and what repeats it in a
// program with the same defect.
type Find struct {
	fuzz.Find
	Seed     uint64          `json:"seed"`
	Scenario json.RawMessage `json:"scenario"` // with the plan that was carried out
}
