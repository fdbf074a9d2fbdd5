package timelinepage_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	past "github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var background = context.Background()

// checkModel checks what holds for the model of any run that is shown whole.
func checkModel(t tester, h storedRun) timelinepage.Model {
	t.Helper()
	m := read(t, h)
	again, err := json.Marshal(read(t, h))
	var back timelinepage.Model
	if err = errors.Join(err, json.Unmarshal(again, &back)); err != nil || !reflect.DeepEqual(m, back) {
		t.Errorf("another reading, as a page has it, differs: %v", err)
	}
	if m.Omitted != "" {
		t.Errorf("a part of a short history is omitted: %s", m.Omitted)
	}
	checkOrder(t, m)
	checkWindows(t, h, m)
	checkFindings(t, h.Report, m)
	checkService(t, h.Report.Measurements, m)
	return m
}

// checkOrder checks that everything lies within the history, in the order of time, and refers
// to existing grants.
func checkOrder(t tester, m timelinepage.Model) {
	t.Helper()
	inside := func(what string, from, to history.Time, grant int) {
		if from < 0 || from > to || to > m.End {
			t.Errorf("%s lasts from %v to %v, and the history to %v", what, from, to, m.End)
		}
		if grant < -1 || grant >= len(m.Grants) {
			t.Errorf("%s is of the grant %d, of %d", what, grant, len(m.Grants))
		}
	}
	for i, l := range m.Lanes {
		if i > 0 && slices.Index(groups, l.Group) < slices.Index(groups, m.Lanes[i-1].Group) {
			t.Errorf("the lane %s of %s comes after one of %s", l.Name, l.Group, m.Lanes[i-1].Group)
		}
		for _, s := range l.Spans {
			inside(fmt.Sprintf("%s: %s", l.Name, s.State), s.From, s.To, s.Grant)
			if !slices.Contains(timelinepage.States(), s.State) {
				t.Errorf("%s: a state %q", l.Name, s.State)
			}
		}
		for _, k := range l.Marks {
			inside(l.Name+": "+k.Kind, k.At, k.At, k.Grant)
		}
		if !slices.IsSortedFunc(l.Spans, func(a, b timelinepage.Span) int { return cmp.Compare(a.From, b.From) }) ||
			!slices.IsSortedFunc(l.Marks, func(a, b timelinepage.Mark) int { return cmp.Compare(a.At, b.At) }) ||
			!slices.IsSortedFunc(l.Samples, func(a, b timelinepage.Sample) int { return cmp.Compare(a.At, b.At) }) {
			t.Errorf("%s is not in the order of time", l.Name)
		}
	}
	for _, s := range m.Shades {
		inside(s.Name, s.From, s.To, -1)
		for _, l := range s.Lanes {
			if l < 0 || l >= len(m.Lanes) {
				t.Errorf("%s is about lane %d of %d", s.Name, l, len(m.Lanes))
			}
		}
	}
}

var groups = []timelinepage.Group{timelinepage.Clients, timelinepage.Guarded, timelinepage.Nodes, timelinepage.Store, timelinepage.Clocks, timelinepage.Service}

// piece is a comparable span.
type piece struct {
	client   int
	token    string
	from, to history.Time
}

func (p piece) compare(q piece) int {
	return cmp.Or(cmp.Compare(p.client, q.client), cmp.Compare(p.from, q.from), cmp.Compare(p.to, q.to), strings.Compare(p.token, q.token))
}

func pieces(m timelinepage.Model, state timelinepage.State) (all []piece) {
	for _, l := range m.Lanes {
		for _, s := range l.Spans {
			if s.State != state {
				continue
			}
			if s.Grant < 0 {
				all = append(all, piece{})
				continue
			}
			g := m.Grants[s.Grant]
			all = append(all, piece{g.Client, g.Token, s.From, s.To})
		}
	}
	slices.SortFunc(all, piece.compare)
	return all
}

// checkWindows checks that holding spans are the checker's lease windows, and overdue spans the
// rest of its section windows.
func checkWindows(t tester, h storedRun, m timelinepage.Model) {
	t.Helper()
	header, events := h.events(t)
	var leases, sections []piece
	panel := past.New(header)
	note := func(of *[]piece) func(past.Window) {
		return func(w past.Window) {
			if w.To > w.From {
				*of = append(*of, piece{w.Grant.Client, w.Grant.Token, w.From, w.To})
			}
		}
	}
	panel.Windows(past.LeaseWindow, note(&leases))
	panel.Windows(past.SectionWindow, note(&sections))
	for i := range events {
		panel.Record(&events[i])
	}
	panel.Close()
	slices.SortFunc(leases, piece.compare)
	if got := pieces(m, timelinepage.Holding); !slices.Equal(got, leases) {
		t.Errorf("held %v, and the checker's windows are %v", got, leases)
	}
	left := map[int]time.Duration{} // by client
	for _, s := range sections {
		left[s.client] += s.to.Sub(s.from)
		for _, l := range leases {
			if l.client == s.client && l.token == s.token {
				left[s.client] -= max(0, min(l.to, s.to).Sub(max(l.from, s.from)))
			}
		}
	}
	for _, o := range pieces(m, timelinepage.Overdue) {
		left[o.client] -= o.to.Sub(o.from)
	}
	for client, d := range left {
		if d != 0 {
			t.Errorf("client %d: sections last %v longer than what is shown of them", client, d)
		}
	}
}

// checkFindings checks that violated and undecided properties are shown, with their grants, and
// overlaps exactly where the report has them.
func checkFindings(t tester, r checker.Report, m timelinepage.Model) {
	t.Helper()
	type clash struct {
		client   int
		from, to history.Time
	}
	want, n, before := map[clash]bool{}, 0, checker.Finding{}
	for _, f := range r.Findings {
		if f.Verdict != checker.Violated && f.Verdict != checker.Unknown {
			continue
		}
		if !checker.SameOverlap(before, f) {
			n, before = n+1, f
		}
		if n > len(m.Finds) {
			break
		}
		found := m.Finds[n-1]
		if f.Property != before.Property { // the same overlap again
			is := timelinepage.Also{Property: f.Property.Code() + " " + f.Property.Title(), Count: f.Count}
			if !slices.Contains(found.Also, is) || *f.Where != *before.Where {
				t.Errorf("%+v is missing in %+v", f, found)
			}
			f.Events, f.Causes = before.Events, before.Causes
		}
		if !slices.Equal(texts(found.Story), f.Lines()) || found.Verdict != f.Verdict || f.Where != nil && (found.From != f.Where.From || found.To != f.Where.To) {
			t.Errorf("found %+v, and the report has %+v", found, f)
		}
		for _, s := range found.Story {
			if s.From < 0 || s.From > s.To || s.To > m.End || s.Lane >= len(m.Lanes) {
				t.Errorf("%s: the step %+v of a run that ends at %v", found.Property, s, m.End)
			}
		}
		for _, g := range found.Grants {
			if g < 0 || g >= len(m.Grants) {
				t.Fatalf("%s names the grant %d of %d", found.Property, g, len(m.Grants))
			}
		}
		for _, g := range m.Grants {
			if strings.Contains(f.Story(), "(token "+textfmt.Token(g.Token)+")") && !slices.ContainsFunc(found.Grants, func(i int) bool { return textfmt.Token(m.Grants[i].Token) == textfmt.Token(g.Token) }) {
				t.Errorf("%s: %s; it names the grants %v, and not %+v", found.Property, f.Story(), found.Grants, g)
			}
		}
		if p := f.First; p != nil {
			if len(found.Grants) < 2 || !is(m.Grants[found.Grants[0]], p.First) || !is(m.Grants[found.Grants[1]], p.Second) {
				t.Errorf("%s: grants %v of %+v, and the report has %+v", found.Property, found.Grants, m.Grants, p)
			}
			want[clash{p.First.Client, p.From, p.To}], want[clash{p.Second.Client, p.From, p.To}] = true, true
		}
	}
	if n != len(m.Finds) {
		t.Errorf("%d finds, and the report has %d", len(m.Finds), n)
	}
	got := map[clash]bool{}
	for _, l := range m.Lanes {
		for _, s := range spans(l, timelinepage.Clash) {
			got[clash{m.Grants[s.Grant].Client, s.From, s.To}] = true
			if want := fmt.Sprintf("client %d", m.Grants[s.Grant].Client); l.Name != want {
				t.Errorf("an overlap of %s lies in the lane of %s", want, l.Name)
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("two hold at once %v, and the report says %v", got, want)
	}
}

func texts(story []timelinepage.Step) (all []string) {
	for _, s := range story {
		all = append(all, s.Text)
	}
	return all
}

func is(g timelinepage.Grant, of checker.Grant) bool {
	return g.Client == of.Client && g.Token == of.Token && g.Resource == of.Resource && g.Call == of.Call
}

// checkService checks that tries, grants and outages are the measured ones.
func checkService(t tester, measured checker.Measurements, m timelinepage.Model) {
	t.Helper()
	var outage time.Duration
	for _, s := range lane(m, timelinepage.Service, "availability").Spans {
		outage += s.To.Sub(s.From)
	}
	if outage != measured.TotalOutage {
		t.Errorf("outages last %v, and %v is measured", outage, measured.TotalOutage)
	}
	if n := len(lane(m, timelinepage.Service, "tries a grant").Samples); n != measured.Grants {
		t.Errorf("tries of %d grants, and there are %d", n, measured.Grants)
	}
	var longest time.Duration
	for _, s := range lane(m, timelinepage.Service, "time to acquire").Samples {
		if !s.Bad {
			longest = max(longest, time.Duration(s.Value))
		}
	}
	if longest != measured.AcquireMax {
		t.Errorf("the longest acquire takes %v, and %v is measured", longest, measured.AcquireMax)
	}
}

// The checks hold for every row of the debate, and some of the comparison. A reader can go from almost
// every step of a story to its place.
func TestModelsOfRows(t *testing.T) {
	all := scenarios.All()
	for _, name := range []string{
		"compare-calm-check-then-set", "compare-pause-waiting-etcd-unchecked", "compare-crash-zookeeper",
		"compare-death-halfway-setnx-then-expire", "compare-one-down-setnx-then-expire",
	} {
		all = append(all, find(t, name))
	}
	seen := map[timelinepage.State]bool{}
	steps, lost := 0, 0
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			m := checkModel(t, run(t, s, 1, nil))
			for _, l := range m.Lanes {
				for _, s := range l.Spans {
					seen[s.State] = true
				}
			}
			for _, f := range m.Finds {
				for _, step := range f.Story {
					if steps++; !step.Placed && step.Kind != timelinepage.CauseStep {
						lost++
					}
				}
			}
			_ = text(t, m)
		})
	}
	for _, s := range timelinepage.States() {
		if !seen[s] {
			t.Errorf("no row has anything %s: the test covers too little", s)
		}
	}
	if lost > steps/20 || steps == 0 {
		t.Errorf("%d of %d steps have no place", lost, steps)
	}
}

// The checks hold for any faults.
func TestModelsOfRandomFaults(t *testing.T) {
	rows := scenarios.All()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(rows).Draw(t, "row")
		s = runner.WithGenerator(s, nemesis.Generator{Most: rapid.IntRange(1, 8).Draw(t, "faults")})
		checkModel(t, run(t, s, rapid.Uint64Range(1, 1_000_000).Draw(t, "seed"), nil))
	})
}
