package main

import (
	"io"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/terminal"
)

// drawPictures draws the results into their directory and returns the names of the files
// that the summary shows.
func drawPictures(dir string, r sweep.Results, problems io.Writer) ([]string, error) {
	pictures, err := report.CampaignPictures(r)
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
