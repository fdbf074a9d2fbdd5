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

// Law: a table is the same whether it is printed at once or line by line, and Width is the width of
// its lines. A line that is wider than was said stands out, and moves no other.
func TestStreamedTable(t *testing.T) {
	table := &Table{Head: []string{"lock", "seen", "more"}}
	table.Section("a family")
	table.Add("a", "✗", "xx")
	table.Section("another")
	table.Add("bb", "✓ holds", "y")
	var whole, streamed strings.Builder
	table.Text(&whole, Look{})
	s := table.Stream(&streamed, Look{})
	want(t, "the head", streamed.String(), "LOCK      SEEN     MORE\n")
	s.Section("a family")
	s.Add("a", "✗", "xx")
	s.Section("another")
	s.Section("another")
	s.Add("bb", "✓ holds", "y")
	want(t, "line by line", streamed.String(), whole.String())
	if got := table.Width(); got != len("LOCK      SEEN     MORE") {
		t.Errorf("width %d", got)
	}
	streamed.Reset()
	s.Add("a long one", "✗", "xx")
	s.Add("a", "✗", "xx")
	want(t, "a line that is too wide", streamed.String(), "a long one  ✗        xx\na         ✗        xx\n")
}
