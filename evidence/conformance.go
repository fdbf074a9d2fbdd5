package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/evidence/mutants"
	"github.com/lockstorm/lockstorm/internal/conform"
	"github.com/lockstorm/lockstorm/internal/conform/watch"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// How much is compared with the specification.
const (
	conformSeeds      = 100    // of each row
	conformParts      = 20     // of the hunt; a part is stored when it is measured
	conformRuns       = 50_000 // of each part
	conformExecutions = 50     // of each small world with each choice of faults
	conformMutantRuns = 20_000 // of each mutant, at most
)

// conformedFile has the results.
const conformedFile = "evidence/conformance.json"

// conformed is what was compared with the specification.
type conformed struct {
	Made    string           `json:"made"` // with what
	Rows    watch.Tally      `json:"rows"`
	Hunt    []watch.Tally    `json:"hunt"` // by part
	Worlds  watch.Tally      `json:"worlds"`
	Mutants []mutantConforms `json:"mutants"`
}

// mutantConforms is the comparison of a mutant's runs.
type mutantConforms struct {
	Number string       `json:"number"`
	Runs   int          `json:"runs"`            // up to the find
	Found  *watch.Found `json:"found,omitempty"` // nil: each run is one of the specification
}

// algorithmic reports whether a mutant is one of Redlock that should break lease exclusion: the specification
// says nothing of fences, liveness and contract.
func algorithmic(m mutants.Mutant) bool {
	return m.Lock == "redlock" && strings.Contains(m.Codes(), "V1")
}

// measureConformance goes on where it was stopped, or begins anew if nothing is missing.
func measureConformance(ctx context.Context, c *checkout) error {
	debug.SetGCPercent(800) // what lives is small: half of the time
	all, err := mutants.All()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutants.Mutant) bool { return !algorithmic(m) })
	var r conformed
	if err := c.read(conformedFile, &r); err != nil {
		return err
	}
	if len(r.Mutants) == len(all) {
		r = conformed{}
	}
	r.Made = fmt.Sprintf("%s on %d cores", runtime.Version(), runtime.NumCPU())
	part := func(name string, measure func() error) error {
		fmt.Fprintln(os.Stderr, name)
		if err := cmp.Or(measure(), ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text, err := json.MarshalIndent(&r, "", "\t")
		if err != nil {
			return err
		}
		return os.WriteFile(c.path(conformedFile), append(text, '\n'), 0o644)
	}
	if r.Rows.Runs == 0 {
		err = part("rows", func() error { return r.Rows.Rows(ctx, conformSeeds) })
	}
	for err == nil && len(r.Hunt) < conformParts {
		err = part(fmt.Sprintf("part %d of %d of the hunt", len(r.Hunt)+1, conformParts), func() error {
			r.Hunt = append(r.Hunt, watch.Tally{})
			last := &r.Hunt[len(r.Hunt)-1]
			err := last.Hunt(ctx, (len(r.Hunt)-1)*conformRuns, conformRuns)
			if err == nil && len(last.Found) > 0 { // the rest of the part was not made
				err = fmt.Errorf("run %d of %s is none of the specification: %v", last.Found[0].Run, last.Found[0].Scenario, last.Found[0].Mismatch)
			}
			return err
		})
	}
	if err == nil && r.Worlds.Runs == 0 {
		err = part("small worlds", func() error { return r.Worlds.SmallWorlds(ctx, conformExecutions, runtime.NumCPU()) })
	}
	for err == nil && len(r.Mutants) < len(all) {
		m := all[len(r.Mutants)]
		err = part(fmt.Sprintf("mutant %s: %s", m.Number, m.Title), func() error {
			trial, err := mutants.Checkout(c.root).Conform(ctx, m, conformMutantRuns)
			if err != nil {
				return err
			}
			one := mutantConforms{Number: m.Number, Runs: trial.Conform.Runs, Found: trial.Conform.First(conformMutantRuns)}
			if one.Found != nil {
				one.Runs = one.Found.Run
			}
			r.Mutants = append(r.Mutants, one)
			return nil
		})
	}
	return err
}

func writeConformance(c *checkout) (string, error) {
	var r conformed
	if err := c.read(conformedFile, &r); err != nil {
		return "", err
	}
	h, all, err := c.huntedMutants()
	if err != nil {
		return "", err
	}
	return conformancePage(&r, h, all), nil
}

// read reads a file of results.
func (c *checkout) read(name string, into any) error {
	text, err := os.ReadFile(c.path(name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// conformancePage makes the page.
func conformancePage(r *conformed, h hunted, all []mutants.Mutant) string {
	p := &text{}
	p.say(`# Runs compared with the specification

Made by `+"`go -C evidence run . conformance`"+` with %s.

The [specification](../../proof/machine.dfy) that is [proved safe](../proof.md) is transcribed in [internal/conform](../../internal/conform), which shares no code with the lock or the checker. Each run of the simulator is replayed: each step of the lock has to be a step of the specification, and the invariant has to hold after each step. A step without a counterpart counts as a mismatch.

## The lock

Only runs that keep the assumptions of lease exclusion have to be runs of the specification. Of other runs the table says how many break a clause of an assumption.`, r.Made)
	table := &textfmt.Table{Head: []string{"", "runs of rows", "runs of a hunt", "executions of small worlds"}}
	whole := &watch.Tally{} // the hunt
	for i := range r.Hunt {
		whole.Add(&r.Hunt[i])
	}
	tallies := []*watch.Tally{&r.Rows, whole, &r.Worlds}
	add := func(name string, of func(*watch.Tally) int) {
		row := []string{name}
		for _, t := range tallies {
			row = append(row, textfmt.Grouped(of(t)))
		}
		table.Add(row...)
	}
	add("runs within the assumptions", func(t *watch.Tally) int { return t.Runs })
	for _, kind := range conform.Kinds {
		add("steps `"+string(kind)+"`", func(t *watch.Tally) int { return t.Steps[string(kind)] })
	}
	add("runs with a mismatch", func(t *watch.Tally) int { return len(t.Found) })
	add("runs beyond the assumptions", func(t *watch.Tally) int { return t.Beyond })
	var clauses []string
	for _, t := range tallies {
		for name := range t.Broken {
			if !slices.Contains(clauses, name) {
				clauses = append(clauses, name)
			}
		}
	}
	slices.Sort(clauses)
	for _, name := range clauses {
		add("of which break `"+name+"`", func(t *watch.Tally) int { return t.Broken[name] })
	}
	p.table(table)
	p.say(`## Planted defects

The [planted defects](mutants.md) of Redlock that should break lease exclusion. *conformance* is the number of the first run with a mismatch, *guard* what does not hold there, and *hunt* the number of the first run in which the hunt finds a violation. Both make runs of the same kinds of worlds, but not the same ones: here all faults keep the assumptions of lease exclusion.`)
	table = &textfmt.Table{Head: []string{"number", "defect", "conformance", "step", "guard", "hunt"}}
	found := 0
	for _, m := range all {
		if !algorithmic(m) {
			continue
		}
		row := []string{m.Number, m.Title, "not compared yet", "–", "–", "–"}
		if i := slices.IndexFunc(r.Mutants, func(one mutantConforms) bool { return one.Number == m.Number }); i >= 0 {
			one := r.Mutants[i]
			row[2] = "none in " + textfmt.Grouped(one.Runs)
			if one.Found != nil {
				found++
				row[2], row[3], row[4] = textfmt.Grouped(one.Runs), one.Found.Step, strings.Join(one.Found.Wrong, ", ")
			}
		}
		if i := slices.IndexFunc(h.Hunts, func(one hunt) bool { return one.Number == m.Number }); i >= 0 {
			row[5] = textfmt.Grouped(h.Hunts[i].Runs)
			if h.Hunts[i].Found == "" {
				row[5] = "missed in " + row[5]
			}
		}
		table.Add(row...)
	}
	p.table(table)
	p.say("%d of the %d that were compared are found by a mismatch.", found, len(r.Mutants))
	return p.String()
}
