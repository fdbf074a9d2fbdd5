package schema

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

const (
	root     = "../.."
	jsonFile = root + "/docs/scenario.schema.json"
	pageFile = root + "/docs/scenario-format.md"

	ofTheTypes = "A field of a scenario file, its limits or its comment is now another."
)

func pageAt(t *testing.T, file string) string {
	t.Helper()
	return testkit.Read(t, file)
}

func format(t *testing.T) *Format {
	t.Helper()
	f, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSchemaIsCurrent(t *testing.T) {
	made, err := format(t).JSON()
	if err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, jsonFile, string(made), ofTheTypes)
}

// The page has a table for everything that a file can hold; what the kinds of
// faults can say stands in docs/faults.md.
func TestPageIsCurrent(t *testing.T) {
	f := format(t)
	page := testkit.Read(t, pageFile)
	made, names, err := f.Page(page, map[string]string{"errors": mistakes(t, example(t, page))})
	if err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, pageFile, made, ofTheTypes)
	for _, d := range f.Types {
		if ofFaults := d.Fault || slices.Contains([]string{"group", "heal", "first", "error-name", "eviction-policy", "torn-tail", "guest-clock", "weights"}, d.Name); !ofFaults && !slices.Contains(names, d.Name) {
			t.Errorf("the page does not say what a %s is", d.Name)
		}
	}
}

// A type or field without a meaning for readers of files has no place on the page: everything has a
// text.
func TestEverythingIsDescribed(t *testing.T) {
	for _, d := range format(t).Types {
		for _, field := range d.Fields {
			if field.Text == "" && d.Name != "weights" && !d.Fault {
				t.Errorf("%s.%s has no comment", d.Name, field.Name)
			}
		}
		for _, w := range d.Words {
			if w.Text == "" {
				t.Errorf("%s %q has no comment", d.Name, w.Name)
			}
		}
	}
}
