package ci

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/internal/files"
)

// SaveJUnit writes the report into a JUnit file, atomically, and makes its directory if necessary.
func SaveJUnit(path string, r Report) error {
	suite := junit.Testsuite{Name: "lockstorm", Time: seconds(r.Took)}
	suite.AddProperty("with", r.With)
	for _, c := range r.Checks {
		suite.AddTestcase(testcase(c))
	}
	all := junit.Testsuites{Name: suite.Name, Time: suite.Time}
	all.AddSuite(suite)
	text := bytes.NewBufferString(xml.Header)
	if err := cmp.Or(all.WriteXML(text), os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
		return err
	}
	return files.WriteWhole(path, text.Bytes())
}

// testcase returns a check as JUnit has it. JUnit has no word for undecided: it is an error, so that it
// is never shown as a pass.
func testcase(c Check) junit.Testcase {
	one := junit.Testcase{Name: c.Name, Classname: "lockstorm." + c.Suite, Time: seconds(c.Took)}
	result := &junit.Result{Message: c.Summary, Type: string(c.Outcome), Data: clean(c.Text())}
	switch c.Outcome {
	case Contradiction:
		one.Failure = result
	case Undecided:
		one.Error = result
	case NotRun, NotApplicable:
		one.Skipped = result
	case AsExpected:
		one.SystemOut = &junit.Output{Data: clean(c.Summary)}
	}
	return one
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// clean replaces characters that XML does not allow: one makes a reader reject the whole file.
func clean(text string) string {
	return forbidden.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "\uFFFD")
}

var forbidden = regexp.MustCompile(`[^\t\n\x20-\x{D7FF}\x{E000}-\x{FFFD}\x{10000}-\x{10FFFF}]`)
