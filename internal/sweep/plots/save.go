package plots

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lockstorm/lockstorm/internal/files"
)

// Save writes the chart to name.svg and name.png in a directory, which is made if it is
// not there. Each file is there whole, or as it was before; a chart that cannot be drawn
// changes nothing.
func Save(dir, name string, c Chart) error {
	if name == "" || name == "." || name == ".." || name != filepath.Base(name) {
		return fmt.Errorf("%q is no name for a picture", name)
	}
	f, err := c.figure()
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return fmt.Errorf("chart %s: %w", name, err)
	}
	svg, err := f.svg()
	if err != nil {
		return fmt.Errorf("chart %s: %w", name, err)
	}
	bits, err := f.png()
	if err != nil {
		return fmt.Errorf("chart %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	if err := files.WriteWhole(path+".svg", svg); err != nil {
		return err
	}
	return files.WriteWhole(path+".png", bits)
}

// The library names one font, which few machines have, and not what to take instead: Arial
// and Helvetica have letters of the same widths. No label can hold these words with such a
// quote.
const (
	fontAsWritten = `style="font-family:Liberation Sans;`
	fontOrLike    = `style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`
)

func (f *figure) svg() ([]byte, error) {
	c := vgsvg.New(Width*pixel, Height*pixel)
	if err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	_, err := c.WriteTo(&text)
	return bytes.ReplaceAll(text.Bytes(), []byte(fontAsWritten), []byte(fontOrLike)), err
}

func (f *figure) png() ([]byte, error) {
	c := vgimg.New(Width*pixel, Height*pixel)
	if err := f.draw(draw.New(c)); err != nil {
		return nil, err
	}
	var bits bytes.Buffer
	err := png.Encode(&bits, c.Image())
	return bits.Bytes(), err
}
