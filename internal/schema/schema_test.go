package schema

import (
	"flag"
	"os"
	"slices"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite docs/scenario.schema.json and docs/scenario-format.md")

const (
	root     = "../.."
	jsonFile = root + "/docs/scenario.schema.json"
	pageFile = root + "/docs/scenario-format.md"
)

func format(t *testing.T) *Format {
	t.Helper()
	f, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// current fails if a file is not what has been made; -rewrite makes it so.
func current(t *testing.T, name, made string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(name, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != made {
		t.Errorf("%s is not what the types are (%v): go test ./internal/schema -args -rewrite", name, err)
	}
}

func TestSchemaIsCurrent(t *testing.T) {
	made, err := format(t).JSON()
	if err != nil {
		t.Fatal(err)
	}
	current(t, jsonFile, string(made))
}

// The page has a table for everything that a file can hold; what the kinds of
// faults can say stands in docs/faults.md.
func TestPageIsCurrent(t *testing.T) {
	f := format(t)
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	made, names, err := f.Page(string(page), map[string]string{"errors": mistakes(t, example(t, string(page)))})
	if err != nil {
		t.Fatal(err)
	}
	current(t, pageFile, made)
	for _, d := range f.Types {
		if ofFaults := d.Kind != "" || slices.Contains([]string{"group", "heal", "first", "error-name", "weights"}, d.Name); !ofFaults && !slices.Contains(names, d.Name) {
			t.Errorf("the page does not say what a %s is", d.Name)
		}
	}
}

// What means nothing to a reader of files is no documentation: everything has a
// text.
func TestEverythingIsDescribed(t *testing.T) {
	for _, d := range format(t).Types {
		for _, field := range d.Fields {
			if field.Text == "" && d.Name != "weights" && d.Kind == "" {
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
