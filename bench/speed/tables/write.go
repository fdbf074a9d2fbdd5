package main

import (
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/lockstorm/lockstorm/bench/speed"
)

// column is a column of a table: a unit, with a number of clients.
type column struct{ head, clients, unit string }

// figures are what is told of each lock in a network.
var figures = []column{
	{"p50, µs", "1", "p50-us"},
	{"p99, µs", "1", "p99-us"},
	{"grants/s, 8 clients", "8", "grants/s"},
	{"grants/s, 64 clients", "64", "grants/s"},
	{"p99, µs, 64 clients", "64", "p99-us"},
	{"bytes a grant", "1", "wire-B/grant"},
	{"commands a grant", "1", "cmds/grant"},
	{"allocations a cycle", "1", "allocs/op"},
	{"failed, 64 clients", "64", "failed/op"},
}

// brief are the columns of the table in README.md.
var brief = []column{figures[0], figures[1], figures[3]}

func (r rounds) short() string { return r.table("direct", brief) }

func (r rounds) long() string {
	var b strings.Builder
	for _, n := range speed.Networks() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n%s\n", strings.ToUpper(n.Name[:1])+n.Name[1:], n.What, r.table(n.Name, figures))
	}
	fmt.Fprintf(&b, "## What was aimed at\n\n%s\n## The locks\n\n| lock | what it does |\n|---|---|\n", r.targets())
	for _, s := range speed.Subjects() {
		fmt.Fprintf(&b, "| %s | %s |\n", s.Name, s.What)
	}
	return b.String()
}

// table has a row for each lock that was measured in the network.
func (r rounds) table(net string, columns []column) string {
	var b strings.Builder
	b.WriteString("| lock |")
	for _, c := range columns {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, s := range speed.Subjects() {
		if r[line{net, "1", s.Name}] == nil {
			continue
		}
		b.WriteString("| " + s.Name + " |")
		for _, c := range columns {
			b.WriteString(" " + r.cell(line{net, c.clients, s.Name}, c.unit) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// target is something that this lock is to achieve, as a ratio.
type target struct {
	what        string
	unit        string
	of, to      line
	least, most float64
	aim         string
}

var targets = []target{
	{"p50 of one client, to the floor's", "p50-us", line{"direct", "1", "lockstorm"}, line{"direct", "1", "floor"}, 0, 1.15, "at most 1.15"},
	{"p50 of one client, to redsync's", "p50-us", line{"direct", "1", "lockstorm"}, line{"direct", "1", "redsync"}, 0, 0.8, "at most 0.8"},
	{"grants a second of 64 clients, to redsync's", "grants/s", line{"direct", "64", "lockstorm"}, line{"direct", "64", "redsync"}, 3, math.Inf(1), "at least 3"},
	{"p99 of one client with a node that swallows everything, to that without", "p99-us", line{"black-hole", "1", "lockstorm"}, line{"healthy", "1", "lockstorm"}, 0, 1.2, "at most 1.2"},
}

// verdict is clear only where all of the interval lies on one side.
func (t target) verdict(s benchmath.Summary) string {
	switch {
	case t.least <= s.Lo && s.Hi <= t.most:
		return "met"
	case s.Hi < t.least || s.Lo > t.most:
		return "missed"
	}
	return "open: the interval lies on both sides"
}

func (r rounds) targets() string {
	var b strings.Builder
	b.WriteString("| lockstorm | aimed at | measured | |\n|---|---|---|---|\n")
	for _, t := range targets {
		s := r.ratio(t.unit, t.of, t.to)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.what, t.aim, shown(s), t.verdict(s))
	}
	return b.String()
}
