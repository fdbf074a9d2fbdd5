package main

import (
	"io"

	"github.com/lockstorm/lockstorm/internal/terminal"
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

// drawPictures draws the results into their directory and returns the names of the files
// that the summary shows.
func drawPictures(dir string, r sweep.Results, problems io.Writer) ([]string, error) {
	pictures, err := plots.Of(r, captions[r.Sweep])
	if err != nil {
		return nil, err
	}
	bar := terminal.NewBar(problems, "pictures", int64(len(pictures)), terminal.Steps)
	defer bar.Done()
	var names []string
	for _, p := range pictures {
		if err := plots.Save(dir, p.Name, p.Chart); err != nil {
			return nil, err
		}
		names = append(names, p.Name+".svg")
		bar.Step()
	}
	return names, nil
}
