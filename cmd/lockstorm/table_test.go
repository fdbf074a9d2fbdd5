package main

import (
	"strings"
	"testing"
)

// A table that is too wide is printed in groups of columns, each behind the first
// column, and a column that is too wide for any stands alone.
func TestWideTablesAreWrapped(t *testing.T) {
	table := &table{head: []string{"lock", "one", "two", "three", "four"}}
	table.section("a family")
	table.add("a", "1", "✗ in 2", strings.Repeat("3", 20), "4")
	var out strings.Builder
	table.within(&out, 21)
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
	table.wrapped(&whole)
	table.text(&unwrapped)
	want(t, "where there is room", whole.String(), unwrapped.String())
}
