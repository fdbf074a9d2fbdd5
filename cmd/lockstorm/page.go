package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// page writes text for people; the writer that fails is found out at the end.
type page struct {
	out io.Writer
	err error
}

func (p *page) say(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// table is a table between two blank lines.
func (p *page) table(t *textfmt.Table) {
	p.say("")
	t.Markdown(p)
	p.say("")
}

// Write lets a table be printed into the page.
func (p *page) Write(text []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.out.Write(text)
	}
	return len(text), p.err
}

// Screen is what the page is printed on.
func (p *page) Screen() terminal.Screen { return terminal.On(p.out) }

// plan lists the faults of a plan, each after what the plan is called.
func (p *page) plan(what string, plan nemesis.Plan) {
	for _, f := range plan {
		p.say("- %s: %s", what, f)
	}
}

// madeWith names versions, in the order of their names.
func madeWith(versions map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, k+" "+versions[k])
	}
	return strings.Join(parts, ", ")
}
