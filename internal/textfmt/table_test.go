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

// Width is the width of the lines of a table.
func TestWidth(t *testing.T) {
	table := &Table{Head: []string{"lock", "seen", "more"}}
	table.Section("a family")
	table.Section("a family")
	table.Add("a", "✗", "xx")
	table.Add("bb", "✓ holds", "y")
	var text strings.Builder
	table.Text(&text, Look{})
	want(t, "text", text.String(), "LOCK      SEEN     MORE\n\na family\na         ✗        xx\nbb        ✓ holds  y\n")
	if got := table.Width(); got != len("LOCK      SEEN     MORE") {
		t.Errorf("width %d", got)
	}
}
