package fuzz_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shards"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

var (
	shared  = flag.Int("shared", 0, "over how many hunts of each sort the gain of sharing is measured; 0: it is not")
	workers = flag.Int("workers", 8, "the workers that share")
	rounds  = flag.String("rounds", "4,16", "in how many rounds they share, with commas between the numbers")
)

// sharing is how the runs of a hunt are divided.
type sharing struct {
	name            string
	workers, rounds int // 0: one hunt
	share           bool
}

// sharings are those that are compared: one hunt first.
func sharings(t *testing.T) []sharing {
	t.Helper()
	list := []sharing{{name: "one hunt"}, {fmt.Sprintf("%d alone", *workers), *workers, 1, false}}
	for text := range strings.SplitSeq(*rounds, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("-rounds %s: want numbers from 1", *rounds)
		}
		list = append(list, sharing{fmt.Sprintf("%d share in %d rounds", *workers, n), *workers, n, true})
	}
	return list
}

// TestSharingGains prints how many runs it takes until the first find, all workers counted, if one
// hunt makes them, if workers make them that know nothing of each other, and if workers share what
// came close after each round. A hunt that finds nothing counts as if it had at its end.
func TestSharingGains(t *testing.T) {
	if *shared == 0 {
		t.Skip("without -shared nothing is measured")
	}
	of := []string{"frozen-clock-majority", "evicted-allkeys", "8b", "14", "22"}
	if *only != "" {
		of = strings.Split(*only, ",")
	}
	how := sharings(t)
	fmt.Fprintf(os.Stderr, "Runs to the first find over %d hunts, given up after %d: mean, median, p90, p99. p: Mann-Whitney, two-sided.\n\n", *shared, *patience)
	head := []string{"subject"}
	for i, s := range how {
		if head = append(head, s.name); i > 0 {
			head = append(head, "gain over one hunt")
		}
	}
	fmt.Fprintf(os.Stderr, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, subject := range of {
		fmt.Fprintf(os.Stderr, "| %s |\n", strings.Join(sharedCells(t, subject, how), " | "))
	}
}

// sharedCells returns the cells of a subject.
func sharedCells(t *testing.T, subject string, how []sharing) []string {
	t.Helper()
	hunt := sharedHuntOf(t, subject)
	found := make([]fuzz.Attempts, len(how))
	for seed := *first; seed < *first+uint64(*shared); seed++ {
		for i, s := range how {
			found[i] = append(found[i], hunt(t, seed, s))
		}
	}
	cells := []string{named(subject)}
	for i, list := range found {
		if cells = append(cells, quantiles(list)); i > 0 {
			cells = append(cells, fmt.Sprintf("%s, p = %.2g", gain(found[0], list), mannWhitney(found[0], list)))
		}
	}
	return cells
}

// sharedHuntOf returns the hunt for a row, or for one of its properties as in evicted-allkeys/V1, or
// for a mutant.
func sharedHuntOf(t *testing.T, subject string) func(*testing.T, uint64, sharing) fuzz.Attempt {
	t.Helper()
	rows := fuzz.Rediscoveries()
	name, code, _ := strings.Cut(subject, "/")
	if i := slices.IndexFunc(rows, func(r fuzz.Rediscovery) bool { return r.Name == name }); i >= 0 {
		return func(t *testing.T, seed uint64, s sharing) fuzz.Attempt { return sharedRow(t, rows[i], code, seed, s) }
	}
	m, hunter := mutantHunter(t, subject)
	return func(t *testing.T, seed uint64, s sharing) fuzz.Attempt {
		r, err := hunter.Hunt(t.Context(), mutants.Task{
			Lock: m.Lock, Seed: seed, Budget: math.MaxInt64, Runs: *patience, Named: m.Names,
			Workers: s.workers, Rounds: s.rounds, Share: s.share,
		})
		if err != nil {
			t.Fatal(err)
		}
		return fuzz.Attempt{Runs: r.Runs, Found: mutants.Trial{Mutant: m, Report: r}.AsNamed()}
	}
}

// sharedRow hunts the first violation that a row expects, or the first of the property with a code.
func sharedRow(t *testing.T, row fuzz.Rediscovery, code string, seed uint64, s sharing) (a fuzz.Attempt) {
	t.Helper()
	h, err := row.Hunt(t.Context(), simulated.Backend(), mostFaults, seed)
	if err != nil {
		t.Fatal(err)
	}
	s.workers, s.rounds = max(s.workers, 1), max(s.rounds, 1) // one worker in one round is one hunt
	shares := s.workers * s.rounds
	r := shards.Rounds{
		Division: shards.Division{Hunt: h, Runs: *patience, Size: (*patience + shares - 1) / shares},
		Workers:  s.workers, Share: s.share,
	}
	a.Runs, a.Found, err = r.Until(t.Context(), func(run fuzz.Run) bool {
		return slices.ContainsFunc(run.Broken, func(p checker.Property) bool { return code == "" || p.Code() == code })
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// mannWhitney returns the two-sided probability that hunts of two sorts that do not differ differ as
// much as these, by their ranks, as a normal approximation with ties.
func mannWhitney(a, b fuzz.Attempts) float64 {
	var wins, ties float64
	times := map[int]int{}
	for _, x := range a {
		for _, y := range b {
			switch {
			case x.Runs < y.Runs:
				wins++
			case x.Runs == y.Runs:
				ties++
			}
		}
	}
	for _, x := range slices.Concat(a, b) {
		times[x.Runs]++
	}
	n, m := float64(len(a)), float64(len(b))
	tied := 0.0
	for _, k := range times {
		tied += float64(k*k*k - k)
	}
	sigma := math.Sqrt(n * m / 12 * (n + m + 1 - tied/((n+m)*(n+m-1))))
	if sigma == 0 {
		return 1
	}
	z := max(math.Abs(wins+ties/2-n*m/2)-0.5, 0) / sigma
	return math.Erfc(z / math.Sqrt2)
}

// The probability is that of the tables for small samples, as far as an approximation can be.
func TestMannWhitney(t *testing.T) {
	list := func(runs ...int) (a fuzz.Attempts) {
		for _, n := range runs {
			a = append(a, fuzz.Attempt{Runs: n})
		}
		return a
	}
	for _, c := range []struct {
		a, b fuzz.Attempts
		p    float64
	}{
		{list(1, 2, 3, 4, 5), list(6, 7, 8, 9, 10), 0.0122},
		{list(1, 4, 5, 8, 9), list(2, 3, 6, 7, 10), 1},
		{list(7, 7, 7), list(7, 7, 7), 1},
	} {
		if p := mannWhitney(c.a, c.b); math.Abs(p-c.p) > 0.001 {
			t.Errorf("%v and %v: %.4f, want %.4f", c.a, c.b, p, c.p)
		}
	}
}
