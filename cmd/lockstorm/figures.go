package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/tune"
)

// figureOptions are the flags of figures.
type figureOptions struct {
	out     string
	names   []string // of formats
	style   string
	formats []plots.Format
	drawn   plots.Style
}

func newFigures() *cobra.Command {
	var o figureOptions
	cmd := &cobra.Command{
		Use:   "figures DIR…",
		Short: "Draw the figures of a stored sweep or advice for a paper",
		Long: `Draw the figures of results that "sweep --out", "merge --out" or "tune --out" stored, and
run nothing. Each figure becomes a file in each format: a picture (svg, pdf, png), or
its values as a table (csv, and parquet in a build with -tags parquet).

The texts of an SVG are outlines and those of a PDF are in an embedded font, so they
look the same everywhere. The metadata of a picture has its title, formula, number of
runs, first seed, and the command that makes the data. The same results give the same
bytes.

--style print uses black and grey only: curves differ in dashes and markers.

Exit codes: 0 the figures are written; 2 bad usage or input.`,
		Example: `  lockstorm figures results/reference/restart-delay
  lockstorm figures results/reference/drift --format pdf --style print --out paper`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "figures", "directory for the files; existing files are replaced")
	f.StringSliceVar(&o.names, "format", formatNames(), "formats: svg, pdf, png, csv, parquet")
	f.StringVar(&o.style, "style", "screen", "screen (colours), or print (black and grey)")
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if err := o.parse(); err != nil {
			return err
		}
		for _, dir := range dirs {
			if err := o.draw(dir, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// formatNames names the formats of this build.
func formatNames() (names []string) {
	for _, f := range plots.Formats() {
		names = append(names, string(f))
	}
	return names
}

func (o *figureOptions) parse() (err error) {
	if o.formats, err = plots.ParseFormats(o.names); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	if o.drawn, err = plots.ParseStyle(o.style); err != nil {
		return fmt.Errorf("--style: %w", err)
	}
	return nil
}

// draw draws the figures of a directory and prints the names of their files.
func (o *figureOptions) draw(dir string, out, problems io.Writer) error {
	pictures, about, err := storedPictures(dir)
	if err != nil {
		return err
	}
	bar := terminal.NewBar(problems, "figures", int64(len(pictures)), terminal.Steps)
	defer bar.Done()
	for _, p := range pictures {
		if err := plots.Save(o.out, p.Name, p.Chart, o.formats, o.drawn, about); err != nil {
			return err
		}
		bar.Step()
	}
	bar.Done()
	for _, p := range pictures {
		if _, err := fmt.Fprintf(out, "%s: %s\n", filepath.Join(o.out, p.Name), plots.Title(p.Chart)); err != nil {
			return err
		}
	}
	return nil
}

// storedPictures returns the figures of the results in a directory.
func storedPictures(dir string) ([]plots.Picture, plots.About, error) {
	if _, err := os.Stat(filepath.Join(dir, tune.AdviceFile)); err == nil {
		a, err := tune.LoadAdvice(dir)
		if err == nil && len(a.Front) == 0 && a.Recommended == nil {
			err = fmt.Errorf("%s: the advice has no setting to draw", dir)
		}
		return []plots.Picture{{Name: "front", Chart: report.FrontPicture(a)}}, report.FrontAbout(a), err
	}
	if _, err := os.Stat(filepath.Join(dir, sweep.JournalFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, plots.About{}, fmt.Errorf("%s has neither %s nor %s: it is not the directory of a sweep or of advice", dir, sweep.JournalFile, tune.AdviceFile)
	}
	r, err := sweep.ReadJournal(dir)
	if err != nil {
		return nil, plots.About{}, err
	}
	if !r.Complete() {
		return nil, plots.About{}, fmt.Errorf("%s is incomplete: %d of %s", dir, len(r.Outcomes), textfmt.Count(r.Units(), "point"))
	}
	pictures, err := report.CampaignPictures(r)
	return pictures, report.PictureAbout(r.Head), err
}
