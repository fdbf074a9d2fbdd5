package series

import "github.com/lockstorm/lockstorm/internal/measure/sweep"

// Named is a sweep by the name that it gives itself.
type Named struct {
	Name string
	Make func() sweep.Sweep

	// Formula states the formula of a curve in words; "" if the curve has none. nil: no curve has one.
	Formula func(curve string) string
}

// All lists the sweeps.
var All = []Named{
	{"restart-delay", RestartDelay, delayFormula},
	{"restart-delay-price", RestartDelayPrice, nil},
	{"restart-delay-reference", RestartDelayReference, forAll(referenceFormula)},
	{"restart-boundary", RestartBoundary, forAll(boundaryFormula)},
	{"drift", Drift, forAll(driftFormula)},
	{"drift-edge", DriftEdge, forAll(driftFormula)},
}

// forAll states one formula for all curves.
func forAll(words string) func(string) string { return func(string) string { return words } }
