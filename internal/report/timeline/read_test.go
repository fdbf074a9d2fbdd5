package timeline_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// parse reads a history in the notation of tests.
func parse(t *testing.T, notation string) storedRun {
	t.Helper()
	h, events, err := historytest.Parse(notation)
	if err != nil {
		t.Fatal(err)
	}
	return write(h, events...)
}

// shown prints a model in ms: grants, faults, and the spans, marks and samples of each lane.
func shown(m timeline.Model) string {
	in := func(t history.Time) string { return fmt.Sprint(float64(t) / 1e6) }
	var all strings.Builder
	line := func(text, of string, grants []int) {
		for _, g := range grants {
			if g >= 0 {
				text += fmt.Sprintf(" %s#%d", m.Grants[g].Token, g)
			}
		}
		fmt.Fprintln(&all, strings.TrimSuffix(text+": "+of, ": "))
	}
	for i, g := range m.Grants {
		line(fmt.Sprintf("granted %s, until %s,", in(g.Granted), in(g.To)), g.How, []int{i})
	}
	for _, s := range m.Shades {
		name := s.Name
		for _, l := range s.Lanes {
			name += ", " + m.Lanes[l].Name
		}
		line(fmt.Sprintf("fault %d, %s-%s", s.Number, in(s.From), in(s.To)), name, nil)
	}
	for _, f := range m.Finds {
		line(fmt.Sprintf("found %s-%s", in(f.From), in(f.To)), fmt.Sprint(f.Property, " ", f.Verdict), f.Grants)
	}
	for _, l := range m.Lanes {
		if len(l.Spans)+len(l.Marks)+len(l.Samples) == 0 {
			continue
		}
		fmt.Fprintf(&all, "%s, %s\n", l.Group, l.Name)
		for _, s := range l.Spans {
			open := ""
			if s.Open {
				open = "…"
			}
			line(fmt.Sprintf("  %s-%s%s %s", in(s.From), in(s.To), open, s.State), s.Text, []int{s.Grant})
		}
		for _, k := range l.Marks {
			line(fmt.Sprintf("  %s %s", in(k.At), k.Kind), k.Text, []int{k.Grant})
		}
		for _, s := range l.Samples {
			refused := ""
			if s.Bad {
				refused = " refused"
			}
			line(fmt.Sprintf("  %s %v%s", in(s.At), s.Value, refused), "", nil)
		}
	}
	return all.String()
}

// What the model shows of short histories.
func TestGoldenModels(t *testing.T) {
	const file = "testdata/histories.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		notation, _, _ := strings.Cut(rest, "--\n")
		fmt.Fprintf(&all, "== %s\n%s--\n%s\n", name, notation, shown(checkModel(t, parse(t, notation))))
	}
	testkit.GoldenFile(t, file, all.String(), "A timeline shows something else.")
}

// The plan says whom a fault affects; without one its events do.
func TestShadesOfAPlan(t *testing.T) {
	h := parse(t, `header nodes=3 ttl=10
		0 fault-start fault=1 detail=node_2_crashes
		0 node-down n2 fault=1
		2 fault-start fault=2 detail=node_3_evicts_its_keys
		3 node-up n2 fault=1
		3 fault-end fault=1
		4 fault-start fault=3 detail=slow
		9 end`)
	of := func() string {
		text, _, _ := strings.Cut(shown(checkModel(t, h)), "nodes, ")
		return text
	}
	if got := of(); got != "fault 1, 0-3: node 2 crashes, node 2\nfault 2, 2-9: node 3 evicts its keys\nfault 3, 4-9: slow\n" {
		t.Errorf("without a plan:\n%s", got)
	}
	h.Scenario = &scenarios.Scenario{Setting: nemesis.Setting{Nodes: 3, Plan: nemesis.Plan{
		{Action: &nemesis.Crash{Node: 2}}, {Action: &nemesis.Evict{Node: 3}}, {Action: &nemesis.Latency{Links: nemesis.Links{Clients: []int{1}}}},
	}}}
	if got := of(); got != "fault 1, 0-3: node 2 crashes, node 2\nfault 2, 2-2: node 3 evicts its keys, node 3\nfault 3, 4-9: slow, client 1\n" {
		t.Errorf("with its plan:\n%s", got)
	}
}

// The readable part of a broken history is shown, with open intervals.
func TestBrokenHistory(t *testing.T) {
	h := parse(t, "0 acquire c1 A\n1 granted c1 A until=20 left=8\n5 end")
	cut := h.text[:strings.LastIndex(h.text[:len(h.text)-1], "\n")+1]
	m := read(t, newStoredRun(cut+`{"t":3000000,"kind":"ex`, checker.Report{}, nil))
	if !strings.Contains(m.Omitted, "cannot be read further: line 4") || len(m.Grants) != 1 {
		t.Errorf("omitted %q, grants %+v", m.Omitted, m.Grants)
	}
	if _, err := timeline.Read(newStoredRun("nonsense", checker.Report{}, nil).Run); err == nil {
		t.Error("nonsense is read as a history")
	}
}
