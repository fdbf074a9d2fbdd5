package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/terminal"
)

// haul is what one hunt has brought in.
type haul struct {
	fuzz.Results
	took    time.Duration
	after   map[checker.Property]time.Duration // until each property was first found
	stopped bool                               // by whoever started it
}

// silent reports whether nothing that was found means nothing.
func (h haul) silent(q quest) bool {
	never := func(p checker.Property) bool { return h.Tested[p] == 0 }
	return len(h.Tested) == 0 || slices.ContainsFunc(q.Wanted, never)
}

// ended says how the hunt ends for whoever waits for its exit code.
func (h haul) ended(q quest) error {
	switch {
	case len(h.First) > 0:
		return verdictError(exitContradiction)
	case h.stopped || h.silent(q):
		return verdictError(exitUndecided)
	}
	return nil
}

// run hunts until there is enough, the budget is spent or ctx ends.
func (q quest) run(ctx context.Context, watch huntLine) (haul, error) {
	began := time.Now()
	h := haul{after: map[checker.Property]time.Duration{}}
	q.Each = func(s fuzz.Run) bool {
		for _, p := range h.Add(s) {
			h.after[p] = time.Since(began)
		}
		watch.see(q, &h.Results, time.Since(began))
		return !q.enough(&h.Results)
	}
	budgeted := ctx
	if q.budget > 0 {
		var cancel context.CancelFunc
		budgeted, cancel = context.WithTimeout(ctx, q.budget)
		defer cancel()
	}
	err := q.Run(budgeted)
	h.took, h.stopped = time.Since(began), ctx.Err() != nil
	return h, err
}

// watched is run, with a line that tells how it goes.
func (q quest) watched(ctx context.Context, problems io.Writer) (haul, error) {
	line := newHuntLine(problems, q.Space.Name())
	defer line.Done()
	return q.run(ctx, line)
}

// huntLine is the line that tells how a hunt goes.
type huntLine struct{ *terminal.Bar }

func newHuntLine(problems io.Writer, what string) huntLine {
	return huntLine{terminal.NewBar(problems, what, 0, terminal.Told)}
}

func (l huntLine) see(q quest, b *fuzz.Results, took time.Duration) {
	if !l.Due() {
		return
	}
	if q.budget > 0 { // as many runs as there will be by then
		l.At(b.Runs, int(float64(b.Runs)*max(1, q.budget.Seconds()/took.Seconds())))
		l.Left("%v left", (q.budget - took).Round(time.Second))
	} else {
		l.At(b.Runs, q.most)
		l.Left("%d runs left", q.most-b.Runs)
	}
	// What a narrow terminal has no room for stands at the end.
	var parts []string
	for _, p := range b.Found() {
		parts = append(parts, fmt.Sprintf("%s ✗ %d", p.Code(), b.Violations[p]))
	}
	if near := b.Near.String(); near != "" {
		parts = append(parts, "closest "+near)
	}
	parts = append(parts, fmt.Sprintf("%d runs", b.Runs), fmt.Sprintf("%d grants", b.Grants), fmt.Sprintf("%d faults", b.Faults))
	l.Say(", %s", strings.Join(parts, ", "))
}
