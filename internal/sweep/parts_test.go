package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/sweep"
)

// store runs some parts and returns their bytes.
func store(t *testing.T, c sweep.Measurement, list []parts.Part) [][]byte {
	t.Helper()
	texts := make([][]byte, len(list))
	for i, p := range list {
		steps := 0
		var err error
		if texts[i], err = c.RunPart(t.Context(), p, func(n int) { steps += n }); err != nil {
			t.Fatal(err)
		}
		if steps != c.PartWork(p) {
			t.Errorf("%v: %d steps of %d", p, steps, c.PartWork(p))
		}
	}
	return texts
}

// join joins stored parts.
func join(c sweep.Measurement, list []parts.Part, texts [][]byte) (outcomes []sweep.Outcome, err error) {
	err = c.Join(list, func(i int) ([]byte, error) { return texts[i], nil }, func(o sweep.Outcome) error {
		outcomes = append(outcomes, o)
		return nil
	})
	return outcomes, err
}

// journal returns the bytes of the journal of some outcomes.
func journal(t *testing.T, h sweep.Head, outcomes []sweep.Outcome) string {
	t.Helper()
	dir := t.TempDir()
	if err := (sweep.Results{Head: h, Outcomes: outcomes}).Keep(dir); err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Join(dir, sweep.JournalFile))
}

// divided divides the units of a measurement at random, except the boundaries.
func divided(c sweep.Measurement, random *rand.Rand) (list []parts.Part) {
	for _, of := range parts.ByUnit(c.Parts(c.Runs)) {
		p := of[0]
		for p.Runs > 0 {
			n := p.Runs
			if p.Unit <= len(c.Sweep.Points) {
				n = 1 + random.IntN(p.Runs)
			}
			list = append(list, parts.Part{Unit: p.Unit, First: p.First, Runs: n})
			p.First, p.Runs = p.First+uint64(n), p.Runs-n
		}
	}
	return list
}

// Law: however the runs of the points are divided, the joined journal has the bytes of that of
// one process.
func TestAnyDivisionJoinsToTheWhole(t *testing.T) {
	c := measurement()
	c.Runs = 15
	h := head(t, c)
	var outcomes []sweep.Outcome
	if err := c.Run(t.Context(), 0, func(o sweep.Outcome) error { outcomes = append(outcomes, o); return nil }); err != nil {
		t.Fatal(err)
	}
	want := journal(t, h, outcomes)
	check := func(list []parts.Part) {
		t.Helper()
		got, err := join(c, list, store(t, c, list))
		if err != nil {
			t.Fatal(err)
		}
		if text := journal(t, h, got); text != want {
			t.Fatalf("%v:\n%s\nand not:\n%s", list, text, want)
		}
	}
	for _, block := range []int{0, 1, 4, 15, 1000} {
		check(c.Parts(block))
	}
	for seed := range uint64(4) {
		check(divided(c, rand.New(rand.NewPCG(seed, 1))))
	}
}

// Units are joined one by one, and chosen ones like all.
func TestUnitsAreJoinedAlone(t *testing.T) {
	c := measurement()
	list := c.Parts(2)
	texts := store(t, c, list)
	all, err := join(c, list, texts)
	if err != nil || len(all) != c.Units() {
		t.Fatalf("%d outcomes, %v", len(all), err)
	}
	for from, of := range parts.ByUnit(list) {
		unit := of[0].Unit
		c.Only = []int{unit}
		got, err := join(c, of, texts[from:from+len(of)])
		if err != nil || len(got) != 1 || encoded(t, got[0]) != encoded(t, all[unit-1]) {
			t.Errorf("unit %d alone: %v, %s", unit, err, encoded(t, got))
		}
	}
	c.Only, c.Shard = nil, sweep.Shard{I: 2, Of: 2}
	if got := c.Parts(1000); len(got) != 2 || got[0].Unit != 2 || got[1].Unit != 4 {
		t.Errorf("the second half has the parts %v", got)
	}
}

// Law: the bytes of a part do not depend on the number of parallel runs.
func TestPartsHaveTheSameBytes(t *testing.T) {
	c := measurement()
	one := store(t, c, c.Parts(4))
	c.SideBySide = 5
	for i, text := range store(t, c, c.Parts(4)) {
		if !bytes.Equal(text, one[i]) {
			t.Errorf("part %d is\n%s\nand\n%s", i, one[i], text)
		}
	}
}

// A part that is stopped has no result.
func TestAPartIsStopped(t *testing.T) {
	c := measurement()
	c.Runs, c.SideBySide = 200, 1
	for _, p := range c.Parts(200)[3:] {
		ctx, stop := context.WithCancel(t.Context())
		text, err := c.RunPart(ctx, p, func(int) { stop() })
		stop()
		if p.Unit == 5 && err == nil {
			continue // its trials end early
		}
		if !errors.Is(err, parts.ErrStopped) || text != nil {
			t.Errorf("%v: %d bytes, %v", p, len(text), err)
		}
	}
}

// What is no part of the measurement is not run, and not joined.
func TestForeignParts(t *testing.T) {
	c := measurement()
	for want, p := range map[string]parts.Part{
		"the sweep of the sweep small has no point 6":                                                     {Unit: 6, First: 1, Runs: 1},
		"point 2 (delayed-restart-at-500ms): unit 2, seeds 6 to 7: the unit has the 6 seeds from 7 on":    {Unit: 2, First: 6, Runs: 2},
		"unit 2, seeds 12 to 13: the unit has the 6 seeds from 7 on":                                      {Unit: 2, First: 12, Runs: 2},
		"unit 2, seeds 7 to 6: the unit has":                                                              {Unit: 2, First: 7},
		"boundary 5 (one holder): unit 5, seeds 25 to 29: a boundary is one part, unit 5, seeds 25 to 30": {Unit: 5, First: 25, Runs: 5},
	} {
		if _, err := c.RunPart(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", p, err, want)
		}
	}
	list := c.Parts(3)
	stored := store(t, c, list)
	texts := stored
	swap := func(a, b int) func() {
		return func() { texts[a], texts[b] = texts[b], texts[a] }
	}
	for want, change := range map[string]func(){
		"point 1 (delayed-restart-at-0ms): unit 1, seeds 1 to 3: it has 3 runs from seed 4 on, and not 3 from 1 on":              swap(0, 1),
		`unit 1, seeds 4 to 6: it is of the scenario "delayed-restart-at-500ms", and not "delayed-restart-at-0ms"`:               swap(1, 2),
		`unit 4, seeds 22 to 24: its format is "lockstorm-boundary"; want "lockstorm-block"`:                                     swap(7, 8),
		"unit 1, seeds 2 to 7: the seed 1 and 6 runs are next":                                                                   func() { list[0].Runs, list[0].First = 6, 2 },
		"point 1 (delayed-restart-at-0ms): the last 3 runs are in no part":                                                       func() { list, texts = list[:1], texts[:1] },
		"point 2 (delayed-restart-at-500ms): unit 2, seeds 10 to 12: the seed 7 and 6 runs are next":                             func() { list = list[3:] },
		`point 1 (delayed-restart-at-0ms): unit 1, seeds 1 to 3: it is of another scenario that is also called "delayed-restart`: func() { c.Sweep.Points[0].Scenario.Nodes = 7 },
		"it is of the sim backend, and not of process":                                                                           func() { c.Backend.Ability.Name = "process" },
	} {
		c, list, texts = measurement(), measurement().Parts(3), slices.Clone(stored)
		change()
		if _, err := join(c, list, texts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A boundary whose trials contradict each other is rejected.
func TestHostileBoundaries(t *testing.T) {
	c := measurement()
	c.Only = []int{5}
	list := c.Parts(1)
	text := store(t, c, list)[0]
	type stored = struct {
		Backend  string           `json:"backend"`
		Property checker.Property `json:"property"`
		Contents string           `json:"contents"`
		Outcome  sweep.Outcome    `json:"outcome"`
		More     string           `json:"more,omitempty"`
	}
	for want, change := range map[string]func(*stored){
		"":                                       func(*stored) {},
		"it is of the live backend":              func(s *stored) { s.Backend = "live" },
		"about the property fence":               func(s *stored) { s.Property = checker.Fence },
		"its scenarios or numbers are others":    func(s *stored) { s.Contents = "0" },
		"it has no boundary":                     func(s *stored) { s.Outcome.Boundary = nil },
		"it is of unit 4 (one holder)":           func(s *stored) { s.Outcome.Unit = 4 },
		"60 runs from seed 25 on":                func(s *stored) { s.Outcome.Runs = 60 },
		"or has other values":                    func(s *stored) { s.Outcome.At[0] = 2 },
		"trial 2 of the search has to be at 1.3": func(s *stored) { s.Outcome.Boundary.Search[1].X = 1.2 },
		"trial 7 of the search has to be at":     func(s *stored) { s.Outcome.Boundary.Rules = s.Outcome.Boundary.Rules[1:] },
		"at 0.5: a violation and no witness":     func(s *stored) { s.Outcome.Boundary.Search[0].Witness = nil },
		"at 0.5: seed 31, the witness, is none":  func(s *stored) { s.Outcome.Boundary.Search[0].Witness.Seed = 31 },
		"the boundary is not that of its trials": func(s *stored) { s.Outcome.Boundary.LastViolated = new(0.1) },
		`json: unknown field "more"`:             func(s *stored) { s.More = "more" },
	} {
		var s stored
		if err := parts.Unseal(text, sweep.BoundaryFormat, sweep.BoundaryVersion, &s); err != nil {
			t.Fatal(err)
		}
		change(&s)
		changed, err := parts.Seal(sweep.BoundaryFormat, sweep.BoundaryVersion, s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = join(c, list, [][]byte{changed})
		if want == "" && err == nil {
			continue
		}
		if want == "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
