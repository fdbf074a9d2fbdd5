package fuzz_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

var (
	hunts    = flag.Int("hunts", 0, "over how many hunts of each sort the gain of guidance is measured; 0: it is not")
	first    = flag.Uint64("first", 1, "the seed of the first of them")
	patience = flag.Int("patience", 10_000, "after how many runs one of these hunts is given up")
	only     = flag.String("subjects", "", "rows and numbers of mutants to measure on, with commas between them, or all; none: those of docs/evidence/hunt.md")
	compared = flag.String("guidances", "none,aim,full", "the guidances to compare, with commas between them")
)

// subjects are rows and mutants that blind hunts find late, and some that they find soon,
// for guidance may not lose there what it gains elsewhere.
var subjects = []string{
	"crash-restart", "node-clock-jump", "frozen-clock-thaws", "clock-drift-beyond", "frozen-clock-majority",
	"8b", "14", "22",
}

// repeatedHunt hunts with a seed until something is found, or for so many runs.
type repeatedHunt func(t *testing.T, seed uint64, g fuzz.Guidance) fuzz.Attempt

// huntOf returns the hunt for a subject.
func huntOf(t *testing.T, subject string) repeatedHunt {
	t.Helper()
	rows := fuzz.Rediscoveries()
	if i := slices.IndexFunc(rows, func(r fuzz.Rediscovery) bool { return r.Name == subject }); i >= 0 {
		return huntRow(rows[i])
	}
	return huntMutant(t, subject)
}

// mutantHunter returns the mutant of a number, and what hunts it.
func mutantHunter(t *testing.T, number string) (mutants.Mutant, mutants.Hunter) {
	t.Helper()
	all, err := mutants.All()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Number == number })
	if i < 0 {
		t.Fatalf("%q is neither a row nor a mutant", number)
	}
	checkout, err := mutants.FindCheckout(".")
	if err != nil {
		t.Skip(err)
	}
	hunter, err := checkout.Build(t.Context(), all[i])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hunter.Close() })
	return all[i], hunter
}

// huntRow hunts what a row of the debate shows, as in the table of docs/evidence/hunt.md.
func huntRow(r fuzz.Rediscovery) repeatedHunt {
	return func(t *testing.T, seed uint64, g fuzz.Guidance) (c fuzz.Attempt) {
		h, err := r.Hunt(t.Context(), simulated.Backend(), mostFaults, seed)
		if err != nil {
			t.Fatal(err)
		}
		h.Guidance, h.Depth = g, 2
		var b fuzz.Results
		h.Each = func(s fuzz.Run) bool {
			b.Add(s)
			c.Runs, c.Found = s.Number, b.Has(h.Wanted)
			return !c.Found && c.Runs < *patience
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// mostFaults is the default of the command.
const mostFaults = 6

// huntMutant hunts a defect, as in the table of docs/evidence/mutants.md.
func huntMutant(t *testing.T, number string) repeatedHunt {
	t.Helper()
	m, hunter := mutantHunter(t, number)
	return func(t *testing.T, seed uint64, g fuzz.Guidance) fuzz.Attempt {
		r, err := hunter.Hunt(t.Context(), mutants.Task{
			Lock: m.Lock, Seed: seed, Budget: math.MaxInt64, Runs: *patience, Guidance: string(g), Named: m.Names,
		})
		if err != nil {
			t.Fatal(err)
		}
		return fuzz.Attempt{Runs: r.Runs, Found: mutants.Trial{Mutant: m, Report: r}.AsNamed()}
	}
}

// TestGuidanceGains prints the table of docs/evidence/hunt.md, which has the command. An
// unsuccessful hunt counts as if it had succeeded at its end, which favours the worse
// guidance.
func TestGuidanceGains(t *testing.T) {
	if *hunts == 0 {
		t.Skip("without -hunts nothing is measured")
	}
	switch *only {
	case "":
	case "all":
		subjects = allSubjects(t)
	default:
		subjects = strings.Split(*only, ",")
	}
	guidances := strings.Split(*compared, ",")
	fmt.Fprintf(os.Stderr, "Runs to the find over %d hunts, given up after %d: mean, median, p90, p99.\n\n", *hunts, *patience)
	head := append([]string{"subject"}, guidances...)
	for i := range guidances[1:] {
		head = append(head, fmt.Sprintf("gain of %s over %s", guidances[i+1], guidances[i]))
	}
	fmt.Fprintf(os.Stderr, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	ratios := make([]float64, len(guidances)) // the sums of their logarithms
	for _, subject := range subjects {
		cells := measured(t, subject, guidances, ratios)
		fmt.Fprintf(os.Stderr, "| %s |\n", strings.Join(cells, " | "))
	}
	for i := range guidances[1:] {
		fmt.Fprintf(os.Stderr, "\n%s over %s: %.2f, geometric mean of %d subjects\n", guidances[i+1], guidances[i], math.Exp(ratios[i]/float64(len(subjects))), len(subjects))
	}
}

// measured returns the cells of a subject, and adds the logarithms of its ratios.
func measured(t *testing.T, subject string, guidances []string, ratios []float64) (cells []string) {
	chase := huntOf(t, subject)
	found := make([]fuzz.Attempts, len(guidances))
	for seed := *first; seed < *first+uint64(*hunts); seed++ {
		for i, g := range guidances {
			found[i] = append(found[i], chase(t, seed, fuzz.Guidance(g)))
		}
	}
	cells = []string{named(subject)}
	for _, list := range found {
		cells = append(cells, quantiles(list))
	}
	for i := range guidances[1:] {
		cells = append(cells, gain(found[i], found[i+1]))
		ratios[i] += math.Log(mean(found[i]) / mean(found[i+1]))
	}
	return cells
}

// allSubjects lists all rows and mutants.
func allSubjects(t *testing.T) (all []string) {
	t.Helper()
	for _, r := range fuzz.Rediscoveries() {
		all = append(all, r.Name)
	}
	planted, err := mutants.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range planted {
		all = append(all, m.Number)
	}
	return all
}

// named returns the name of a subject in the table.
func named(subject string) string {
	if subject[0] >= '0' && subject[0] <= '9' {
		return "mutant " + subject
	}
	return subject
}

func quantiles(list fuzz.Attempts) string {
	parts := []string{fmt.Sprintf("%.0f", mean(list))}
	for _, percent := range []float64{50, 90, 99} {
		part := "–"
		if n, found := list.Runs(percent); found {
			part = fmt.Sprint(n)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func mean(list fuzz.Attempts) float64 {
	sum := 0
	for _, c := range list {
		sum += c.Runs
	}
	return float64(sum) / float64(len(list))
}

// gain is the ratio of the means, with its interval.
func gain(without, with fuzz.Attempts) string {
	low, high := interval(without, with)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", mean(without)/mean(with), low, high)
}

// interval is the 95 % interval of the ratio of the means, by bootstrap.
func interval(without, with fuzz.Attempts) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 1))
	again := func(list fuzz.Attempts) fuzz.Attempts {
		drawn := make(fuzz.Attempts, len(list))
		for i := range drawn {
			drawn[i] = list[random.IntN(len(list))]
		}
		return drawn
	}
	ratios := make([]float64, 4000)
	for i := range ratios {
		ratios[i] = mean(again(without)) / mean(again(with))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/40], ratios[len(ratios)-len(ratios)/40]
}
