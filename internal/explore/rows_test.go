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

// Law: where every run of a row was made in its smallest world, its properties are violated as they
// are expected to be, and others hold.
func TestRowsAreAsExpected(t *testing.T) {
	finished := 0
	for _, s := range scenarios.All() {
		o := exploreSmallest(t, s)
		if !o.Complete {
			continue
		}
		finished++
		wantAsExpected(t, s, o)
	}
	if finished < len(scenarios.All())/2 {
		t.Errorf("%d rows were finished: those are too few to tell anything", finished)
	}
}

// Law: in the trial without faults, only the lock that looks and sets in two steps violates anything.
func TestComparedLocks(t *testing.T) {
	for _, c := range scenarios.Contenders() {
		if o := exploreSmallest(t, scenarios.Trials()[0].Enter(c)); (o.Verdict() == Violated) != (c.Name == "check-then-set") {
			t.Errorf("%s: %s", c.Name, o.Verdict())
		}
	}
}

// Law: a pause of a TTL breaks section exclusion of every lock but those with a lock delay, those of a connection
// that the pause does not end, and those whose candidates count the TTL from when they have looked at the
// record; and an eviction breaks a lock that is a single key.
func TestOneFault(t *testing.T) {
	for _, c := range scenarios.Contenders() {
		small := smallest(t, scenarios.Trials()[0].Enter(c))
		broken := func(k nemesis.Kind) string {
			b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Kinds: []nemesis.Kind{k}, Added: 1}
			o, err := Explore(t.Context(), small, b, Limits{Workers: runtime.GOMAXPROCS(0)}, checker.Properties(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return o.Violations()
		}
		survives := slices.Contains([]string{"chubby-lock-delay", "advisory", "advisory-checked", "kubernetes-lease", "kubernetes-lease-fenced"}, c.Name)
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

// exploreSmallest explores the smallest world of a scenario.
func exploreSmallest(t *testing.T, s scenarios.Scenario) Outcome {
	t.Helper()
	b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Faults: len(s.Plan)}
	o, err := Explore(t.Context(), smallest(t, s), b, Limits{Workers: runtime.GOMAXPROCS(0)}, checker.Properties(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// smallest returns the smallest world of a scenario.
func smallest(t *testing.T, s scenarios.Scenario) scenarios.Scenario {
	t.Helper()
	part, err := Smallest(t.Context(), s)
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
