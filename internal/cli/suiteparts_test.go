package cli

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/internal/report"
)

// inParts runs a suite in parts of at most block runs, in any order, and joins them.
func inParts(t *testing.T, s suite, block int, random *rand.Rand) (report.Tallies, []refusal) {
	t.Helper()
	all, refused, err := s.divisible()
	if err != nil {
		t.Fatal(err)
	}
	list := all.Parts(block)
	texts := make([][]byte, len(list))
	for _, i := range random.Perm(len(list)) {
		if texts[i], err = all.RunPart(t.Context(), list[i], nil); err != nil {
			t.Fatal(err)
		}
	}
	found, err := joinTallies(all, list, func(i int) ([]byte, error) { return texts[i], nil })
	if err != nil {
		t.Fatal(err)
	}
	return found, refused
}

// printed returns what a suite prints of its results, in every format.
func printed(t *testing.T, s suite, of func(format string) subject, found report.Tallies, refused []refusal) string {
	t.Helper()
	var out bytes.Buffer
	for _, format := range tableFormats {
		_ = s.conclude(of(format), location{}, known{found: found, refused: refused}, &out)
	}
	return out.String()
}

// Law: what a debate and a comparison print and store is the same, however their runs are divided
// into parts.
func TestSuitesInParts(t *testing.T) {
	d, err := choose([]string{"calm", "crash-restart", "majority-partition-bridge", "delayed-restart", "short-restart"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := compared([]string{"redlock", "single-node", "etcd"}, "crash")
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		suite
		subject func(format string) subject
	}{
		"debate": {
			debateOptions{backend: backends[0].Backend, runs: 12, points: 3, seed: 5}.suite(d),
			func(format string) subject { d := d; d.show.format = format; return &d },
		},
		"compare": {
			c.suite(backends[0].Backend, 1, 12),
			func(format string) subject { c := c; c.format, c.byTrial = format, true; return &c },
		},
	} {
		found, refused, err := of.run(context.Background(), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		whole := printed(t, of.suite, of.subject, found, refused)
		if len(whole) < 1000 {
			t.Fatalf("%s prints only %q", name, whole)
		}
		for _, block := range []int{1, 5, 100} {
			found, refused := inParts(t, of.suite, block, rand.New(rand.NewPCG(1, uint64(block))))
			if got := printed(t, of.suite, of.subject, found, refused); got != whole {
				t.Errorf("%s in parts of %d prints\n%s\nand in one piece\n%s", name, block, got, whole)
			}
		}
	}
}
