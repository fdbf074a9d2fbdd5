// Package shrink makes a run that shows something into a smaller one that still does:
// fewer clients, faults, nodes and steps, rounder times.
//
// Nothing is assumed: every smaller run is made, and kept only if it shows the same.
package shrink

import (
	"context"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Shows runs a scenario with a seed and reports whether it still shows what it is
// shrunk for. An error ends the shrinking.
type Shows func(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error)

// Shrink returns the smallest scenario that it finds to show the same. The scenario
// must have a plan and no generator.
func Shrink(ctx context.Context, s scenarios.Scenario, seed uint64, shows Shows) (scenarios.Scenario, error) {
	for i := 0; i < len(s.Plan); {
		smaller := s
		smaller.Plan = append(s.Plan[:i:i], s.Plan[i+1:]...)
		still, err := shows(ctx, smaller, seed)
		switch {
		case err != nil:
			return s, err
		case still:
			s = smaller
		default:
			i++
		}
	}
	return s, nil
}
