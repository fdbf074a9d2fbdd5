package schema

import (
	"os"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

const programFile = root + "/docs/other-languages.md"

// The page of the protocol for programs has the tables of its messages.
func TestProgramPageIsCurrent(t *testing.T) {
	page, err := os.ReadFile(programFile)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := ProgramTables(root)
	if err != nil {
		t.Fatal(err)
	}
	made, names, err := (&Format{}).Page(string(page), tables)
	if err != nil {
		t.Fatal(err)
	}
	for name := range tables {
		if !slices.Contains(names, name) {
			t.Errorf("the page has no place for %s", name)
		}
	}
	testkit.GoldenFile(t, programFile, made, "A message of the protocol or a comment is now another.")
}
