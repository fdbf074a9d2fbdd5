package report

import (
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/sweep/series"
)

// captions are what the results of a sweep do not say of their pictures, by its name.
var captions = map[string]plots.Say{
	"restart-delay":           {Marks: outwaited},
	"restart-delay-price":     {Show: []plots.Quantity{plots.Availability, plots.Outage}, Marks: outwaited},
	"restart-delay-reference": {Marks: outwaited},
	"drift":                   {Line: series.DriftLine, LineName: "the least allowance that covers the error"},
}

// outwaited is where the delay is long enough.
var outwaited = []plots.Mark{{X: series.SafeDelayShare(), Label: "safe delay by formula"}}

// CampaignPictures are those of the results.
func CampaignPictures(r sweep.Results) ([]plots.Picture, error) {
	return plots.Of(r, captions[r.Sweep])
}

// CaptionedPictures names the sweeps of whose pictures something is said that their results do not
// say.
func CaptionedPictures() []string { return slices.Sorted(maps.Keys(captions)) }
