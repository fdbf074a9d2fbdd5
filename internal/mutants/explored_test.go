package mutants

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	exploreThem  = flag.Bool("explored", false, "explore the worlds of each mutant (15 seconds each)")
	exploredFile = flag.String("table", "", "a file for the table of TestExploredMutants")
)

// Exploration finds at least two in three of the defects of the catalogue: the worlds are those of
// the debate and the comparison, with an odd number of nodes and one deviation or one added fault,
// and some defects need others. A defect counts as found if some world violates a property that it
// keeps without the defect. The table has all defects, and also the runs of the hunt, from the page
// of make mutants.
func TestExploredMutants(t *testing.T) {
	if !*exploreThem {
		t.Skip("the exploration of mutants is part of make explore: go test ./internal/mutants -run Explored -args -explored")
	}
	checkout, err := FindCheckout(root)
	if err != nil {
		t.Fatal(err)
	}
	table := io.Writer(os.Stdout)
	if *exploredFile != "" {
		f, err := os.Create(*exploredFile)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		table = f
	}
	_, _ = fmt.Fprint(table, "| number | defect | should break | violated beyond the lock without it | in how many worlds | shortest run (events, faults) | world | runs up to the first find | runs of the hunt |\n|---|---|---|---|---|---|---|---|---|\n")
	control, hunted := map[string]Explored{}, huntedRuns(t)
	found, sooner, mutants := 0, 0, all(t)
	known, foundOfKnown := 0, 0 // of the catalogue
	for _, m := range mutants {
		if _, done := control[m.Lock]; !done {
			if control[m.Lock], err = checkout.Explore(t.Context(), Mutant{}, m.Lock); err != nil {
				t.Fatal(err)
			}
		}
		e, err := checkout.Explore(t.Context(), m, m.Lock)
		if err != nil {
			t.Fatalf("%s: %v", m.Number, err)
		}
		finds := e.Beyond(control[m.Lock])
		hunt, caught := hunted[m.Number]
		if !m.Unseen() {
			known++
		}
		if len(finds) > 0 {
			found++
			if !m.Unseen() {
				foundOfKnown++
			}
			if !caught || finds[0].Runs < hunt {
				sooner++
			}
		}
		runs := "not found"
		if caught {
			runs = fmt.Sprint(hunt)
		}
		_, _ = fmt.Fprintf(table, "| %s | %s | %s | %s | %s |\n", m.Number, m.Title, strings.Join(Codes(m.Names), ", "), exploredCells(finds), runs)
	}
	_, _ = fmt.Fprintf(table, "\n%d of %d found, in %d worlds of redlock; %d of them with fewer runs than the hunt needed.\n", found, len(mutants), control["redlock"].Worlds, sooner)
	if foundOfKnown*3 < known*2 {
		t.Errorf("only %d of %d of the catalogue are found", foundOfKnown, known)
	}
}

// exploredCells describes finds in the last cells of a line.
func exploredCells(finds []ExploredFind) string {
	if len(finds) == 0 {
		return "nothing | – | – | – | –"
	}
	var codes, worlds []string
	best := finds[0]
	for _, f := range finds {
		codes, worlds = append(codes, f.Property.Code()), append(worlds, f.World)
		if f.Events < best.Events {
			best = f
		}
	}
	slices.Sort(codes)
	slices.Sort(worlds)
	return fmt.Sprintf("%s | %d | %d, %d | %s | %d", strings.Join(slices.Compact(codes), " "), len(slices.Compact(worlds)), best.Events, best.Faults, best.World, finds[0].Runs)
}

// huntedRuns reads how many runs the hunt needed to find each mutant, by its number.
func huntedRuns(t *testing.T) map[string]int {
	t.Helper()
	page, err := os.ReadFile("../../docs/evidence/mutants.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for line := range strings.Lines(string(page)) {
		// number, defect, should break, found, runs, seconds, build, source
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 8 || cells[3] == "nothing" || cells[3] == "missed" {
			continue
		}
		if runs, err := strconv.Atoi(cells[4]); err == nil {
			all[cells[0]] = runs
		}
	}
	if len(all) == 0 {
		t.Fatal("docs/evidence/mutants.md has no table of runs")
	}
	return all
}
