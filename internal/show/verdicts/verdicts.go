// Package verdicts shows verdicts on a page: as signs with colours, those of many rows in a matrix,
// and how often a property was violated as a bar. A sign never depends on its colour alone.
package verdicts

import (
	_ "embed" // for the style and the templates
	"html/template"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Verdict is what was found of a property, and what was expected.
type Verdict struct {
	Property checker.Property
	Found    checker.Verdict // 0: not judged
	Expected checker.Verdict // 0: nothing was expected
	Note     string          // a few characters below the sign, such as "3/14"; may be empty
}

// Differs reports whether another verdict was expected.
func (v Verdict) Differs() bool { return v.Expected != 0 && v.Found != 0 && v.Expected != v.Found }

// Kind is the CSS class of the sign.
func (v Verdict) Kind() string {
	switch v.Found {
	case checker.Holds, checker.Violated, checker.Unknown:
		return v.Found.String()
	}
	return "none"
}

// Sign is the verdict that was found, in one character.
func (v Verdict) Sign() string { return sign(v.Found) }

// ExpectedSign is the verdict that was expected, in one character.
func (v Verdict) ExpectedSign() string { return sign(v.Expected) }

// sign differs from that of the terminal where nothing was judged: a dot would be lost on a page.
func sign(v checker.Verdict) string {
	if v == 0 || v == checker.NotApplicable {
		return "–"
	}
	return summary.Sign(v)
}

// Label is the verdict in words.
func (v Verdict) Label() string {
	text := v.Property.Code() + " " + v.Property.Title() + ": "
	switch v.Found {
	case 0:
		text += "not judged"
	case checker.NotApplicable:
		text += "not applicable"
	default:
		text += v.Found.String()
	}
	switch {
	case v.Differs():
		text += "; expected: " + v.Expected.String()
	case v.Expected != 0 && v.Found != 0:
		text += ", as expected"
	}
	if v.Note != "" {
		text += " (" + v.Note + ")"
	}
	return text
}

// text is the verdict without a page: the sign, and what was expected instead.
func (v Verdict) text() string {
	text := v.Sign()
	if v.Differs() {
		text += "≠" + v.ExpectedSign()
	}
	if v.Note != "" {
		text += " " + v.Note
	}
	return text
}

// order is the place of the verdict in a sorted column: what is worst comes last.
func (v Verdict) order() int {
	switch v.Found {
	case checker.Violated:
		return 3
	case checker.Unknown:
		return 2
	case checker.Holds:
		return 1
	}
	return 0
}

// Strip is the verdicts of one run, side by side.
type Strip []Verdict

// HTML returns the signs with the codes of their properties.
func (s Strip) HTML() (template.HTML, error) { return render("strip", s) }

// AsText returns the signs with the codes of their properties.
func (s Strip) AsText(int) string {
	all := make([]string, len(s))
	for i, v := range s {
		all[i] = v.Property.Code() + " " + v.text()
	}
	return strings.Join(all, "  ") + "\n"
}

// Assets returns the style.
func (s Strip) Assets() []document.Assets { return assets() }

// Legend explains the signs and the codes of properties.
type Legend struct{}

// HTML returns the legend.
func (Legend) HTML() (template.HTML, error) {
	return render("legend", struct {
		Signs      []legendSign
		Properties []checker.Property
	}{legendSigns, checker.Properties()})
}

// AsText returns the legend in two paragraphs.
func (Legend) AsText(width int) string {
	var signs []string
	for _, s := range legendSigns {
		signs = append(signs, s.Verdict.text()+" "+s.Meaning)
	}
	return strings.Join(textfmt.Lines(strings.Join(signs, "; ")+".", width), "\n") + "\n" +
		strings.Join(textfmt.Lines(summary.Codes()+".", width), "\n") + "\n"
}

// Assets returns the style.
func (Legend) Assets() []document.Assets { return assets() }

type legendSign struct {
	Verdict
	Meaning string
}

var legendSigns = []legendSign{
	{Verdict{Found: checker.Holds}, "holds in every run"},
	{Verdict{Found: checker.Violated}, "violated in some run"},
	{Verdict{Found: checker.Unknown}, "undecided in some run"},
	{Verdict{Found: checker.NotApplicable}, "not applicable"},
	{Verdict{Found: checker.Violated, Expected: checker.Holds}, "found, and below it what was expected instead"},
}

var (
	//go:embed verdicts.css
	style string

	//go:embed verdicts.html
	templates string

	blocks = template.Must(template.New("verdicts").Parse(templates))
)

func assets() []document.Assets { return []document.Assets{{Name: "verdicts", Style: style}} }

func render(name string, data any) (template.HTML, error) {
	var out strings.Builder
	err := blocks.ExecuteTemplate(&out, name, data)
	return template.HTML(out.String()), err
}
