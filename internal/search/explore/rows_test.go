package explore

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: the smallest world of a row has all of its faults and is no larger, and two clients are left to
// compete. Where every run in it was made, the row's properties are violated as they are expected to be,
// and others hold. In that of delayed-restart somebody tries to acquire after the node's return.
func TestRowsAreAsExpected(t *testing.T) {
	smaller, finished := 0, 0
	for _, s := range scenarios.All() {
		small := smallest(t, s)
		if len(small.Plan) != len(s.Plan) || len(small.Clients) < min(len(s.Clients), leastClients) || small.Nodes > s.Nodes {
			t.Errorf("%s: %d nodes, %d clients, %d faults", s.Name, small.Nodes, len(small.Clients), len(small.Plan))
		}
		if small.Nodes < s.Nodes {
			smaller++
		}
		o := explorePlain(t, small, Bounds{Faults: len(s.Plan)})
		if o.Complete {
			finished++
			if s.Name != "wait-other-promoted" { // not all of its runs violate: draws of commits decide, which are fixed here
				wantAsExpected(t, s, o)
			}
		}
		if s.Name != "delayed-restart" {
			continue
		}
		if o, err := Explore(t.Context(), small, straight(small), Limits{}, nil, nil); err != nil || o.UntriedReturns > 0 {
			t.Errorf("%s: nobody tries to acquire after the return of the node (%v)", s.Name, err)
		}
	}
	if rows := len(scenarios.All()); smaller == 0 || finished < rows/2 {
		t.Errorf("%d of %d rows were finished, %d worlds are smaller: too few to tell anything", finished, rows, smaller)
	}
}

// Law: in the trial without faults, only the lock that looks and sets in two steps violates anything.
func TestComparedLocks(t *testing.T) {
	for _, c := range scenarios.Contenders() {
		small := smallest(t, scenarios.Trials()[0].Enter(c))
		if o := explorePlain(t, small, Bounds{}); (o.Verdict() == Violated) != (c.Name == "check-then-set") {
			t.Errorf("%s: %s", c.Name, o.Verdict())
		}
	}
}

// Law: a pause of a TTL breaks section exclusion of every lock but those with a lock delay, those of a connection
// that the pause does not end, one that has no TTL, and those whose candidates count the TTL from when they have looked at the
// record; and an eviction breaks a lock that is a single key.
func TestOneFault(t *testing.T) {
	for _, c := range scenarios.Contenders() {
		small := smallest(t, scenarios.Trials()[0].Enter(c))
		broken := func(k nemesis.Kind) string {
			return explorePlain(t, small, Bounds{Kinds: []nemesis.Kind{k}, Added: 1}).Violations()
		}
		survives := slices.Contains([]string{"chubby-lock-delay", "lock-file", "advisory", "advisory-checked", "kubernetes-lease", "kubernetes-lease-fenced"}, c.Name)
		if by := broken("pause"); strings.Contains(by, "V2") == survives {
			t.Errorf("%s with a pause: %q", c.Name, by)
		}
		if c.Name != "single-node" {
			continue
		}
		if by := broken("evict"); !strings.Contains(by, "V1") {
			t.Errorf("%s with an eviction: %q", c.Name, by)
		}
	}
}

// explorePlain explores the runs without deviations.
func explorePlain(t *testing.T, s scenarios.Scenario, b Bounds) Outcome {
	t.Helper()
	b.Latencies, b.Draws = DefaultLatencies, DefaultDraws
	o, err := Explore(t.Context(), s, b, Limits{Workers: runtime.GOMAXPROCS(0)}, checker.Properties(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// smallest returns the smallest world of a scenario.
func smallest(t *testing.T, s scenarios.Scenario) scenarios.Scenario {
	t.Helper()
	part, err := SmallestPart(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	small, err := part.Of(s)
	if err != nil {
		t.Fatal(err)
	}
	return small
}

func wantAsExpected(t *testing.T, s scenarios.Scenario, o Outcome) {
	t.Helper()
	for _, j := range o.Judged {
		if j.Against(s.Expect) == scenarios.Met {
			continue
		}
		t.Errorf("%s: %s: %s", s.Name, j.Property, j.Verdict)
		if j.Find != nil {
			t.Log(j.Find.Result.Report.Finding(j.Property).Story())
		}
	}
}
