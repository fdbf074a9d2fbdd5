package textfmt

import (
	"strings"
	"testing"
)

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

// A table that is too wide is printed in groups of columns, each behind the first
// column, and a column that is too wide for any stands alone.
func TestWideTablesAreWrapped(t *testing.T) {
	table := &Table{Head: []string{"lock", "one", "two", "three", "four"}}
	table.Section("a family")
	table.Add("a", "1", "✗ in 2", strings.Repeat("3", 20), "4")
	var out strings.Builder
	table.Text(&out, Look{Width: 21})
	want(t, "in groups", out.String(), `LOCK      ONE  TWO

a family
a         1    ✗ in 2

LOCK      THREE

a family
a         33333333333333333333

LOCK      FOUR

a family
a         4
`)
	var whole, unwrapped strings.Builder
	table.Text(&whole, Look{Width: 119})
	table.Text(&unwrapped, Look{})
	want(t, "where there is room", whole.String(), unwrapped.String())
}

// A table of one column has no second one to begin a group with, and is printed all the same.
func TestOneColumn(t *testing.T) {
	table := &Table{Head: []string{"lock"}}
	table.Add("a")
	var out strings.Builder
	table.Text(&out, Look{Width: 40})
	want(t, "one column", out.String(), "LOCK\n\na\n")
}

// A section begins once, however often it is named.
func TestSections(t *testing.T) {
	var table Table
	for _, name := range []string{"a", "a", "b", "a"} {
		table.Section(name)
		table.Add("1", "2")
	}
	if n := len(table.Lines); n != 7 {
		t.Errorf("%d lines, want 4 and 3 sections", n)
	}
}
