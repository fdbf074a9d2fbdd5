package main

import (
	"github.com/lockstorm/lockstorm/report/campaign"
	"github.com/lockstorm/lockstorm/sweep"
	"github.com/lockstorm/lockstorm/sweep/plots"
)

// drawPictures draws the results into their directory and returns the names of the files
// that the summary shows.
func drawPictures(dir string, r sweep.Results) ([]string, error) {
	pictures, err := campaign.Pictures(r)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range pictures {
		if err := plots.Save(dir, p.Name, p.Chart); err != nil {
			return nil, err
		}
		names = append(names, p.Name+".svg")
	}
	return names, nil
}
