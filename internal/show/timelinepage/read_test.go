package timelinepage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
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

// shown prints a model: its text, its grants, and the lanes that faults affect.
func shown(t *testing.T, m timelinepage.Model) string {
	t.Helper()
	all := text(t, m)
	for _, g := range m.Grants {
		all += fmt.Sprintf("%+v\n", g)
	}
	for _, s := range m.Shades {
		all += fmt.Sprintf("fault %d, %v-%v: %s", s.Number, s.From, s.To, s.Name)
		for _, l := range s.Lanes {
			all += ", " + m.Lanes[l].Name
		}
		all += "\n"
	}
	return all
}

// What the model shows of short histories.
func TestGoldenModels(t *testing.T) {
	const file = "testdata/histories.txt"
	text := testkit.Read(t, file)
	var all strings.Builder
	for _, part := range strings.Split("\n"+text, "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		notation, _, _ := strings.Cut(rest, "--\n")
		fmt.Fprintf(&all, "== %s\n%s--\n%s\n", name, notation, shown(t, checkModel(t, parse(t, notation))))
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
		_, faults, _ := strings.Cut(shown(t, checkModel(t, h)), "\nfault ")
		return faults
	}
	if got := of(); got != "1, 0s-3ms: node 2 crashes, node 2\nfault 2, 2ms-9ms: node 3 evicts its keys\nfault 3, 4ms-9ms: slow\n" {
		t.Errorf("without a plan:\n%s", got)
	}
	h.Scenario = &scenarios.Scenario{Setting: nemesis.Setting{Nodes: 3, Plan: nemesis.Plan{
		{Action: &nemesis.Crash{Node: 2}}, {Action: &nemesis.Evict{Node: 3}}, {Action: &nemesis.Latency{Links: nemesis.Links{Clients: []int{1}}}},
	}}}
	if got := of(); got != "1, 0s-3ms: node 2 crashes, node 2\nfault 2, 2ms-2ms: node 3 evicts its keys, node 3\nfault 3, 4ms-9ms: slow, client 1\n" {
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
	if _, err := timelinepage.Read(newStoredRun("nonsense", checker.Report{}, nil).Run); err == nil {
		t.Error("nonsense is read as a history")
	}
}
