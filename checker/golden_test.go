package checker_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

var update = flag.Bool("update", false, "write what the checker finds into testdata")

// TestGolden runs the cases of testdata. A file is named after the property
// that it is about. A case begins with "== name", and its history ends with
// "--", below which stands what is found.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	for _, file := range files {
		subject := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(subject, func(t *testing.T) { runGolden(t, file, subject) })
	}
}

func runGolden(t *testing.T, file, subject string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n== ")
	for i := range parts[1:] {
		part := &parts[i+1]
		name, rest, _ := strings.Cut(*part, "\n")
		told, want, _ := strings.Cut(rest, "--\n")
		got := find(t, name, told, subject)
		if strings.TrimSpace(got) != strings.TrimSpace(want) && !*update {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		*part = name + "\n" + told + "--\n" + got
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(parts, "\n== ")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func find(t *testing.T, name, told, subject string) string {
	t.Helper()
	header, events, err := parseHistory(told)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
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
		return fmt.Sprintf("%s (%d): %s\n", f.Verdict, f.Count, f.Story)
	}
	return fmt.Sprintf("%s: %s\n", f.Verdict, f.Story)
}

// figures prints the measurements that are not 0, a line each.
func figures(t *testing.T, m checker.Measurements) string {
	t.Helper()
	var b strings.Builder
	for _, f := range reflect.VisibleFields(reflect.TypeFor[checker.Measurements]()) {
		v := reflect.ValueOf(m).FieldByIndex(f.Index)
		if name := f.Tag.Get("json"); name != "" && !v.IsZero() {
			fmt.Fprintf(&b, "%s %v\n", name, v.Interface())
		}
	}
	return b.String()
}

func judge(h history.Header, events []history.Event) checker.Report {
	panel := checker.NewPanel(h)
	for i := range events {
		panel.Record(&events[i])
	}
	return panel.Finish()
}
