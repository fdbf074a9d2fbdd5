package explore

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

var (
	rowDeviations = flag.Int("deviations", 0, "deviations of a run in TestRowsAreAsExpected")
	rowBudget     = flag.Duration("budget", 0, "the time after which a row is left unfinished; 0: none")
	rowTable      = flag.String("table", "", "a file for a table of the rows")
)

// Law: where every run of a row of the debate was made, its properties are violated as they are
// expected to be, and others hold.
func TestRowsAreAsExpected(t *testing.T) {
	table := io.Discard
	if *rowTable != "" {
		f, err := os.Create(*rowTable)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		table = f
	}
	_, _ = fmt.Fprint(table, "| row | verdict | violated, and the shortest run (events, faults) | runs to the end | runs cut | states | seconds |\n|---|---|---|---|---|---|---|\n")
	finished := 0
	for _, s := range scenarios.All() {
		ctx, stop := context.Context(t.Context()), func() {}
		if *rowBudget > 0 {
			ctx, stop = context.WithTimeout(ctx, *rowBudget)
		}
		began := time.Now()
		b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Deviations: *rowDeviations, Faults: len(s.Plan)}
		o, err := Explore(ctx, s, b, Limits{Workers: runtime.GOMAXPROCS(0)}, checker.Properties(), nil)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if o.Complete {
			finished++
			wantAsExpected(t, s, o)
		}
		_, _ = fmt.Fprintf(table, "| %s | %s | %s | %d | %d | %d | %.1f |\n", s.Name, o.Verdict(), violations(o), o.Executions, o.Cut, o.States, time.Since(began).Seconds())
	}
	t.Logf("%d rows were finished", finished)
	if finished < len(scenarios.All())/2 {
		t.Error("those are too few to tell anything")
	}
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

// violations lists the violated properties, each with its shortest run.
func violations(o Outcome) string {
	var all []string
	for _, j := range o.Judged {
		if j.Find != nil {
			all = append(all, fmt.Sprintf("%s (%d, %d)", j.Property.Code(), j.Find.Events, j.Find.Faults))
		}
	}
	return strings.Join(all, " ")
}
