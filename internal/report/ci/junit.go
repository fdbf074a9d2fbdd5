package ci

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/internal/files"
)

// SaveJUnit writes the report into a file, atomically, and makes its directory if necessary.
func SaveJUnit(path string, r Report) error {
	var text bytes.Buffer
	if err := WriteJUnit(&text, r); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.WriteWhole(path, text.Bytes())
}

// WriteJUnit writes the report.
func WriteJUnit(w io.Writer, r Report) error {
	all := junit.Testsuites{Name: "lockstorm", Time: seconds(r.Took)}
	for i, s := range r.Suites {
		suite := junit.Testsuite{ID: i, Name: s.Name, Time: seconds(s.Took())}
		if r.Tested != "" {
			suite.AddProperty("tested", clean(r.Tested))
		}
		if r.With != "" {
			suite.AddProperty("lockstorm", r.With)
		}
		for _, c := range s.Checks {
			suite.AddTestcase(testcase(s, c))
		}
		if s.Note != "" {
			suite.SystemOut = &junit.Output{Data: clean(s.Note)}
		}
		all.AddSuite(suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func testcase(s Suite, c Check) junit.Testcase {
	one := junit.Testcase{Name: c.Name, Classname: "lockstorm." + s.Name, Time: seconds(c.Took)}
	result := &junit.Result{Message: clean(c.Headline()), Type: c.Outcome.String(), Data: clean(c.Text())}
	switch c.Outcome {
	case Contradiction:
		one.Failure = result
	case Undecided:
		one.Error = result
	case NotRun, NotApplicable:
		one.Skipped = result
	default:
		if c.Summary != "" {
			one.SystemOut = &junit.Output{Data: clean(c.Summary)}
		}
	}
	return one
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// clean escapes characters that XML does not allow, as in \x1b. One such character makes a
// reader reject the whole file.
func clean(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case r == '\t' || r == '\n' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000:
			b.WriteRune(r)
		case r <= 0xFF:
			_, _ = fmt.Fprintf(&b, `\x%02x`, r)
		default:
			_, _ = fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
