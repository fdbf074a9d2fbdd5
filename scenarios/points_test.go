package scenarios_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Every point of a series is a valid scenario that is found by its name and printed as any other. A
// property without an expectation is the one that the series measures.
func TestPointsArePossibleAndComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios.All() {
		seen[s.Name] = true
	}
	for _, series := range scenarios.AllSeries() {
		if series.Name == "" || series.Summary == "" || series.Varied == "" || series.Property == "" || len(series.Points) < 2 {
			t.Errorf("%s lacks something", series.Name)
		}
		for _, p := range series.Points {
			if err := p.Validate(); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if seen[p.Name] || p.Summary == "" || p.Value == "" {
				t.Errorf("%s: named twice, or without a summary or a value", p.Name)
			}
			seen[p.Name] = true
			foundAndRead(t, p.Scenario)
			for _, q := range checker.Properties() {
				expected, stated := p.Expect[q]
				if !stated || expected == checker.Unknown && p.Expect[series.Property] != checker.Unknown {
					t.Errorf("%s expects nothing of %s", p.Name, q)
				}
			}
		}
	}
}

func foundAndRead(t *testing.T, s scenarios.Scenario) {
	t.Helper()
	if found, err := scenarios.Find(s.Name); err != nil || !reflect.DeepEqual(found, s) {
		t.Errorf("%s: found %+v, %v", s.Name, found, err)
	}
	var text bytes.Buffer
	if err := s.Print(&text); err != nil {
		t.Fatal(err)
	}
	if got, err := scenarios.Parse(text.Bytes()); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%s: read %+v, %v", s.Name, got, err)
	}
}
