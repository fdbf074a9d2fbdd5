package ci_test

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/internal/report/ci"
)

// written writes a report and reads it back.
func written(t *testing.T, r ci.Report) junit.Testsuites {
	t.Helper()
	var b bytes.Buffer
	if err := ci.WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var read junit.Testsuites
	if err := xml.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatalf("%v:\n%s", err, b.String())
	}
	if !strings.HasPrefix(b.String(), `<?xml version="1.0" encoding="UTF-8"?>`) {
		t.Errorf("it does not say what it is: %.60s", b.String())
	}
	return read
}

// Each outcome has its element in JUnit, and only what is as expected looks like a pass.
func TestOutcomes(t *testing.T) {
	s := ci.Suite{Name: "debate", Note: "backend sim"}
	for _, o := range ci.Outcomes() {
		s.Checks = append(s.Checks, ci.Check{Name: o.String(), Outcome: o, Summary: "because", Story: "  so\n", Command: "lockstorm run x --seed 7", Took: 1500 * time.Millisecond})
	}
	all := written(t, ci.Report{Suites: []ci.Suite{{Name: "cases"}, s}, With: "lockstorm v1", Took: 8 * time.Second})
	if all.Tests != 5 || all.Failures != 1 || all.Errors != 1 || all.Skipped != 2 || all.Time != "8.000" || len(all.Suites) != 2 {
		t.Fatalf("%+v", all)
	}
	suite := all.Suites[1]
	if suite.SystemOut.Data != "backend sim" || (*suite.Properties)[0].Value != "lockstorm v1" || suite.Time != "7.500" {
		t.Errorf("%+v", suite)
	}
	for i, c := range suite.Testcases {
		results := map[ci.Outcome]*junit.Result{ci.Contradiction: c.Failure, ci.Undecided: c.Error, ci.NotRun: c.Skipped, ci.NotApplicable: c.Skipped}
		o := ci.Outcomes()[i]
		r := results[o]
		if o == ci.AsExpected {
			if c.Failure != nil || c.Error != nil || c.Skipped != nil || c.SystemOut.Data != "because" {
				t.Errorf("%+v", c)
			}
			continue
		}
		if r == nil || r.Type != o.String() || r.Message != "because. Again: lockstorm run x --seed 7" || !strings.Contains(r.Data, "\n  so\n") || c.Classname != "lockstorm.debate" || c.Time != "1.500" {
			t.Errorf("%v: %+v, %+v", o, c, r)
		}
	}
}

// Any text gives a valid file. Characters that XML does not allow are escaped.
func TestAnyTextIsValidXML(t *testing.T) {
	const text = "a\x00b \x1b[31m ]]> & <b> \uffff é ✗ \xff\t\r\n𝄞"
	all := written(t, ci.Report{Suites: []ci.Suite{{Name: text, Note: text, Checks: []ci.Check{
		{Name: text, Outcome: ci.Contradiction, Summary: text, Story: text}, {Name: "b", Outcome: ci.AsExpected, Summary: text},
	}}}})
	for _, got := range []string{all.Suites[0].SystemOut.Data, all.Suites[0].Testcases[0].Failure.Data, all.Suites[0].Testcases[1].SystemOut.Data} {
		if want := `a\x00b \x1b[31m ]]> & <b> \uffff é ✗ ` + "\uFFFD\t" + `\x0d` + "\n𝄞"; !strings.Contains(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "junit.xml")
	for range 2 {
		if err := ci.SaveJUnit(path, ci.Report{}); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := ci.SaveJUnit(filepath.Join(path, "below"), ci.Report{}); err == nil {
		t.Error("saved below a file")
	}
}
