package ci

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// MaxAnnotations is how many annotations of a kind GitHub shows of a step.
const MaxAnnotations = 10

// AnnotateGitHub writes an error for every contradiction, and a warning for every check that is
// undecided and for every suite of which something was not run. Where there are more than
// [MaxAnnotations] of a kind the last says how many were left out.
func AnnotateGitHub(w io.Writer, r Report) error {
	var errors, warnings []annotation
	for s, c := range r.Of(Contradiction) {
		errors = append(errors, of(s, c))
	}
	for s, c := range r.Of(Undecided) {
		warnings = append(warnings, of(s, c))
	}
	for _, s := range r.Suites {
		if reasons, names := s.Left(NotRun); len(names) > 0 {
			warnings = append(warnings, annotation{title: "lockstorm " + s.Name, text: textfmt.Count(len(names), "check") + " not run: " + reasons})
		}
	}
	if err := write(w, "error", errors); err != nil {
		return err
	}
	return write(w, "warning", warnings)
}

// annotation is what is said of a check, beside its file if it has one.
type annotation struct{ title, file, text string }

func of(s Suite, c Check) annotation {
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

// How a command of a workflow is written: percent signs and ends of lines are escaped, and
// in its properties what ends one.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
