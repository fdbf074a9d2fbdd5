package ci

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// MaxSummary is how many bytes the summary of a step may have: of a longer one GitHub
// shows nothing.
const MaxSummary = 1 << 20

// GitHubSummary is the report in Markdown, in no more bytes than there is room for: a table of
// the suites, each check that is not as expected, with its story and the command that
// repeats it, and what was not run. What there is no room for is counted.
func GitHubSummary(r Report, room int) string {
	page := &page{room: room - spare}
	page.add(head(r))
	cut := 0
	for s, c := range r.Of(Contradiction, Undecided) {
		if !page.add(section(s, c)) {
			cut++
		}
	}
	if cut > 0 {
		page.text.WriteString(fmt.Sprintf("\nThere is no room for %d more: the JUnit file has them.\n", cut))
	}
	for _, o := range []Outcome{NotRun, NotApplicable} {
		for _, s := range r.Suites {
			if !page.add(left(s, o)) {
				page.text.WriteString(fmt.Sprintf("\n%s of %s: %v.\n", textfmt.Count(s.Count(o), "check"), s.Name, o))
			}
		}
	}
	page.add(foot(r))
	return page.text.String()
}

// spare is room for what is said of what there is no room for.
const spare = 1 << 10

// page is a text, and how much room there is for it.
type page struct {
	text strings.Builder
	room int
}

// add adds a part whole, or not at all.
func (p *page) add(part string) bool {
	if p.text.Len()+len(part) > p.room {
		return false
	}
	p.text.WriteString(part)
	return true
}

// head is the conclusion, and a table of the suites.
func head(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Lockstorm: %v\n\n| suite |", r.Conclusion())
	for _, o := range Outcomes() {
		fmt.Fprintf(&b, " %v |", o)
	}
	fmt.Fprintf(&b, " time |\n|---|%s---:|\n", strings.Repeat("---:|", len(Outcomes())))
	for _, s := range r.Suites {
		fmt.Fprintf(&b, "| %s |", s.Name)
		for _, o := range Outcomes() {
			fmt.Fprintf(&b, " %d |", s.Count(o))
		}
		fmt.Fprintf(&b, " %s |\n", textfmt.Duration(s.Took().Round(time.Millisecond)))
	}
	for _, s := range r.Suites {
		if s.Note != "" {
			fmt.Fprintf(&b, "\n%s: %s\n", s.Name, plain.Replace(s.Note))
		}
	}
	return b.String()
}

// section tells of one check.
func section(s Suite, c Check) string {
	fence := "```"
	for strings.Contains(c.Text(), fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n### %s: %s, %v\n\n%s\n%s%s\n", s.Name, plain.Replace(c.Name), c.Outcome, fence, c.Text(), fence)
}

// left names the checks of a suite that nothing was learnt of, and says why.
func left(s Suite, o Outcome) string {
	reasons, names := s.Left(o)
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("\n### %s: %s, %v\n\n%s: %s\n", s.Name, textfmt.Count(len(names), "check"), o, plain.Replace(reasons), plain.Replace(strings.Join(names, ", ")))
}

// foot says what it was checked with.
func foot(r Report) string {
	if r.With == "" {
		return ""
	}
	return fmt.Sprintf("\n%s, %s.\n", plain.Replace(r.With), textfmt.Duration(r.Took.Round(time.Millisecond)))
}

// plain keeps Markdown from reading more into a text than its letters.
var plain = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`, "|", `\|`, "\n", " ")
