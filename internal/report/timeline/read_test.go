package timeline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
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

// shown prints a lane in ms: spans, marks and samples.
func shown(m timeline.Model, group timeline.Group, name string) string {
	in := func(t history.Time) string { return fmt.Sprint(float64(t) / 1e6) }
	grant := func(i int) string {
		if i < 0 {
			return ""
		}
		return " " + m.Grants[i].Token
	}
	var all []string
	l := lane(m, group, name)
	for _, s := range l.Spans {
		line := strings.TrimSuffix(fmt.Sprintf("%s-%s %s%s: %s", in(s.From), in(s.To), s.State, grant(s.Grant), s.Text), ": ")
		if s.Open {
			line += " …"
		}
		all = append(all, line)
	}
	for _, k := range l.Marks {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s %s%s: %s", in(k.At), k.Kind, grant(k.Grant), k.Text), ": "))
	}
	for _, s := range l.Samples {
		line := fmt.Sprintf("%s %v", in(s.At), s.Value)
		if s.Bad {
			line += " !"
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func want(t *testing.T, m timeline.Model, group timeline.Group, name, want string) {
	t.Helper()
	if got := shown(m, group, name); got != strings.TrimSpace(want) {
		t.Errorf("%s, %s: shown\n%s\nwant\n%s", group, name, got, strings.TrimSpace(want))
	}
}

// A client waits from its first try on, through refused ones. It holds until its validity ends,
// is overdue after that, and releases.
func TestWaitingHoldingOverdue(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10
		0 acquire c1 A
		1 granted c1 A until=9 left=8
		2 acquire c2 B
		3 refused c2 B reason=1_of_3_votes
		5 acquire c2 C
		6 refused c2 C
		9 lapse c1 A until=9
		11 acquire c2 D
		12 granted c2 D until=20 left=8
		14 release c1 A
		15 released c1 A outcome=declined
		16 release c2 D
		16 released c2 D
		17 end`))
	want(t, m, timeline.Clients, "client 1", `
0-1 waiting A: 1 try, granted
1-9 holding A: until validity ends
9-14 overdue A: until release
12-14 clash A: V2
14-15 releases A: declined
9 lapse A`)
	want(t, m, timeline.Clients, "client 2", `
2-12 waiting D: 3 tries, granted
12-16 holding D: until release
12-14 clash D: V2
16-16 releases D: ok`)
	want(t, m, timeline.Clients, "client 3", "")
	want(t, m, timeline.Service, "time to acquire", "1 1e+06\n3 1e+06 !\n6 1e+06 !\n12 1e+06")
	want(t, m, timeline.Service, "tries a grant", "1 1\n12 3")
	want(t, m, timeline.Service, "availability", "0-1 outage\n11-12 outage")
	if a, d := m.Grants[0], m.Grants[1]; a.How != "validity ends at 9ms, release at 14ms" || d.How != "release at 16ms" || a.To != ms(14) || d.To != ms(16) {
		t.Errorf("grants %+v", m.Grants)
	}
}

// Without lapses, and with a header that names no clock, a hold ends at its until.
func TestHoldWithoutALapseEndsAtItsUntil(t *testing.T) {
	m := checkModel(t, parse(t, `header clock=
		0 acquire c1 A
		2 granted c1 A until=8 left=6
		8 acquire c2 B
		9 granted c2 B until=15 left=6
		12 release c2 B
		13 end`))
	want(t, m, timeline.Clients, "client 1", `
0-2 waiting A: 1 try, granted
2-8 holding A: until validity ends
8-13 overdue A: until the history ends
9-12 clash A: V2`)
}

// An extension that is granted after the lapse continues the hold; in between it is overdue.
func TestExtensionsAndLosses(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10
		0 acquire c1 A
		1 granted c1 A until=9 left=8
		4 extend c1 A until=14
		5 extended c1 A until=14 left=9
		14 lapse c1 A until=14
		15 extend c1 A until=25
		16 extended c1 A until=25 left=9
		18 extend c1 A until=28
		19 extend-failed c1 A until=28 reason=no_quorum
		20 expiring c1 A
		22 lost c1 A reason=gone
		30 end`))
	want(t, m, timeline.Clients, "client 1", `
0-1 waiting A: 1 try, granted
1-14 holding A: until validity ends
4-5 extends A: extended
14-16 overdue A: until warned
15-16 extends A: extended
16-22 holding A: until told of the loss
18-19 extends A: no quorum
14 lapse A
20 expiring A
22 lost A: gone`)
	if how := m.Grants[0].How; how != "warned at 20ms, told of the loss at 22ms" {
		t.Errorf("how: %s", how)
	}
}

// Faults of clients: paused, cut off, cancelled, dead; and intervals that are open at the end.
func TestFaultsOfClients(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10
		0 link-down c1 n3
		0 link-down c1 n2
		1 acquire c1 A
		2 granted c1 A until=11 left=8
		3 pause c1
		5 resume c1
		6 link-up c1 n3
		7 cancel c1
		8 kill c1
		9 acquire c2 B
		10 pause c2
		12 lapse c1 A until=11
		13 end`))
	want(t, m, timeline.Clients, "client 1", `
0-6 cut: from nodes 2 and 3
1-2 waiting A: 1 try, granted
2-12 holding A: until validity ends
3-5 paused
6-13 cut: from node 2 …
8-13 dead …
7 cancel
8 kill
12 lapse A`)
	want(t, m, timeline.Clients, "client 2", `
9-13 waiting: 1 try …
10-13 paused …`)
	if how := m.Grants[0].How; how != "death at 8ms, validity ends at 12ms" {
		t.Errorf("how: %s", how)
	}
}

// Nodes: whose key they keep for how long and why not longer, and when they are down.
func TestNodesKeepKeys(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=2 ttl=10 keys=1
		0 acquire c1 A
		1 key-set c1 n1 A
		1 key-set c1 n2 A
		2 granted c1 A until=20 left=8
		3 acquire c2 B
		3 key-extended c1 n1 A
		4 node-down n1 fault=1
		4 key-gone n1 A reason=forgotten fault=1
		5 node-up n1 detail=without_its_keys fault=1
		6 key-set c2 n1 B
		7 refused c2 B
		8 release c1 A
		9 key-gone c1 n2 A reason=deleted
		9 released c1 A
		12 end`))
	want(t, m, timeline.Nodes, "node 1", `
1-4 key A: key of client 1 (A): forgotten
4-5 down: back without its keys
6-12 key: key of client 2 (B) …
3 key-extended A: extended by client 1
4 node-down: down
5 node-up: back without its keys`)
	want(t, m, timeline.Nodes, "node 2", "1-9 key A: key of client 1 (A): deleted")
}

// Without recorded keys, nodes show their replies.
func TestNodesWithoutKeys(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10
		0 acquire c1 A
		1 step c1 n1 A name=reply outcome=ok
		2 step c1 n2 A name=reply outcome=declined
		3 step c1 n3 A name=reply outcome=unknown
		3 step c1 A name=quorum
		4 granted c1 A until=20 left=8
		5 end`))
	want(t, m, timeline.Nodes, "node 1", "1 reply A: agrees, says client 1")
	want(t, m, timeline.Nodes, "node 2", "2 reply A: declines, says client 1")
	want(t, m, timeline.Nodes, "node 3", "3 reply A: does not answer, says client 1")
}

// A store: its leader, times without one, and lost entries.
func TestStores(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 keepers=-1 ttl=10
		0 leader n1
		0 acquire c1 A
		1 granted c1 A until=20 left=8
		2 leader
		5 leader n2 detail=without_1_entry
		6 entry-gone n2 A reason=session_over
		7 leader
		9 end`))
	want(t, m, timeline.Store, "store", `
2-5 down: no leader
7-9 down: no leader …
0 leader: node 1 leads
2 leader: no leader
5 leader: node 2 leads without 1 entry
6 entry-gone A: entry gone: session over
7 leader: no leader`)
}

// The guarded resource: what it applies, and what it refuses.
func TestGuardedResource(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10
		0 acquire c1 A
		1 granted c1 A until=20 left=8 fence=7
		2 read c1 A fence=7
		3 read-done c1 A value=4 fence=7
		4 write c1 A value=5 fence=7
		5 apply c1 A value=5 fence=7
		6 write-done c1 A value=5 fence=7
		7 write c1 A value=6 fence=6
		8 write-done c1 A value=6 fence=6 outcome=declined reason=stale
		9 release c1 A
		9 released c1 A
		9 end`))
	want(t, m, timeline.Guarded, "guarded resource", `
5 apply A: applies 5 of client 1, fence 7
8 write-done A: refuses a write of client 1, fence 6`)
	if got := spans(lane(m, timeline.Clients, "client 1"), timeline.Access); len(got) != 3 || got[0].Text != "read: 4" || got[1].Text != "write of 5: ok" || got[2].Text != "write of 6: stale" {
		t.Errorf("accesses %+v", got)
	}
	if m.Grants[0].Fence != 7 {
		t.Errorf("grant %+v", m.Grants[0])
	}
}

// A fence may be too large for JavaScript's numbers: pages get its digits.
func TestFencesKeepTheirDigits(t *testing.T) {
	text, err := json.Marshal(timeline.Grant{Fence: 1<<53 + 1})
	if err != nil || !strings.Contains(string(text), `"n":"9007199254740993"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// The plan says whom a fault affects or, without a plan, its events.
func TestShades(t *testing.T) {
	const notation = `header nodes=3 ttl=10
		0 fault-start fault=1 detail=node_2_crashes
		0 node-down n2 fault=1
		2 fault-start fault=2 detail=node_3_evicts_its_keys
		3 node-up n2 fault=1
		3 fault-end fault=1
		4 fault-start fault=3 detail=slow
		9 end`
	of := func(h storedRun) string {
		var all []string
		m := checkModel(t, h)
		for _, s := range m.Shades {
			line := fmt.Sprintf("%d %s %d-%d", s.Number, s.Name, s.From/1e6, s.To/1e6)
			for _, l := range s.Lanes {
				line += ", " + m.Lanes[l].Name
			}
			all = append(all, line)
		}
		return strings.Join(all, "\n")
	}
	h := parse(t, notation)
	if got := of(h); got != "1 node 2 crashes 0-3, node 2\n2 node 3 evicts its keys 2-9\n3 slow 4-9" {
		t.Errorf("without a plan:\n%s", got)
	}
	h.Scenario = &scenarios.Scenario{Setting: nemesis.Setting{Nodes: 3, Plan: nemesis.Plan{
		{Action: &nemesis.Crash{Node: 2}}, {Action: &nemesis.Evict{Node: 3}}, {Action: &nemesis.Latency{Links: nemesis.Links{Clients: []int{1}}}},
	}}}
	if got := of(h); got != "1 node 2 crashes 0-3, node 2\n2 node 3 evicts its keys 2-2, node 3\n3 slow 4-9, client 1" {
		t.Errorf("with its plan:\n%s", got)
	}
}

// A token that is used again refers to the grant of its time.
func TestTokensUsedAgain(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=1 ttl=10 keys=1
		0 acquire c1 A
		0 key-set c1 n1 A
		1 granted c1 A until=20 left=8
		2 release c1 A
		2 key-gone c1 n1 A reason=deleted
		3 released c1 A
		4 acquire c1 A
		5 key-set c1 n1 A
		6 granted c1 A until=20 left=8
		7 end`))
	var of []int
	for _, s := range lane(m, timeline.Nodes, "node 1").Spans {
		of = append(of, s.Grant)
	}
	if !slices.Equal(of, []int{0, 1}) {
		t.Errorf("keys of the grants %v", of)
	}
}

// Several resources are distinguished.
func TestSeveralResources(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=1 ttl=10
		0 acquire c1 A r=x
		1 granted c1 A r=x until=20 left=8
		2 acquire c1 B r=y
		3 granted c1 B r=y until=20 left=8
		4 release c1 A r=x
		5 released c1 A r=x
		6 end`))
	want(t, m, timeline.Clients, "client 1", `
0-1 waiting A: "x", 1 try, granted
1-4 holding A: "x", until release
2-3 waiting B: "y", 1 try, granted
3-6 holding B: "y", until the history ends …
4-5 releases A: ok`)
	want(t, m, timeline.Service, "availability", "0-1 outage: \"x\"\n2-3 outage: \"y\"")
}

// A finding without a pair refers to the grants of its story, and is marked at its client.
func TestFindingsReferToGrants(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10 release=3
		0 acquire c1 A
		1 granted c1 A until=20 left=8
		2 release c1 A
		9 released c1 A
		10 acquire c2 B
		11 granted c2 B until=20 left=8
		12 release c2 B
		12 released c2 B
		13 end`))
	if len(m.Finds) != 1 || m.Finds[0].Property != "C contract" || !slices.Equal(m.Finds[0].Grants, []int{0}) {
		t.Fatalf("finds %+v", m.Finds)
	}
	marks := lane(m, timeline.Clients, "client 1").Marks
	if len(marks) != 1 || !marks[0].Bad || marks[0].Kind != "found" || marks[0].At != ms(2) {
		t.Errorf("marks %+v", marks)
	}
}

// Of several grants with one token, a finding refers to its client's closest one.
func TestFindingsReferToTheClosestGrant(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10 release=3
		0 acquire c2 A
		1 granted c2 A until=20 left=8
		1 release c2 A
		1 released c2 A
		2 acquire c1 A
		3 granted c1 A until=20 left=8
		4 release c1 A
		4 released c1 A
		5 acquire c1 A
		6 granted c1 A until=20 left=8
		7 release c1 A
		14 released c1 A
		15 acquire c1 A
		16 granted c1 A until=30 left=8
		17 release c1 A
		17 released c1 A
		18 end`))
	if len(m.Finds) != 1 || !slices.Equal(m.Finds[0].Grants, []int{2}) {
		t.Errorf("finds %+v of %+v", m.Finds, m.Grants)
	}
}

// A call that never returns was granted when its holder first acted.
func TestImpliedGrant(t *testing.T) {
	m := checkModel(t, parse(t, `header nodes=3 ttl=10
		0 acquire c1 A
		2 extend c1 A until=12
		3 extended c1 A until=12 left=8
		12 lapse c1 A until=12
		13 extend c1 A until=23
		14 extended c1 A until=23 left=8
		15 end`))
	if len(m.Grants) != 1 || m.Grants[0].Granted != ms(2) {
		t.Errorf("grants %+v", m.Grants)
	}
	if got := pieces(m, timeline.Holding); !slices.Equal(got, []piece{{1, "A", ms(2), ms(12)}, {1, "A", ms(14), ms(15)}}) {
		t.Errorf("held %+v", got)
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
