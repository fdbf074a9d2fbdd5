package shrink_test

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shrink"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var (
	hunts    = flag.Int("hunts", 1, "how many hunts are made for each row; the campaign's are 10")
	every    = flag.Int("every", 5, "the rows that are hunted: each so-many-th; 1: all, as in the campaign")
	patience = flag.Int("patience", 100, "after how many runs a hunt gives up")
	table    = flag.String("table", "", "a file for a table of what the finds were shrunk to")
	told     = flag.String("told", "", "a file for the scenarios themselves")
)

// minimizer reduces findings of a hunt without assumptions.
var minimizer = shrink.Minimizer{Backend: simulated.Backend(), Terms: promises.Unconditional, Promised: promises.Of, Shortest: explore.Shortest}

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

// stuck are rows of whose finds some are not shrunk to the smallest in the campaign, and what stays.
// A fault that does nothing can stay, because without it the others draw other random numbers.
var stuck = map[string]string{
	"client-suspend":        "a pause that only delays",
	"duplicate-set":         "a second client, or a cut",
	"evicted-allkeys":       "a third client",
	"fence-after-loss":      "a second client",
	"fenced-writes-only":    "a third client",
	"vm-restore-fence-lost": "a second way to forget",
}

// complaint returns the function to call if a find of a hunt could be smaller: that fails the test,
// unless the row is stuck.
func complaint(t *testing.T, row string) func(format string, args ...any) {
	if why := stuck[row]; why != "" {
		return func(format string, args ...any) { t.Logf("stuck with %s: %s", why, fmt.Sprintf(format, args...)) }
	}
	return t.Errorf
}

// wantStory checks that no more than necessary remains.
func wantStory(t *testing.T, row string, s scenarios.Scenario, complain func(format string, args ...any)) {
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
		complain("%d clients and %d causes remain, want %d and %d at most:\n%s", z.Clients, causes, n.clients, n.causes, text(t, s))
	}
}

// Law: violations of the debate's rows with their own plans are reduced to at most two clients
// and one fault, besides the necessary partitions. (Series are left out: a point is like its
// neighbours, and its many rounds take long.)
func TestRowsAreShrunkToAStory(t *testing.T) {
	alone := scenarios.All()
	for _, r := range sampled() {
		if !slices.ContainsFunc(alone, func(s scenarios.Scenario) bool { return s.Name == r.Name }) {
			continue
		}
		for _, p := range r.Wanted() {
			t.Run(r.Name+"/"+p.String(), func(t *testing.T) {
				t.Parallel()
				wantStory(t, r.Name, minimized(t, minimizer, p, byItself(t, r.Scenario, p)).Small.Executed(), t.Errorf)
			})
		}
	}
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

// sampled returns some rows with violations.
func sampled() (rows []fuzz.Rediscovery) {
	for i, r := range fuzz.Rediscoveries() {
		if i%*every == 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// byItself returns the first run of a row, with its own plan, that violates a property.
func byItself(t *testing.T, s scenarios.Scenario, p checker.Property) fuzz.Run {
	t.Helper()
	for seed := uint64(1); seed <= 100; seed++ {
		c := fuzz.Candidate{Scenario: s, Seed: seed}
		r, err := c.Run(t.Context(), minimizer.Backend, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Report.Finding(p).Verdict == checker.Violated {
			return fuzz.Run{Number: int(seed), Candidate: c, Result: r}
		}
	}
	t.Fatal("no seed shows it")
	return fuzz.Run{}
}

func minimized(t *testing.T, minimizer shrink.Minimizer, p checker.Property, run fuzz.Run) shrink.Finding {
	t.Helper()
	got, err := minimizer.Minimize(t.Context(), p, run)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Law: findings of hunts for the debate's rows are reduced to at most two clients and one
// fault, besides the necessary partitions. All hunts that find the same cause reach the same
// number of clients and nodes. Rows that are stuck may be larger. Updates lost by overlapping leases
// are not blamed on anything else, and the causes of the row remain.
func TestFindsAreShrunkToAStory(t *testing.T) {
	w := tellers{create(t, *table), create(t, *told)}
	wanted, all := 0, map[finding][]shrink.Finding{}
	for _, r := range sampled() {
		t.Run(r.Name, func(t *testing.T) {
			wanted += len(r.Wanted()) * *hunts
			for seed := range uint64(*hunts) {
				finds, causes := found(t, r, seed+1)
				minimizer := minimizer
				minimizer.Causes = causes
				for _, p := range r.Wanted() {
					if run, ok := finds[p]; ok {
						got := minimized(t, minimizer, p, run)
						wantSameCause(t, got)
						wantBlamed(t, got.Small.Executed(), causes)
						wantStory(t, r.Name, got.Small.Executed(), complaint(t, r.Name))
						of := finding{r.Name, p, blamed(got.Small.Executed())}
						all[of] = append(all[of], got)
					}
				}
			}
		})
	}
	_, _ = fmt.Fprint(w.table, "| row | violates | finds | faults found | shrunk to | clients | nodes | cuts | seeds | runs |\n|---|---|---|---|---|---|---|---|---|---|\n")
	shrunk := 0
	for _, of := range sortedFindings(all) {
		shrunk += len(all[of])
		wantOneMinimum(t, of, all[of])
		w.tell(t, of, all[of])
	}
	if !t.Failed() && shrunk < wanted/2 {
		t.Errorf("%d of %d violations were found: too few to tell anything", shrunk, wanted)
	}
}

// finding identifies findings: the row, the property, and the kinds of faults.
type finding struct {
	row      string
	property checker.Property
	causes   string
}

func sortedFindings(all map[finding][]shrink.Finding) []finding {
	return slices.SortedFunc(maps.Keys(all), func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.property, b.property), cmp.Compare(a.causes, b.causes))
	})
}

// wantSameCause checks that overlapping leases still overlap.
func wantSameCause(t *testing.T, got shrink.Finding) {
	t.Helper()
	verdict := func(r runner.Result) checker.Verdict { return r.Report.Finding(checker.Lease).Verdict }
	exclusion := got.Property == checker.Section || got.Property == checker.Effect
	if exclusion && verdict(got.Found.Result) == checker.Violated && verdict(got.Small) != checker.Violated {
		t.Errorf("two leases overlapped, and by now none do:\n%s", text(t, got.Small.Executed()))
	}
}

// wantBlamed checks that the causes of the row are still there.
func wantBlamed(t *testing.T, s scenarios.Scenario, causes []nemesis.Kind) {
	t.Helper()
	blamed := func(f nemesis.Fault) bool { return slices.Contains(causes, f.Action.Kind()) }
	if len(causes) > 0 && !slices.ContainsFunc(s.Plan, blamed) {
		t.Errorf("it is found by %v, and nothing of it is left:\n%s", causes, text(t, s))
	}
}

// wantOneMinimum checks that findings with one cause have the same number of clients and
// nodes. One that depends on a delay, so that not all of the first seeds show it, may need
// more.
func wantOneMinimum(t *testing.T, of finding, all []shrink.Finding) {
	t.Helper()
	all = slices.DeleteFunc(slices.Clone(all), func(one shrink.Finding) bool { return len(one.Shrunk.Seeds) < 5 })
	for i, one := range all {
		z, first := shrink.ExtentOf(one.Small.Executed()), shrink.ExtentOf(all[0].Small.Executed())
		if i > 0 && (z.Clients != first.Clients || z.Nodes != first.Nodes) {
			complaint(t, of.row)("%s of %s by %s is shrunk to %v, or to %v", of.property, of.row, of.causes, first, z)
		}
	}
}

// found returns the first run of a hunt that violates each property that a row wants. The hunt
// knows the kinds of faults in the row's plan, but not the plan.
func found(t *testing.T, r fuzz.Rediscovery, seed uint64) (map[checker.Property]fuzz.Run, []nemesis.Kind) {
	t.Helper()
	h, err := r.Hunt(t.Context(), minimizer.Backend, 6, seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range append(r.Kinds, "partition") {
		h.Faults[k] = 9
	}
	var bag fuzz.Results
	h.Guidance = fuzz.Aim
	h.Each = func(s fuzz.Run) bool {
		bag.Add(s)
		return !bag.Has(h.Wanted) && s.Number < *patience
	}
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bag.First, h.Causes
}

// tellers are where reduced findings are written to.
type tellers struct{ table, told io.Writer }

func create(t *testing.T, name string) io.Writer {
	if name == "" {
		return io.Discard
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// tell writes a line of the table, and the scenarios themselves.
func (w tellers) tell(t *testing.T, of finding, all []shrink.Finding) {
	var was, is, nodes, cuts, runs, seeds []int
	for _, one := range all {
		before, after := shrink.ExtentOf(one.Found.Result.Executed()), shrink.ExtentOf(one.Small.Executed())
		was, is = append(was, before.Faults), append(is, after.Clients)
		nodes, cuts = append(nodes, after.Nodes), append(cuts, after.Faults-after.Causes)
		runs, seeds = append(runs, one.Shrunk.Runs), append(seeds, len(one.Shrunk.Seeds))
		_, _ = fmt.Fprintf(w.told, "# %s of %s by %s\n%s\n", of.property, of.row, of.causes, text(t, one.Small.Executed()))
	}
	_, _ = fmt.Fprintf(w.table, "| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |\n", of.row, of.property.Code(), len(all),
		spread(was), of.causes, spread(is), spread(nodes), spread(cuts), spread(seeds), spread(runs))
}

// spread formats the smallest and the largest of some numbers.
func spread(list []int) string {
	if least, most := slices.Min(list), slices.Max(list); least < most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprint(list[0])
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
