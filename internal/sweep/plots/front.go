package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Front is settings to choose from, each with two costs.
type Front struct {
	Title    string
	X, Y     Axis
	Settings []Setting
	Marks    []Mark
}

// Setting is one choice.
type Setting struct {
	X, Y float64

	// Label is drawn beside it if there is room.
	Label string

	// Best marks a Pareto-optimal setting. These are joined, in the order of X. Recommended
	// marks the recommended one; there is one at most.
	Best, Recommended bool
}

func (f Front) figure(s Style) (*figure, error) {
	xs, ys, err := f.values()
	if err != nil {
		return nil, err
	}
	fig := &figure{title: f.Title, marks: f.Marks, legend: f.entries(s)}
	if fig.x, err = f.X.paddedScale(xs); err != nil {
		return nil, err
	}
	if fig.y, err = f.Y.paddedScale(ys); err != nil {
		return nil, err
	}
	fig.layers = []layer{
		func(c draw.Canvas, fig *figure) { f.join(c, fig, s) },
		func(c draw.Canvas, fig *figure) { f.dots(c, fig, s) },
		func(c draw.Canvas, fig *figure) { f.labels(c, fig, s) },
	}
	for _, one := range f.Settings {
		if err := printable(one.Label); err != nil {
			return nil, err
		}
	}
	return fig, nil
}

func (f Front) values() (xs, ys []float64, err error) {
	if len(f.Settings) == 0 {
		return nil, nil, ErrEmpty
	}
	recommended := 0
	for i, s := range f.Settings {
		if err := (XY{s.X, s.Y}).check(f.X, f.Y); err != nil {
			return nil, nil, fmt.Errorf("setting %d %q: %w", i+1, s.Label, err)
		}
		if s.Recommended {
			recommended++
		}
		xs, ys = append(xs, s.X), append(ys, s.Y)
	}
	if recommended > 1 {
		return nil, nil, fmt.Errorf("%d settings are recommended: want at most 1", recommended)
	}
	for _, m := range f.Marks {
		if err := f.X.check(m.X); err != nil {
			return nil, nil, fmt.Errorf("mark %q: %w", m.Label, err)
		}
		xs = append(xs, m.X)
	}
	return xs, ys, nil
}

// best returns the settings on the front, by X.
func (f Front) best() (list []Setting) {
	for _, s := range f.Settings {
		if s.Best {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b Setting) int { return cmp.Compare(a.X, b.X) })
	return list
}

// joined joins the settings on the front.
func (s Style) joined() draw.LineStyle { return draw.LineStyle{Color: s.best, Width: 1.4} }

func (f Front) join(c draw.Canvas, fig *figure, style Style) {
	var line []vg.Point
	for _, s := range f.best() {
		line = append(line, fig.point(c, XY{s.X, s.Y}))
	}
	if len(line) > 1 {
		c.StrokeLines(style.joined(), line)
	}
}

// glyph returns the marker of a setting. Markers differ in shape and size, too.
func (s Setting) glyph(style Style) draw.GlyphStyle {
	switch {
	case s.Recommended:
		return draw.GlyphStyle{Color: style.recommended, Radius: 5.5, Shape: filled{markers[3]}}
	case s.Best:
		return draw.GlyphStyle{Color: style.best, Radius: 3, Shape: filled{markers[1]}}
	}
	return draw.GlyphStyle{Color: faint, Radius: 2.2, Shape: markers[0]}
}

// The kinds of settings.
const (
	beatenKind      = "beaten by another"
	bestKind        = "Pareto front"
	recommendedKind = "recommended"
)

// kind returns the kind of a setting.
func (s Setting) kind() string {
	switch {
	case s.Recommended:
		return recommendedKind
	case s.Best:
		return bestKind
	}
	return beatenKind
}

// byWeight returns the settings in the order of drawing.
func (f Front) byWeight(style Style) []Setting {
	list := slices.Clone(f.Settings)
	slices.SortStableFunc(list, func(a, b Setting) int { return cmp.Compare(a.glyph(style).Radius, b.glyph(style).Radius) })
	return list
}

func (f Front) dots(c draw.Canvas, fig *figure, style Style) {
	for _, s := range f.byWeight(style) {
		c.DrawGlyph(s.glyph(style), fig.point(c, XY{s.X, s.Y}))
	}
}

// labels draws labels where they cover neither points nor lines nor each other, the most
// important first.
func (f Front) labels(c draw.Canvas, fig *figure, style Style) {
	room := labelPlacer{bounds: c.Rectangle}
	for _, s := range f.Settings {
		room.dot(fig.point(c, XY{s.X, s.Y}), s.glyph(style).Radius+1)
	}
	line := f.best()
	for i := 1; i < len(line); i++ {
		room.line(fig.point(c, XY{line[i-1].X, line[i-1].Y}), fig.point(c, XY{line[i].X, line[i].Y}))
	}
	for _, s := range slices.Backward(f.byWeight(style)) {
		if s.Label != "" {
			room.label(c, s.Label, fig.point(c, XY{s.X, s.Y}), s.glyph(style).Radius)
		}
	}
}

func (f Front) entries(style Style) (list []entry) {
	for _, kind := range []struct {
		of     Setting
		thumbs []thumb // below the marker
	}{
		{Setting{Recommended: true}, nil},
		{Setting{Best: true}, []thumb{sample(style.joined())}},
		{Setting{}, nil},
	} {
		if slices.ContainsFunc(f.Settings, func(s Setting) bool { return s.kind() == kind.of.kind() }) {
			list = append(list, entry{name: kind.of.kind(), thumbs: append(kind.thumbs, dot(kind.of.glyph(style)))})
		}
	}
	return list
}
