package shrink_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/explore"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/internal/search/shrink"
	"github.com/lockstorm/lockstorm/scenarios"
)

// minimizer reduces findings of a hunt without assumptions.
var minimizer = shrink.Minimizer{Backend: simulated.Backend(), Terms: promises.Unconditional, Promised: promises.Of, Shortest: explore.ShortestRun}

// needs is how many clients and causes a violation needs.
type needs struct {
	clients, causes int
	why             string
}

// more are the violations that need more than two clients and one cause.
var more = map[string]needs{
	"fence-increment":       {3, 0, "it takes three quorums of which each two have another node in common, and a cut gives a client one"},
	"fence-after-loss":      {2, 2, "most nodes have to forget; two clients who are cut off need one crash for it, others two"},
	"split-vote-fixed-1ms":  {3, 0, "two cannot split the votes so that neither gets a majority"},
	"frozen-clock-majority": {2, 2, "a key that does not expire bars the others only if its holder dies: one that lives deletes it"},
}

// wantStory checks that no more than necessary remains.
func wantStory(t *testing.T, row string, s scenarios.Scenario) {
	t.Helper()
	n, known := more[row]
	if !known {
		n = needs{clients: 2, causes: 1}
	}
	causes := 0
	for _, f := range s.Plan {
		if f.Action.Kind() != "partition" {
			causes++
		}
	}
	if z := shrink.ExtentOf(s); z.Clients > n.clients || causes > n.causes {
		t.Errorf("%d clients and %d causes remain, want %d and %d at most:\n%s", z.Clients, causes, n.clients, n.causes, text(t, s))
	}
}

// every is how many rows there are to each that is shrunk: all would take minutes.
const every = 8

// Law: violations of the debate's rows with their own plans are reduced to at most two clients
// and one fault, besides the necessary partitions.
func TestRowsAreShrunkToAStory(t *testing.T) {
	violating := slices.DeleteFunc(scenarios.All(), func(s scenarios.Scenario) bool { return len(violated(s)) == 0 })
	for i, s := range violating {
		if i%every != 0 {
			continue
		}
		all := violated(s)
		p := all[i/every%len(all)] // one of each row, now this and now that
		t.Run(s.Name+"/"+p.String(), func(t *testing.T) {
			t.Parallel()
			wantStory(t, s.Name, minimized(t, minimizer, p, byItself(t, s, p)).Small.Executed())
		})
	}
}

// violated returns the properties that a row violates.
func violated(s scenarios.Scenario) []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return s.Expect[p] != checker.Violated })
}

// Law: a lasting partition beside a crash, or a clock jump, is not needed: other orders of messages do
// the same.
func TestOrdersReplaceCuts(t *testing.T) {
	for _, name := range []string{"crash-restart", "short-restart", "node-clock-jump"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		small := minimized(t, minimizer, checker.Lease, byItself(t, s, checker.Lease)).Small
		if len(small.Executed().Plan) != 1 || small.Course.Choices == nil {
			t.Errorf("%s: %s", name, text(t, small.Executed()))
		}
	}
}

// byItself returns the first run of a row, with its own plan, that violates a property.
func byItself(t *testing.T, s scenarios.Scenario, p checker.Property) hunt.Run {
	t.Helper()
	for seed := uint64(1); seed <= 100; seed++ {
		r, err := runner.Run(t.Context(), minimizer.Backend, s, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Report.Finding(p).Verdict == checker.Violated {
			return hunt.Run{Number: int(seed), Result: r}
		}
	}
	t.Fatal("no seed shows it")
	return hunt.Run{}
}

func minimized(t *testing.T, minimizer shrink.Minimizer, p checker.Property, run hunt.Run) shrink.Finding {
	t.Helper()
	got, err := minimizer.Minimize(t.Context(), p, run)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// blamed lists the kinds of the faults that are not lasting cuts.
func blamed(s scenarios.Scenario) string {
	var kinds []string
	for _, f := range s.Plan {
		if !shrink.IsLastingCut(f) {
			kinds = append(kinds, string(f.Action.Kind()))
		}
	}
	switch {
	case len(s.Plan) == 0:
		return "no fault"
	case len(kinds) == 0:
		return "cuts alone"
	}
	slices.Sort(kinds)
	return strings.Join(kinds, " and ")
}
