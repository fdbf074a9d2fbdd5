package terminal

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// When says when text is coloured.
type When string

// When text is coloured.
const (
	Auto   When = "auto"   // on a terminal that can, unless NO_COLOR is set
	Always When = "always" // wherever it goes
	Never  When = "never"
)

// Whens are all of them, the default first.
var Whens = []When{Auto, Always, Never}

// ParseWhen reads one of them.
func ParseWhen(text string) (When, error) {
	for _, w := range Whens {
		if text == string(w) {
			return w, nil
		}
	}
	return "", fmt.Errorf("%q: want %s, %s or %s", text, Auto, Always, Never)
}

// The colours, of the 256 that terminals have: blue and orange, which almost everybody can
// tell apart, of a brightness that can be read on black and on white. No text says less
// without them: beside each stands a sign or a word.
var (
	good   = ansi.NewStyle().ForegroundColor(ansi.IndexedColor(32))
	bad    = ansi.NewStyle().ForegroundColor(ansi.IndexedColor(166)).Bold()
	strong = ansi.NewStyle().Bold()
)

// Good colours what is as it should be.
func (s Screen) Good(text string) string { return s.in(good, text) }

// Bad colours what is violated or contradicts.
func (s Screen) Bad(text string) string { return s.in(bad, text) }

// Strong is for headings, and for what is open.
func (s Screen) Strong(text string) string { return s.in(strong, text) }

func (s Screen) in(style ansi.Style, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return style.Styled(text)
}

// open is the sign of a verdict that is unknown, behind the code of a property or by itself.
var open = regexp.MustCompile(`^\?|\b[A-Z][0-9]?\?`)

// Verdicts colours a text by the verdicts in it: the signs, or the word of one that it
// consists of.
func (s Screen) Verdicts(text string) string {
	if !s.Colour {
		return text
	}
	switch text {
	case "holds":
		return s.Good(text)
	case "violated":
		return s.Bad(text)
	case "unknown":
		return s.Strong(text)
	}
	text = open.ReplaceAllStringFunc(text, s.Strong)
	return strings.NewReplacer("✓", s.Good("✓"), "✗", s.Bad("✗")).Replace(text)
}
