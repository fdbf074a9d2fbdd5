package campaign

import (
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/sweep"
	"github.com/lockstorm/lockstorm/sweep/drift"
	"github.com/lockstorm/lockstorm/sweep/plots"
	"github.com/lockstorm/lockstorm/sweep/restart"
)

// captions are what the results of a sweep do not say of their pictures, by its name.
var captions = map[string]plots.Say{
	"restart-delay":           {Marks: outwaited},
	"restart-delay-price":     {Show: []plots.Quantity{plots.Availability, plots.Outage}, Marks: outwaited},
	"restart-delay-reference": {Marks: outwaited},
	"drift":                   {Line: drift.Line, LineName: "the least allowance that covers the error"},
}

// outwaited is where the delay is long enough.
var outwaited = []plots.Mark{{X: restart.Safe(), Label: "safe delay by formula"}}

// Pictures are those of the results.
func Pictures(r sweep.Results) ([]plots.Picture, error) { return plots.Of(r, captions[r.Sweep]) }

// Captioned names the sweeps of whose pictures something is said that their results do not
// say.
func Captioned() []string { return slices.Sorted(maps.Keys(captions)) }
