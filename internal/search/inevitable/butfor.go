package inevitable

import (
	"context"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// ButFor is the probability of the violation without one fault: of futures from just before it begins,
// in which all other faults take place.
type ButFor struct {
	Fault    int         `json:"fault"` // its number in the plan, from 1
	What     string      `json:"what"`
	Violated runner.Rate `json:"violated"` // futures without it that violate the property
	With     runner.Rate `json:"with"`     // and with it
	Role     Role        `json:"role"`
}

// Role is what a fault or a message has to do with a violation.
type Role string

// The roles.
const (
	Necessary    Role = "necessary"    // hardly any run violates the property without it
	Contributing Role = "contributing" // fewer do
	Undecided    Role = "undecided"    // there are too few runs to tell
	Irrelevant   Role = "irrelevant"   // about as many do
)

// Without what is necessary, up to such a share of the runs violates a property. Without what is
// irrelevant, such a part of the share with it is left at least.
const (
	hardlyAny   = 0.05
	aboutAsMany = 0.8
)

func (b ButFor) role() Role {
	low, _ := b.With.Wilson()
	_, high := b.Violated.Wilson()
	switch {
	case b.Violated.Share() <= hardlyAny && high < low:
		return Necessary
	case high < low:
		return Contributing
	case b.Violated.Share() < aboutAsMany*b.With.Share():
		return Undecided
	}
	return Irrelevant
}

// butFor makes the futures without each fault.
func (f *futures) butFor(ctx context.Context, p *past, n int) (all []ButFor, err error) {
	whole := uint64(1)<<len(f.scenario.Plan) - 1
	for i, fault := range f.scenario.Plan {
		event := p.before(i)
		b := ButFor{Fault: i + 1, What: fault.String()}
		if b.With, err = f.rate(ctx, whole, event, n); err == nil {
			b.Violated, err = f.rate(ctx, whole&^(1<<i), event, n)
		}
		if err != nil || ctx.Err() != nil {
			return all, err
		}
		if b.With.N > 0 && b.Violated.N > 0 {
			b.Role = b.role()
			all = append(all, b)
		}
	}
	return all, nil
}

// before returns the event before which a fault has not begun. If it never began, that is the last.
func (p *past) before(fault int) int {
	event := 0
	for _, m := range p.moments {
		if m.begun>>fault&1 == 1 {
			return event
		}
		event = m.event
	}
	return event
}

// rate counts the futures from an event with some of the faults that violate the property. There are
// none if the plan is not valid with these faults.
func (f *futures) rate(ctx context.Context, faults uint64, event, n int) (runner.Rate, error) {
	e, err := f.experiment(faults)
	if err != nil {
		return runner.Rate{}, nil
	}
	return count(ctx, n, func(ctx context.Context, number uint64) (bool, error) {
		return f.violated(ctx, e, f.branchedAt(event, number))
	})
}
