package ci

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// MaxAnnotations is how many annotations of a kind GitHub shows for a step.
const MaxAnnotations = 10

// AnnotateGitHub writes an error for each contradiction, and a warning for each undecided check
// and for each suite with checks that were not run. Of more than [MaxAnnotations] of a kind,
// the last says how many were left out.
func AnnotateGitHub(w io.Writer, r Report) error {
	var errors, warnings []annotation
	for s, c := range r.Of(Contradiction) {
		errors = append(errors, annotationOf(s, c))
	}
	for s, c := range r.Of(Undecided) {
		warnings = append(warnings, annotationOf(s, c))
	}
	for _, s := range r.Suites {
		if reasons, names := s.Skipped(NotRun); len(names) > 0 {
			warnings = append(warnings, annotation{title: "lockstorm " + s.Name, text: textfmt.Count(len(names), "check") + " not run: " + reasons})
		}
	}
	if err := write(w, "error", errors); err != nil {
		return err
	}
	return write(w, "warning", warnings)
}

// annotation is about a check, at its file if it has one.
type annotation struct{ title, file, text string }

func annotationOf(s Suite, c Check) annotation {
	return annotation{title: fmt.Sprintf("lockstorm %s: %s", s.Name, c.Name), file: c.File, text: strings.TrimSpace(c.Text())}
}

func write(w io.Writer, kind string, list []annotation) error {
	if more := len(list) - MaxAnnotations; more > 0 {
		list = append(list[:MaxAnnotations-1:MaxAnnotations-1], annotation{
			title: "lockstorm", text: fmt.Sprintf("and %d more: the summary of the step has them", more+1),
		})
	}
	for _, a := range list {
		properties := "title=" + property.Replace(a.title)
		if a.file != "" {
			properties = "file=" + property.Replace(a.file) + "," + properties
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", kind, properties, data.Replace(a.text)); err != nil {
			return err
		}
	}
	return nil
}

// Escapes of workflow commands. Property values escape their separators as well.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// MaxSummary is the maximum size of a step's summary in bytes. GitHub drops a longer one.
const MaxSummary = 1 << 20

// GitHubSummary is the report in Markdown, in at most room bytes: a table of the suites, each
// check that is not as expected, with its story and command, the first of them also as a diagram, the
// checks that were not run, and a table of all checks. What does not fit is counted.
func GitHubSummary(r Report, room int) string {
	page := &page{room: room - reserve}
	page.add(head(r))
	cut, drawn := 0, false
	for s, c := range r.Of(Contradiction, Undecided) {
		if !page.add(section(s, c)) {
			cut++
		} else if !drawn && c.Diagram != "" {
			drawn = page.add(diagram(c))
		}
	}
	if cut > 0 {
		page.text.WriteString(fmt.Sprintf("\nThere is no room for %d more: the JUnit file has them.\n", cut))
	}
	for _, o := range []Outcome{NotRun, NotApplicable} {
		for _, s := range r.Suites {
			if !page.add(skipped(s, o)) {
				page.text.WriteString(fmt.Sprintf("\n%s of %s: %v.\n", textfmt.Count(s.Count(o), "check"), s.Name, o))
			}
		}
	}
	for _, s := range r.Suites {
		page.add(table(s))
	}
	page.add(foot(r))
	return page.text.String()
}

// reserve is room for the counts of what does not fit.
const reserve = 1 << 10

// page is a text with limited room.
type page struct {
	text strings.Builder
	room int
}

// add adds a part, if it fits.
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
	fmt.Fprintf(&b, "## Lockstorm: %v\n\n", r.Conclusion())
	if r.Tested != "" {
		fmt.Fprintf(&b, "Tested: %s.\n\n", plain.Replace(r.Tested))
	}
	b.WriteString("| suite |")
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

// section describes one check.
func section(s Suite, c Check) string {
	fence := "```"
	for strings.Contains(c.Text(), fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n### %s: %s, %v\n\n%s\n%s%s\n", s.Name, plain.Replace(c.Name), c.Outcome, fence, c.Text(), fence)
}

// diagram shows what happened in the run of a check. GitHub draws no pictures of a run's files.
func diagram(c Check) string {
	return fmt.Sprintf("\nWhat happened, from top to bottom:\n\n```mermaid\n%s```\n", c.Diagram)
}

// table lists the checks of a suite that were run, with what was found.
func table(s Suite) string {
	var b strings.Builder
	for _, c := range s.Checks {
		if c.Outcome != NotRun && c.Outcome != NotApplicable {
			fmt.Fprintf(&b, "| %s | %v | %s |\n", plain.Replace(c.Name), c.Outcome, plain.Replace(c.Summary))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("\n### %s: all checks\n\n| check | outcome | found |\n|---|---|---|\n%s", s.Name, &b)
}

// skipped lists the checks of a suite with an outcome, and the reasons.
func skipped(s Suite, o Outcome) string {
	reasons, names := s.Skipped(o)
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("\n### %s: %s, %v\n\n%s: %s\n", s.Name, textfmt.Count(len(names), "check"), o, plain.Replace(reasons), plain.Replace(strings.Join(names, ", ")))
}

// foot describes the version and settings.
func foot(r Report) string {
	if r.With == "" {
		return ""
	}
	return fmt.Sprintf("\n%s, %s.\n", plain.Replace(r.With), textfmt.Duration(r.Took.Round(time.Millisecond)))
}

// plain escapes Markdown.
var plain = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`, "|", `\|`, "\n", " ")
