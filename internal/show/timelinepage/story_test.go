package timelinepage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
)

// Each line of a story is a step with the time that it names, and the lane of what it is about.
func TestStepsOfAStory(t *testing.T) {
	m := checkModel(t, run(t, find(t, "crash-restart"), 1, nil))
	lane := func(s timelinepage.Step) string {
		if s.Lane < 0 {
			return ""
		}
		return m.Lanes[s.Lane].Name
	}
	type place struct{ begin, kind, lane string }
	if s := m.Finds[0].Story[3]; lane(s) != "client 1" {
		t.Errorf("%q is on the lane of %s", s.Text, lane(s))
	}
	var got []place
	for _, s := range m.Finds[1].Story {
		if !s.Placed {
			t.Errorf("%q has no place", s.Text)
		}
		if s.From > 0 && !strings.Contains(s.Text, s.From.String()[:4]) && !strings.Contains(s.Text, s.To.String()[:4]) {
			t.Errorf("%q is placed at %v", s.Text, s.From)
		}
		words := strings.Fields(s.Text)
		got = append(got, place{words[0] + " " + words[1], string(s.Kind), lane(s)})
	}
	want := []place{
		{"nodes 4", "fault", ""}, {"client 1", "event", "client 1"}, {"node 3", "fault", ""}, {"client 2", "event", "client 2"},
		{"client 1", "event", "client 1"},
		{"Broken assumption:", "cause", "node 3"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the steps are %v, want %v", got, want)
	}
}

// A step leads to its place on the timeline, also one that is no grant.
func TestBrowserStepsLeadToTheirPlaces(t *testing.T) {
	m := violating(t)
	file := written(t, m)
	check := func(how string, p *browsertest.Page, s timelinepage.Step) {
		t.Helper()
		p.Until(`lockstorm.timelines[0].here()`)
		got := browsertest.Eval[struct {
			From, To float64
			Lane     *string
		}](p, `lockstorm.timelines[0].here()`)
		want := "faults"
		if s.Lane >= 0 {
			want = m.Lanes[s.Lane].Name
		}
		if got.From != float64(s.From) || got.To != float64(s.To) || got.Lane == nil || s.Kind != timelinepage.FaultStep && *got.Lane != want {
			t.Errorf("%s of %q: at %+v", how, s.Text, got)
		}
		p.Settle()
		wantVisible(t, p, s.Text, s.From, s.To)
	}
	p := browsertest.Open(t, file, browsertest.Desktop)
	for n, s := range m.Finds[1].Story {
		show(p, 8e8, 9e8)
		click(p, fmt.Sprintf("#find-V1-%d a[href='#find-V1-%[1]d']", n+1))
		check("a click", p, s)
	}
	check("the address", browsertest.Open(t, file+"#find-V1-3", browsertest.Desktop), m.Finds[1].Story[2])
}
