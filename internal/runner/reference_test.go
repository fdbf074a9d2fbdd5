package runner_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Only here are the whole debate and the whole comparison run. Other tests print the stored
// results, or run a few rows a few times.

var whole = flag.Bool("whole", false, "repeat all runs of the stored results, not only the first ten of each row")

const (
	referenceDir = "../../results/reference"

	// exactArch is the architecture on which runs follow from their seeds alone: the
	// drift factor is a float64.
	exactArch = "amd64"
)

// Law: every row of the debate, and every point of its series, shows what it expects, and what is stored of
// it: with -whole to the last count and trace. (With -update the results are stored.)
func TestDebateIsCurrent(t *testing.T) {
	stored := loadStored(t, results.DebateFile)
	for i, s := range scenarios.Every() {
		runs := 100
		if i >= len(scenarios.All()) { // a point of a series
			runs = 50
		}
		stored.compare(t, s, runs, func(t *testing.T, row results.Row) {
			tally := row.Tally(s)
			if got := tally.Conclusion(); got != runner.AsExpected {
				t.Errorf("%d runs of %s are not as its \"expect:\" says, but %v: %s\nrepeat one with: lockstorm run %[2]s --seed %d",
					tally.Runs, s.Name, got, unexpected(tally), tally.Witness)
			}
		})
	}
}

// Law: every lock shows in every trial what is stored of it. (What is said of a lock
// is said of all its trials together: the command judges that from what is stored.)
func TestComparisonIsCurrent(t *testing.T) {
	stored := loadStored(t, results.CompareFile)
	for _, trial := range scenarios.Trials() {
		for _, c := range scenarios.Contenders() {
			stored.compare(t, trial.Enter(c), 50, func(*testing.T, results.Row) {})
		}
	}
}

// storedSuite is the stored results of a suite, and new ones.
type storedSuite struct {
	results.Reference
	left  map[string]results.Row // those with which nothing was compared yet, by scenario
	fresh []results.Row          // in the order of the scenarios
}

// loadStored loads stored results. When the test has ended, it reports rows of no scenario, and with
// -update stores the new rows.
func loadStored(t *testing.T, file string) *storedSuite {
	t.Helper()
	f, err := results.LoadReference(referenceDir, file)
	if err != nil {
		t.Fatal(err)
	}
	s := &storedSuite{Reference: f, left: map[string]results.Row{}}
	for _, r := range f.Rows {
		s.left[r.Scenario] = r
	}
	t.Cleanup(func() { // after the parallel subtests
		switch {
		case t.Failed():
		case testkit.UpdateGolden():
			s.Rows = results.InOrder(s.fresh)
			s.Versions["go"], s.Versions["arch"] = runtime.Version(), runtime.GOARCH
			if err := s.Save(referenceDir, file); err != nil {
				t.Error(err)
			}
		case len(s.left) > 0:
			t.Errorf("results are stored of %v, and there are no such scenarios any more. %s", slices.Sorted(maps.Keys(s.left)), renew(t))
		}
	})
	return s
}

// renew says how results are stored anew.
func renew(t *testing.T) string {
	return testkit.GoldenAdvice(t, "These are not the results in "+referenceDir+".")
}

// compare runs a scenario with its first seeds, compares with what is stored of it, and checks the row that is
// stored. In no run effect exclusion holds although the applies show a lost update.
func (s *storedSuite) compare(t *testing.T, of scenarios.Scenario, runs int, check func(*testing.T, results.Row)) {
	stored, isStored := s.left[of.Name]
	exact := runtime.GOARCH == exactArch
	few := exact && !*whole && !testkit.UpdateGolden()
	if few {
		runs = 10
	}
	delete(s.left, of.Name)
	at := len(s.fresh)
	s.fresh = append(s.fresh, results.Row{}) // all of them before the first parallel subtest goes on
	t.Run(of.Name, func(t *testing.T) {
		t.Parallel()
		each := func(r runner.Result) {
			if n := r.Report.Measurements.LostUpdates; n != 0 && r.Report.Finding(checker.Effect).Verdict == checker.Holds {
				t.Errorf("%s, seed %d: %d updates are lost, and effect exclusion holds", of.Name, r.Seed, n)
			}
		}
		tally, err := runner.Batch{Experiment: prepared(t, simulator, of), First: 1, Runs: runs, Each: each}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fresh := results.RowOf(tally, 1)
		s.fresh[at] = fresh
		if testkit.UpdateGolden() {
			check(t, fresh)
			return
		}
		if !isStored {
			t.Fatalf("nothing is stored of %s. %s", of.Name, renew(t))
		}
		check(t, stored)
		if few {
			stored = firstRuns(stored, fresh)
		}
		if text := difference(stored, fresh, exact); text != "" {
			t.Errorf("the runs of %s differ:%s\n%s", of.Name, text, renew(t))
		}
	})
}

// firstRuns returns a stored row as it would be stored of the first runs alone, whose row is given: a
// count or a measurement that those runs can have had is taken from that row.
func firstRuns(stored, first results.Row) results.Row {
	within := func(seed uint64) bool { return seed < stored.First+uint64(first.Runs) }
	r := first
	r.Shown, r.Against = min(first.Shown, stored.Shown), min(first.Against, stored.Against)
	if within(stored.Witness) {
		r.Witness, r.Trace = stored.Witness, stored.Trace
	}
	r.Seen = map[checker.Property]map[checker.Verdict]int{}
	for p, counts := range stored.Seen {
		r.Seen[p] = map[checker.Verdict]int{}
		for v, n := range counts {
			if n = min(n, first.Seen[p][v]); n > 0 {
				r.Seen[p][v] = n
			}
		}
	}
	r.Violations = nil
	for _, v := range stored.Violations {
		if !within(v.Seed) {
			continue
		}
		if i := slices.IndexFunc(first.Violations, func(f results.Violation) bool { return f.Finding.Property == v.Finding.Property }); i >= 0 {
			v.Count = min(v.Count, first.Violations[i].Count)
		}
		r.Violations = append(r.Violations, v)
	}
	return r
}

// unexpected lists the properties with unexpected verdicts, with the first violation of those that
// should hold.
func unexpected(t runner.Tally) string {
	var b strings.Builder
	for _, p := range checker.Properties() {
		want, stated := t.Scenario.Expect[p]
		seen := t.Seen[p]
		switch {
		case want == checker.Unknown && stated,
			want == checker.Violated && seen[want] > 0,
			want != checker.Violated && stated && seen[want] == t.Runs,
			!stated && seen[checker.Violated]+seen[checker.Unknown] == 0:
			continue
		case stated:
			fmt.Fprintf(&b, "\n%s: want %v, seen %v", p, want, seen)
		default:
			fmt.Fprintf(&b, "\n%s: nothing is expected, seen %v", p, seen)
		}
		if r, broken := t.First[p]; broken && want != checker.Violated {
			fmt.Fprintf(&b, "; seed %d: %s", r.Seed, r.Report.Finding(p).Story())
		}
	}
	return b.String()
}

// difference says how a fresh row differs from the stored one: in anything, or else
// in a verdict.
func difference(stored, fresh results.Row, exact bool) string {
	if exact {
		if reflect.DeepEqual(stored, fresh) {
			return ""
		}
		return differing("", fields(stored), fields(fresh))
	}
	var b strings.Builder
	was, is := stored.Tally(scenarios.Scenario{}), fresh.Tally(scenarios.Scenario{})
	for _, p := range checker.Properties() {
		if was.Observed(p) != is.Observed(p) {
			fmt.Fprintf(&b, "\n%s was %v and is %v", p, was.Observed(p), is.Observed(p))
		}
	}
	return b.String()
}

// fields returns a row as its file contains it.
func fields(r results.Row) (all map[string]any) {
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic(err)
	}
	return all
}

// differing names the fields that are not the same, each with what it was and is.
func differing(path string, was, is map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(union(was, is))) {
		old, now := was[name], is[name]
		a, nested1 := old.(map[string]any)
		c, nested2 := now.(map[string]any)
		switch {
		case nested1 && nested2:
			b.WriteString(differing(path+name+".", a, c))
		case !reflect.DeepEqual(old, now):
			fmt.Fprintf(&b, "\n%s%s was %v and is %v", path, name, old, now)
		}
	}
	return b.String()
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// wantHolds checks that properties hold in each of n runs on a backend.
func wantHolds(t *testing.T, b runner.Backend, s scenarios.Scenario, n int, properties []checker.Property) {
	t.Helper()
	tally, err := runner.Batch{Experiment: prepared(t, b, s), First: 1, Runs: n}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range properties {
		if got := tally.Observed(p); got != checker.Holds {
			t.Errorf("%s is %v: %s", p, got, tally.First[p].Report.Finding(p).Story())
		}
	}
}

// Law: where a scenario breaks lease or section exclusion the lease is to blame: a lock without one,
// which nothing can reach, excludes in the same storm.
func TestAnOracleExcludesInEveryRow(t *testing.T) {
	for _, s := range scenarios.Every() {
		var broken []checker.Property
		for _, p := range []checker.Property{checker.Lease, checker.Section} {
			if s.Expect[p] == checker.Violated {
				broken = append(broken, p)
			}
		}
		if len(broken) == 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s := outsideAStore(s)
			s.Lock.Kind, s.Lock.Heartbeat = "oracle", 0
			wantHolds(t, runner.WithOracle(simulator), s, 5, broken)
		})
	}
}

// Law: where a scenario breaks effect exclusion the resource could have prevented
// it: one that checks a fence on reads and writes does, in the same storm. A store that forgets what it has
// acknowledged forgets the fence with the lock.
func TestAFencedResourceIsSafeInEveryRow(t *testing.T) {
	for _, s := range scenarios.Every() {
		if s.Expect[checker.Effect] != checker.Violated || s.Store != nil && s.Store.Asynchronous {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Guard, s.Lock.Fence = guard.Fenced, "" // the fence is the resource's own
			s.Clients = fencing(s.Clients)
			s.Lock.Fence = "" // nodes can lose their counters
			wantHolds(t, simulator, s, 5, []checker.Property{checker.Effect})
		})
	}
}

// fencing makes clients draw a fence with each grant.
func fencing(clients []scenarios.Client) []scenarios.Client {
	same := make([]scenarios.Client, len(clients))
	for i, c := range clients {
		c.Fence = true
		same[i] = c
	}
	return same
}

// suspects are the locks that break each property.
var suspects = map[checker.Property][]string{
	checker.Backing: {"careless"}, checker.Lease: {"careless"}, checker.Section: {"careless"}, checker.Effect: {"careless"}, checker.Fence: {"careless"},
	checker.Contract: {"lying", "dawdling"}, checker.Cleanup: {"littering", "hoarding", "usurping"},
	checker.DeadlockFreedom: {"grudging"}, checker.FaultTolerance: {"fragile", "grudging"},
}

// Law: what a scenario shows to hold, a lock can break in it.
func TestEveryRowFindsABrokenLock(t *testing.T) {
	for _, s := range scenarios.Every() {
		for _, p := range checker.Properties() {
			if s.Expect[p] != checker.Holds {
				continue
			}
			t.Run(s.Name+", "+p.Code(), func(t *testing.T) {
				t.Parallel()
				s := outsideAStore(s)
				if p == checker.Effect && s.Guard == guard.Token {
					s.Guard = guard.Plain // who compares and sets needs no lock at all
				}
				wantBroken(t, s, p)
			})
		}
	}
}

// outsideAStore returns a scenario for a lock in no store, whose clients cannot verify it there.
func outsideAStore(s scenarios.Scenario) scenarios.Scenario {
	s.Clients = slices.Clone(s.Clients)
	for i := range s.Clients {
		if strings.HasPrefix(s.Clients[i].Workload, "verified") {
			s.Clients[i].Workload = "section"
		}
	}
	return s
}

// wantBroken looks for a suspect's run that violates a property.
func wantBroken(t *testing.T, s scenarios.Scenario, p checker.Property) {
	t.Helper()
	seen := map[string]int{}
	for seed := uint64(1); seed <= 10; seed++ {
		for _, kind := range suspects[p] {
			s.Lock = runner.Fitted(s.Lock, kind)
			r, err := runner.Run(t.Context(), simulator, s, seed, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := r.Report.Finding(p).Verdict
			if found == checker.Violated {
				return
			}
			seen[fmt.Sprintf("%s: %v", s.Lock.Kind, found)]++
		}
	}
	t.Errorf("%s is violated in no run, so that it says nothing that it holds: %v. Give %s clients that overlap, or a longer horizon: deadlock freedom is decided a TTL and bounds.grant after the faults", p, seen, s.Name)
}
