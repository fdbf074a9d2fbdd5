package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/tune"
	"github.com/lockstorm/lockstorm/results"
)

// figureOptions are the flags of figures.
type figureOptions struct {
	out     string
	names   []string // of formats
	style   string
	width   string
	title   string
	only    []string // names of figures and tables; empty: all
	formats []plots.Format
	drawn   plots.Style
}

func newFigures() *cobra.Command {
	var o figureOptions
	cmd := &cobra.Command{
		Use:   "figures DIR…",
		Short: "Draw the figures of a stored sweep, debate or advice for a paper",
		Long: `Draw the figures of results that "sweep --out", "merge --out", "tune --out", "debate
--save" or "compare --save" stored, and run nothing. Each figure becomes a file in each
format: a picture (svg, pdf, png), or its values as a table (csv, and parquet in a build
with -tags parquet). Of a debate, each series whose values are numbers is drawn; all rows
of a debate and of a comparison are tables, with a line for each scenario and property.

The texts of an SVG are outlines and those of a PDF are in an embedded font, so they
look the same everywhere. The metadata of a picture has its title, formula, number of
runs, first seed, the command that makes the data, and the versions of lockstorm that
made the data and the picture, if it was built with one. The same program draws the
same bytes from the same results.

--style print uses black and grey only: curves differ in dashes and markers.

--width makes figures that fit into a paper without scaling: texts have 8 points or
more at each width, and a png has 300 dots per inch. "column" fits into one column of
ACM, IEEE, Nature and Elsevier (84 mm), "page" into both (177 mm).

--title none leaves the title to the caption of a paper; the metadata keep it. --only draws
some of the figures and tables, by the names of their files without extension.

The foot of a figure says how many runs a point has, and by how much points are moved
sideways where they would cover each other. Tables have a row for each point, with its
curve, x, y, interval, formula, runs, and the version of lockstorm that made it.

Exit codes: 0 the figures are written; 2 bad usage or input.`,
		Example: `  lockstorm figures results/reference/restart-delay
  lockstorm figures results/reference/drift --format pdf --style print --out paper
  lockstorm figures results/reference/drift --format pdf --width column
  lockstorm figures results/reference/restart-delay --only restart-delay-plain --title none
  lockstorm figures results/reference --format csv,pdf`,
		Args: takes(1, anyNumber),
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "figures", "directory for the files; existing files are replaced")
	f.StringSliceVar(&o.names, "format", formatNames(), "formats: svg, pdf, png, csv, parquet")
	f.StringVar(&o.style, "style", "screen", "screen (colours), or print (black and grey)")
	f.StringVar(&o.width, "width", "", "width on paper: column (84 mm), page (177 mm), or a length such as 85mm or 3.5in (default: 800 pixels, for screens)")
	f.StringVar(&o.title, "title", titleAbove, "above (the figure), or none (in the metadata alone)")
	f.StringSliceVar(&o.only, "only", nil, "draw only the figures and tables of these `names`")
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if err := o.parse(); err != nil {
			return err
		}
		found, err := o.find(dirs)
		if err != nil {
			return err
		}
		for _, one := range found {
			if err := o.draw(one, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
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
	if o.width != "" {
		if o.drawn, err = o.drawn.Wide(o.width); err != nil {
			return fmt.Errorf("--width: %w", err)
		}
	}
	switch o.title {
	case titleAbove:
	case titleNone:
		o.drawn = o.drawn.Untitled()
	default:
		return fmt.Errorf("--title: unknown place %q: want %s or %s", o.title, titleAbove, titleNone)
	}
	return nil
}

// Where the title of a figure is.
const (
	titleAbove = "above"
	titleNone  = "none"
)

// storedFigures are the figures of stored results, and tables of all of them.
type storedFigures struct {
	dir      string
	pictures []plots.Picture
	tables   []storedTable
	about    plots.About
}

type storedTable struct {
	name, what string
	columns    []plots.Column
	about      plots.About
}

// find returns the chosen figures of directories.
func (o *figureOptions) find(dirs []string) ([]storedFigures, error) {
	var found []storedFigures
	var names []string
	for _, dir := range dirs {
		all, err := figuresIn(dir)
		if err != nil {
			return nil, err
		}
		all.dir = dir
		found, names = append(found, all), append(names, all.names()...)
	}
	if len(o.only) == 0 {
		return found, nil
	}
	for _, name := range o.only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--only: no figure %q: want one of %s", name, strings.Join(names, ", "))
		}
	}
	for i := range found {
		found[i] = found[i].only(o.only)
	}
	return slices.DeleteFunc(found, func(f storedFigures) bool { return len(f.names()) == 0 }), nil
}

// names returns the names of the files, without extension.
func (s storedFigures) names() (names []string) {
	for _, p := range s.pictures {
		names = append(names, p.Name)
	}
	for _, t := range s.tables {
		names = append(names, t.name)
	}
	return names
}

// only returns the figures and tables that have one of the names.
func (s storedFigures) only(names []string) storedFigures {
	s.pictures = slices.DeleteFunc(s.pictures, func(p plots.Picture) bool { return !slices.Contains(names, p.Name) })
	s.tables = slices.DeleteFunc(s.tables, func(t storedTable) bool { return !slices.Contains(names, t.name) })
	return s
}

// draw draws figures and prints the names of their files.
func (o *figureOptions) draw(all storedFigures, out, problems io.Writer) error {
	if len(all.pictures) == 0 && !slices.ContainsFunc(o.formats, plots.Format.IsTable) {
		return fmt.Errorf("%s: only tables (%s): want --format csv", all.dir, strings.Join(all.names(), ", "))
	}
	bar := terminal.NewBar(problems, "figures", int64(len(all.pictures)), terminal.Steps)
	defer bar.Done()
	for _, p := range all.pictures {
		if err := plots.Save(o.out, p.Name, p.Chart, o.formats, o.drawn, drawnHere(all.about)); err != nil {
			return err
		}
		bar.Step()
	}
	bar.Done()
	for _, p := range all.pictures {
		if _, err := fmt.Fprintf(out, "%s: %s\n", filepath.Join(o.out, p.Name), plots.Title(p.Chart)); err != nil {
			return err
		}
	}
	return o.saveTables(all.tables, out)
}

// saveTables writes tables, if a format is one of tables.
func (o *figureOptions) saveTables(tables []storedTable, out io.Writer) error {
	if !slices.ContainsFunc(o.formats, plots.Format.IsTable) {
		return nil
	}
	for _, t := range tables {
		if err := plots.SaveTable(o.out, t.name, t.columns, o.formats, drawnHere(t.about)); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", filepath.Join(o.out, t.name), t.what); err != nil {
			return err
		}
	}
	return nil
}

// figuresIn returns the figures of the results in a directory.
func figuresIn(dir string) (storedFigures, error) {
	info, err := files.Stat(dir)
	if err != nil {
		return storedFigures{}, err
	}
	if !info.IsDir() {
		return storedFigures{}, fmt.Errorf("%s is a file: want the directory of the results, as %s", dir, filepath.Dir(dir))
	}
	for _, kind := range []struct {
		file string
		read func(dir string) (storedFigures, error)
	}{{tune.AdviceFile, figuresOfAdvice}, {sweep.OutcomesFile, figuresOfSweep}, {results.DebateFile, figuresOfSuites}, {results.CompareFile, figuresOfSuites}} {
		if _, err := os.Stat(filepath.Join(dir, kind.file)); !errors.Is(err, fs.ErrNotExist) {
			return kind.read(dir)
		}
	}
	return storedFigures{}, fmt.Errorf("%s has none of %s, %s, %s and %s: it is not the directory of a sweep, of advice, or of a debate or comparison",
		dir, sweep.OutcomesFile, tune.AdviceFile, results.DebateFile, results.CompareFile)
}

func figuresOfAdvice(dir string) (storedFigures, error) {
	a, err := tune.LoadAdvice(dir)
	if err == nil && len(a.Front) == 0 && a.Recommended == nil {
		err = fmt.Errorf("%s: the advice has no setting to draw", dir)
	}
	return storedFigures{pictures: []plots.Picture{{Name: "front", Chart: report.FrontPicture(a)}}, about: report.FrontAbout(a)}, err
}

func figuresOfSweep(dir string) (storedFigures, error) {
	r, err := sweep.Load(dir)
	if err != nil {
		return storedFigures{}, err
	}
	if !r.Complete() {
		return storedFigures{}, fmt.Errorf("%s is incomplete: %d of %s", dir, len(r.Outcomes), textfmt.Count(r.Units(), "point"))
	}
	pictures, err := report.CampaignPictures(r)
	return storedFigures{pictures: pictures, about: report.PictureAbout(r.Head)}, err
}

// figuresOfSuites returns the series of a debate, and the tables of a debate and a comparison that are
// stored side by side.
func figuresOfSuites(dir string) (all storedFigures, err error) {
	for _, suite := range []struct{ file, command string }{{results.DebateFile, "debate"}, {results.CompareFile, "compare"}} {
		f, err := results.LoadReference(dir, suite.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return all, err
		}
		about := report.ReferenceAbout(f, suite.command)
		all.tables = append(all.tables, storedTable{suite.command, "every scenario and property", report.ReferenceTable(f), about})
		if suite.file == results.DebateFile {
			if all.pictures, err = report.DebatePictures(f); err != nil {
				return all, fmt.Errorf("%s: %w", dir, err)
			}
			all.about = about
		}
	}
	return all, nil
}

// printReferenceCSV prints the results of a debate or a comparison.
func printReferenceCSV(out io.Writer, f results.Reference) error {
	text, err := plots.EncodeTable(report.ReferenceTable(f), plots.CSV, plots.About{})
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

// drawnHere says that this program draws the picture.
func drawnHere(about plots.About) plots.About {
	about.Drawer = thisProgram()
	return about
}
