package plots

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lockstorm/lockstorm/internal/files"
)

// Format is a kind of file, named by its extension.
type Format string

// The formats: pictures, and the content of a chart as a table.
const (
	SVG     Format = "svg"
	PNG     Format = "png"
	PDF     Format = "pdf"
	CSV     Format = "csv"
	Parquet Format = "parquet" // in a build with the tag parquet
)

// IsTable reports whether files of the format have a chart's content, and not its picture.
func (f Format) IsTable() bool { return f == CSV || f == Parquet }

// Formats returns the formats that this build can write.
func Formats() []Format {
	all := []Format{SVG, PNG, PDF, CSV}
	if writeParquet != nil {
		all = append(all, Parquet)
	}
	return all
}

// ErrNoParquet is returned for [Parquet] by a build without it. The library would add a quarter
// to the time that building the command takes.
var ErrNoParquet = errors.New("this build has no Parquet: build with -tags parquet")

// writeParquet writes a table as Parquet; nil in a build without it.
var writeParquet func(columns []Column, about About) ([]byte, error)

// Encode returns the chart in a format. The same chart always gives the same bytes.
func Encode(c Chart, format Format, style Style, about About) ([]byte, error) {
	f, err := c.figure(style)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, err
	}
	if style.untitled {
		f.title = ""
	}
	about.Title = c.words()
	about.Formula, about.Runs = cmp.Or(about.Formula, f.formula), cmp.Or(about.Runs, f.runs)
	switch format {
	case SVG:
		return f.svg(style.size(f), about)
	case PNG:
		return f.png(style.size(f), about)
	case PDF:
		return f.pdf(style.size(f), about)
	case CSV, Parquet:
		return EncodeTable(withProgram(c.table(), about), format, about)
	}
	return nil, fmt.Errorf("unknown format %q: want one of %s", format, joinFormats(Formats()))
}

func joinFormats(all []Format) string {
	var names []string
	for _, f := range all {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Save writes the chart to files of a name in a directory, which it creates if necessary: one for
// each format. Each file is replaced atomically. An invalid chart changes nothing.
func Save(dir, name string, c Chart, formats []Format, style Style, about About) error {
	return saveAll(dir, name, formats, func(f Format) ([]byte, error) { return Encode(c, f, style, about) })
}

// SaveTable writes a table to files as [Save] does, in those of the formats that are of tables.
func SaveTable(dir, name string, columns []Column, formats []Format, about About) error {
	about.Title = name
	tables := slices.DeleteFunc(slices.Clone(formats), func(f Format) bool { return !f.IsTable() })
	return saveAll(dir, name, tables, func(f Format) ([]byte, error) { return EncodeTable(columns, f, about) })
}

// saveAll writes files of a name, after all of them could be encoded.
func saveAll(dir, name string, formats []Format, encode func(Format) ([]byte, error)) error {
	if name == "" || name == "." || name == ".." || name != filepath.Base(name) {
		return fmt.Errorf("invalid name of a picture: %q", name)
	}
	contents := make([][]byte, len(formats))
	for i, format := range formats {
		var err error
		if contents[i], err = encode(format); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, format := range formats {
		if err := files.WriteWhole(filepath.Join(dir, name+"."+string(format)), contents[i]); err != nil {
			return err
		}
	}
	return nil
}

// ParseFormats reads formats by their names. Each occurs once.
func ParseFormats(names []string) (list []Format, err error) {
	for _, name := range names {
		f := Format(strings.ToLower(strings.TrimSpace(name)))
		switch {
		case f == Parquet && writeParquet == nil:
			return nil, ErrNoParquet
		case !slices.Contains(Formats(), f):
			return nil, fmt.Errorf("unknown format %q: want one of %s", name, joinFormats(Formats()))
		case !slices.Contains(list, f):
			list = append(list, f)
		}
	}
	return list, nil
}

// styles are the styles by name.
var styles = map[string]Style{"screen": Screen, "print": Print}

// ParseStyle reads a style by its name.
func ParseStyle(name string) (Style, error) {
	s, ok := styles[name]
	if !ok {
		return s, fmt.Errorf("unknown style %q: want screen or print", name)
	}
	return s, nil
}

// svg draws the figure with its texts as outlines, which look the same in every program, whatever
// fonts it has.
func (f *figure) svg(s size, about About) ([]byte, error) {
	picture, err := f.textSVG(s.width, s.height)
	if err != nil {
		return nil, err
	}
	return about.intoSVG(s.intoSVG(outlined(picture))), nil
}

// The library names only one font, which few machines have. Arial and Helvetica have letters
// of the same widths. No label contains these words with such a quote.
const (
	fontAsWritten = `style="font-family:Liberation Sans;`
	fontOrLike    = `style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`
)

// textSVG draws the figure with its texts as texts.
func (f *figure) textSVG(width, height vg.Length) ([]byte, error) {
	c := vgsvg.New(width, height)
	if err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	_, err := c.WriteTo(&text)
	return bytes.ReplaceAll(text.Bytes(), []byte(fontAsWritten), []byte(fontOrLike)), err
}

func (f *figure) png(s size, about About) ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(s.width, s.height), vgimg.UseDPI(s.dots()))
	if err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var bits bytes.Buffer
	if err := png.Encode(&bits, c.Image()); err != nil {
		return nil, err
	}
	return about.intoPNG(s.intoPNG(bits.Bytes())), nil
}
