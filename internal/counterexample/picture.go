package counterexample

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/page"
)

// Picture is what one page shows.
type Picture struct {
	// Name names the picture among those of its history: the first property that it is
	// about, or [Cut].
	Name string

	// Findings are what is shown, at least one; the first says where.
	Findings []checker.Finding

	cut string // why the history was cut short, if that is what is shown
}

// Cut is the name of the picture of a history that was cut short: where it ends, with all
// that is unknown for that reason.
const Cut = "cut"

// Of returns the pictures that a report calls for: one of each property that is violated,
// or that was left open, and one of where the history was cut short, if it was. Section
// exclusion has none of its own if the same overlap of the same two grants violates lease
// exclusion: they are one picture.
func Of(r checker.Report) []Picture {
	var all []Picture
	cut := Picture{Name: Cut, cut: r.Cut}
	for _, f := range r.Findings {
		switch {
		case f.Verdict == checker.Unknown && r.Cut != "":
			cut.Findings = append(cut.Findings, f)
		case f.Verdict == checker.Violated && len(all) > 0 && same(f, all[len(all)-1].Findings[0]):
			last := &all[len(all)-1]
			last.Findings = append(last.Findings, f)
		case f.Verdict == checker.Violated, f.Verdict == checker.Unknown:
			all = append(all, Picture{Name: f.Property.String(), Findings: []checker.Finding{f}})
		}
	}
	if len(cut.Findings) > 0 {
		all = append(all, cut)
	}
	return all
}

// same reports whether both findings are of the same two grants, at the same place.
func same(a, b checker.Finding) bool {
	return a.First != nil && reflect.DeepEqual(a.First, b.First) && reflect.DeepEqual(a.Where, b.Where)
}

// Properties returns the properties that the picture is about.
func (p Picture) Properties() []checker.Property {
	all := make([]checker.Property, len(p.Findings))
	for i, f := range p.Findings {
		all[i] = f.Property
	}
	return all
}

// subject is the property whose specification the picture is drawn by: a history that was
// cut short is drawn by its leases.
func (p Picture) subject() checker.Property {
	switch {
	case p.cut != "":
		return checker.Lease
	case slices.Contains([]checker.Property{checker.Section, checker.Effect, checker.Fence}, p.Findings[0].Property):
		return p.Findings[0].Property
	}
	return checker.Lease
}

// searchLimit is the longest that porcupine may look for an order of what is shown.
const searchLimit = 5 * time.Second

// Page draws the picture. open opens the history, plain, from its begin. A history that
// cannot be read to its end is drawn as far as it can.
func (p Picture) Page(open func() (io.ReadCloser, error)) ([]byte, error) {
	e, err := p.excerpt(open)
	if err != nil {
		return nil, err
	}
	d := e.draw()
	drawn := page.Search(d.model, d.operations, searchLimit)
	var out bytes.Buffer
	err = drawn.Write(&out, p.head(e, d, drawn.Result), d.marks)
	return out.Bytes(), err
}
