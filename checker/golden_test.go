package checker_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// Law: the findings for the histories of testdata stay the same. A file or its folder is named
// after its property; files about "measurements" contain those of the report, and files about a
// "contradiction" impossible histories; no other history contradicts itself. A case begins with "==
// name", its history ends with "--", and the findings follow.
func TestGolden(t *testing.T) {
	flat, _ := filepath.Glob("testdata/*.txt")
	deep, _ := filepath.Glob("testdata/*/*.txt")
	if len(flat)+len(deep) == 0 {
		t.Fatal("no cases in testdata")
	}
	for _, file := range append(flat, deep...) {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".txt")
		subject, _, _ := strings.Cut(name, "/")
		t.Run(name, func(t *testing.T) { runGolden(t, file, subject) })
	}
}

func runGolden(t *testing.T, file, subject string) {
	text := testkit.Read(t, file)
	parts := strings.Split(text, "\n== ")
	for i := range parts[1:] {
		part := &parts[i+1]
		name, rest, _ := strings.Cut(*part, "\n")
		told, was, _ := strings.Cut(rest, "--\n")
		is := find(t, name, told, subject)
		if text := testkit.FirstDifference(strings.TrimSpace(was), strings.TrimSpace(is)); text != "" && !testkit.UpdateGolden() {
			t.Errorf("%s, %q: what is found in this history, %s\n%s", file, name, text,
				testkit.GoldenAdvice(t, "Stored runs with such a history are now judged, measured or told otherwise."))
		}
		*part = name + "\n" + told + "--\n" + is
	}
	if testkit.UpdateGolden() {
		testkit.WriteGolden(t, file, strings.Join(parts, "\n== "))
	}
}

func find(t *testing.T, name, told, subject string) string {
	t.Helper()
	header, events, err := historytest.Parse(told)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	err = contradicted(header, events)
	if subject == "contradiction" {
		return objection(err)
	}
	if err != nil {
		t.Errorf("%q: this history contradicts itself: %v", name, err)
	}
	report := judge(header, events)
	if subject == "measurements" {
		return figures(t, report.Measurements)
	}
	var p checker.Property
	if err := p.UnmarshalText([]byte(subject)); err != nil {
		t.Fatal(err)
	}
	f := report.Finding(p)
	if f.Count > 0 {
		return fmt.Sprintf("%s (%d): %s\n", f.Verdict, f.Count, f.Story())
	}
	return fmt.Sprintf("%s: %s\n", f.Verdict, f.Story())
}

func objection(err error) string {
	var c *checker.Contradiction
	if !errors.As(err, &c) {
		return "nothing\n"
	}
	return fmt.Sprintf("event %d: %v\n", c.Event, c)
}

// figures prints the measurements that are not 0, a line each.
func figures(t *testing.T, m checker.Measurements) string {
	t.Helper()
	var b strings.Builder
	for _, f := range reflect.VisibleFields(reflect.TypeFor[checker.Measurements]()) {
		v := reflect.ValueOf(m).FieldByIndex(f.Index)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !v.IsZero() {
			fmt.Fprintf(&b, "%s %v\n", name, v.Interface())
		}
	}
	return b.String()
}

// Law: a whole run of the simulator, written in this notation, is judged as it was when it
// was made.
func TestWholeRunsAreJudgedAgain(t *testing.T) {
	for _, name := range []string{"calm", "crash-restart", "pause-then-write"} {
		text := testkit.Read(t, "../internal/runner/testdata/"+name+".txt")
		_, run, _ := strings.Cut(text, "\nheader ")
		told, was, _ := strings.Cut("header "+run, "--\n")
		header, events, err := historytest.Parse(told)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var is strings.Builder
		for _, f := range judge(header, events).Findings {
			fmt.Fprintf(&is, "%s %s: %s\n", f.Property, f.Verdict, f.Story())
		}
		if text := testkit.FirstDifference(was, is.String()); text != "" {
			t.Errorf("internal/runner/testdata/%s.txt: what is found in the run, %s\n%s", name, text,
				testkit.GoldenAdvice(t, "The checker now judges or tells it otherwise, or the run is another (see TestGoldenRuns in storm)."))
		}
	}
}

func judge(h history.Header, events []history.Event, only ...checker.Property) checker.Report {
	panel := checker.New(h, only...)
	for i := range events {
		panel.Record(&events[i])
	}
	return panel.Finish()
}
