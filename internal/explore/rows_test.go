package explore

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var (
	rowDeviations = flag.Int("deviations", 0, "deviations of a run in TestRowsAreAsExpected")
	rowEvents     = flag.Int("events", 0, "the number of events of runs with the same faults after which a row is left with fewer deviations; 0: no limit")
	rowTable      = flag.String("table", "", "a file for a table of the rows, or of TestComparedLocks")
)

// Law: where every run of a row was made in its smallest world, its properties are violated as they
// are expected to be, and others hold.
func TestRowsAreAsExpected(t *testing.T) {
	table := tableWriter(t)
	_, _ = fmt.Fprint(table, "| row | nodes | clients | faults | verdict | deviations | violated, and the shortest run (events, faults) | runs | states | seconds |\n|---|---|---|---|---|---|---|---|---|---|\n")
	rows, finished := scenarios.All(), 0
	for _, s := range rows {
		if exploreRow(t, s, table) {
			finished++
		}
	}
	t.Logf("%d of %d rows were finished", finished, len(rows))
	if finished < len(rows)/2 {
		t.Error("those are too few to tell anything")
	}
}

// tableWriter returns where a table goes.
func tableWriter(t *testing.T) io.Writer {
	t.Helper()
	if *rowTable == "" {
		return io.Discard
	}
	f, err := os.Create(*rowTable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// Law: in the trial without faults, only the lock that looks and sets in two steps violates anything.
// The table has the violations of all locks in all trials.
func TestComparedLocks(t *testing.T) {
	table := tableWriter(t)
	trials := slices.DeleteFunc(slices.Clone(scenarios.Trials()), func(trial scenarios.Trial) bool {
		return trial.Enter(scenarios.Contenders()[0]).Generate != nil // its faults are drawn
	})
	_, _ = fmt.Fprint(table, "| lock |")
	for _, trial := range trials {
		_, _ = fmt.Fprintf(table, " %s |", trial.Name)
	}
	_, _ = fmt.Fprintf(table, "\n|---|%s\n", strings.Repeat("---|", len(trials)))
	for _, c := range scenarios.Contenders() {
		_, _ = fmt.Fprintf(table, "| %s |", c.Name)
		for i, trial := range trials {
			_, o := exploreSmallest(t, trial.Enter(c))
			if i == 0 && (o.Verdict() == Violated) != (c.Name == "check-then-set") {
				t.Errorf("%s in the trial %s: %s", c.Name, trial.Name, o.Verdict())
			}
			_, _ = fmt.Fprintf(table, " %s |", cell(o))
		}
		_, _ = fmt.Fprintln(table)
	}
}

// Law: a pause of a TTL breaks section exclusion of every lock but those with a lock delay, those of a connection
// that the pause does not end, and those whose candidates count the TTL from when they have looked at the
// record; and an eviction breaks a lock that is a single key. The table has what a single fault of each
// kind violates, of each lock.
func TestOneFault(t *testing.T) {
	table := tableWriter(t)
	kinds := []nemesis.Kind{"evict", "pause"}
	if *rowTable != "" {
		kinds = nemesis.FewKinds()
	}
	_, _ = fmt.Fprint(table, "| lock |")
	for _, k := range kinds {
		_, _ = fmt.Fprintf(table, " %s |", k)
	}
	_, _ = fmt.Fprintf(table, "\n|---|%s\n", strings.Repeat("---|", len(kinds)))
	for _, c := range scenarios.Contenders() {
		_, _ = fmt.Fprintf(table, "| %s |", c.Name)
		small := smallest(t, scenarios.Trials()[0].Enter(c))
		for _, k := range kinds {
			b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Deviations: *rowDeviations, Kinds: []nemesis.Kind{k}, Added: 1}
			o, err := Explore(t.Context(), small, b, Limits{Workers: runtime.GOMAXPROCS(0)}, checker.Properties(), nil)
			if err != nil {
				t.Fatal(err)
			}
			broken := o.Violations()
			survives := slices.Contains([]string{"chubby-lock-delay", "advisory", "advisory-checked", "kubernetes-lease", "kubernetes-lease-fenced"}, c.Name)
			if k == "pause" && strings.Contains(broken, "V2") == survives {
				t.Errorf("%s with a %s: %q", c.Name, k, broken)
			}
			if c.Name == "single-node" && k != "pause" && strings.Contains(broken, "V1") != slices.Contains([]nemesis.Kind{"evict", "clock-jump", "suspend"}, k) {
				t.Errorf("%s with a %s: %q", c.Name, k, broken)
			}
			_, _ = fmt.Fprintf(table, " %s |", cell(o))
		}
		_, _ = fmt.Fprintln(table)
	}
}

// cell lists the violated properties, or says how many deviations every run had that shows none.
func cell(o Outcome) string {
	var codes []string
	for _, j := range o.Judged {
		if j.Find != nil {
			codes = append(codes, j.Property.Code())
		}
	}
	if len(codes) > 0 {
		return strings.Join(codes, " ")
	}
	return fmt.Sprintf("✓ %d", o.Deviations)
}

// exploreSmallest explores the smallest world of a scenario, and returns both.
func exploreSmallest(t *testing.T, s scenarios.Scenario) (small scenarios.Scenario, o Outcome) {
	t.Helper()
	small = smallest(t, s)
	b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Deviations: *rowDeviations, Faults: len(s.Plan)}
	o, err := Explore(t.Context(), small, b, Limits{Events: *rowEvents, Workers: runtime.GOMAXPROCS(0)}, checker.Properties(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return small, o
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

// exploreRow explores a row, writes its line, and reports whether every run with up to one deviation was made, if
// that many are allowed.
func exploreRow(t *testing.T, s scenarios.Scenario, table io.Writer) bool {
	t.Helper()
	began := time.Now()
	small, o := exploreSmallest(t, s)
	if o.Complete {
		wantAsExpected(t, s, o)
	}
	_, _ = fmt.Fprintf(table, "| %s | %d | %d | %d | %s | %d | %s | %d | %d | %.1f |\n", s.Name, small.Nodes, len(small.Clients), len(small.Plan),
		o.Within(), o.Deviations, o.Violations(), o.Executions+o.Cut, o.States, time.Since(began).Seconds())
	return o.Deviations >= min(1, *rowDeviations)
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
