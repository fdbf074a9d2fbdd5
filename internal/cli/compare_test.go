package cli

import (
	"bytes"
	"io"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// compareSome compares redlock, of which something else is said, in some trials.
func compareSome(t *testing.T, expect scenarios.Expectations, trial string) (comparison, string) {
	t.Helper()
	c, err := compared([]string{"redlock"}, trial)
	if err != nil {
		t.Fatal(err)
	}
	c.Locks[0].Expect = expect
	o := suiteOptions{backend: backends[0].Backend, runs: 2, seed: 1, format: asText}
	var out bytes.Buffer
	if _, _, err := o.present(t.Context(), &c, &out, io.Discard); !isVerdict(err) {
		t.Fatal(err)
	}
	return c, out.String()
}

// The stated expectations of a lock are compared with the results: properties that it keeps in
// every trial, and those that it breaks in some.
func TestDeviations(t *testing.T) {
	c, out := compareSome(t, scenarios.Expectations{checker.Lease: checker.Holds}, "crash")
	want(t, "conclusion", c.Conclusion(), runner.Contradiction)
	wantIn(t, out, "redlock violates lease exclusion, which it is said to keep: ✗ 100 % [34.2, 100]\n")

	c, out = compareSome(t, scenarios.Expectations{checker.Contract: checker.Violated}, "")
	want(t, "conclusion", c.Conclusion(), runner.Undecided)
	wantIn(t, out, "redlock was not seen to violate contract, which it is said not to keep: ✓\n")

	c, _ = compareSome(t, scenarios.Expectations{checker.Contract: checker.Violated}, "crash")
	want(t, "conclusion of one trial, which need not show it", c.Conclusion(), runner.AsExpected)
}
