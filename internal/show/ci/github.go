package ci

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// maxAnnotations is how many annotations of a kind GitHub shows for a step.
const maxAnnotations = 10

// Annotations are those of a GitHub step: an error for each contradiction, a warning for each undecided
// check, and a warning about the checks that were not run. Of too many of a kind, the last one says how
// many are left out.
func Annotations(r Report) string {
	var lines strings.Builder
	warnings := r.Only(Undecided)
	if left := r.Only(NotRun); len(left) > 0 {
		warnings = append([]Check{{Summary: textfmt.Count(len(left), "check") + " not run: " + left[0].Summary}}, warnings...)
	}
	for i, list := range [][]Check{r.Only(Contradiction), warnings} {
		if more := len(list) - maxAnnotations; more > 0 {
			list = append(list[:maxAnnotations-1:maxAnnotations-1], Check{Summary: fmt.Sprintf("and %d more: the summary of the step has them", more+1)})
		}
		for _, c := range list {
			at := "title=" + property.Replace(strings.TrimSpace("lockstorm "+c.Suite+" "+c.Name))
			if c.File != "" {
				at = "file=" + property.Replace(c.File) + "," + at
			}
			fmt.Fprintf(&lines, "::%s %s::%s\n", []string{"error", "warning"}[i], at, data.Replace(strings.TrimSpace(c.Text())))
		}
	}
	return lines.String()
}

// Escapes of workflow commands. Property values escape their separators as well.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// maxSummary is the maximum size in bytes of a step's summary. GitHub drops a longer one.
const maxSummary = 1 << 20

// AppendSummary appends the report to a file of Markdown. All programs of a step share one with one limit.
func AppendSummary(path string, r Report) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(path, append(before, markdown(r, maxSummary-len(before))...), 0o644)
}

// markdown is the report in at most room bytes: the checks that are not as expected, and a table of all.
func markdown(r Report, room int) string {
	var page strings.Builder
	fmt.Fprintf(&page, "## Lockstorm: %v\n\n", r)
	for _, c := range r.Only(Contradiction, Undecided) {
		text := strings.ReplaceAll(strings.TrimSpace(c.Text()), "\n", "\n    ") // an indented block may contain anything
		fmt.Fprintf(&page, "### %s: %s, %v\n\n    %s\n\n", c.Suite, plain.Replace(c.Name), c.Outcome, text)
	}
	page.WriteString("| suite | check | outcome | found |\n|---|---|---|---|\n")
	for _, c := range r.Only(outcomes...) {
		fmt.Fprintf(&page, "| %s | %s | %v | %s |\n", c.Suite, plain.Replace(c.Name), c.Outcome, plain.Replace(c.Summary))
	}
	for _, note := range append(r.Notes, r.With+".") {
		fmt.Fprintf(&page, "\n%s\n", plain.Replace(note))
	}
	if page.Len() <= room {
		return page.String()
	}
	const cut = "\n\nGitHub has no room for the rest: the JUnit file has it.\n"
	return strings.ToValidUTF8(page.String()[:max(0, room-len(cut))], "") + cut
}

// plain escapes Markdown.
var plain = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`, "|", `\|`, "\n", " ")
