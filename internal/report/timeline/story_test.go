package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/browsertest"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Each line of a story is a step with the time that it names, and the lane of what it is about.
func TestStepsOfAStory(t *testing.T) {
	m := checkModel(t, run(t, find(t, "crash-restart"), 1, nil))
	lane := func(s timeline.Step) string {
		if s.Lane < 0 {
			return ""
		}
		return m.Lanes[s.Lane].Name
	}
	type place struct{ begin, kind, lane string }
	var got []place
	for _, s := range m.Finds[0].Story {
		if !s.Placed {
			t.Errorf("%q has no place", s.Text)
		}
		if s.From > 0 && !strings.Contains(s.Text, s.From.String()[:4]) {
			t.Errorf("%q is placed at %v", s.Text, s.From)
		}
		words := strings.Fields(s.Text)
		got = append(got, place{words[0] + " " + words[1], string(s.Kind), lane(s)})
	}
	want := []place{
		{"nodes 4", "fault", ""}, {"client 1", "event", "client 1"}, {"node 3", "fault", ""}, {"client 2", "event", "client 2"},
		{"Broken assumption:", "cause", "node 3"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the steps are %v, want %v", got, want)
	}
}

// A finding that was stored without its events is told in one step without a place.
func TestStoryWithoutEvents(t *testing.T) {
	got := timeline.Story(checker.Told(checker.Lease, checker.Violated, "client 1 was granted it at 3s."))
	if len(got) != 1 || got[0].Placed || got[0].Text != "client 1 was granted it at 3s." {
		t.Errorf("told in %+v", got)
	}
}

// A reader can go from almost every step of a story to its place.
func TestStepsHaveAPlace(t *testing.T) {
	var without []string
	all := 0
	for _, s := range scenarios.All() {
		for _, f := range read(t, run(t, s, 1, nil)).Finds {
			for _, step := range f.Story {
				if all++; !step.Placed && step.Kind != timeline.CauseStep {
					without = append(without, s.Name+": "+step.Text)
				}
			}
		}
	}
	if len(without) > all/20 || all == 0 {
		t.Errorf("%d of %d steps have no place: %q", len(without), all, without)
	}
}

// A step leads to its place on the timeline, also one that is no grant.
func TestBrowserStepsLeadToTheirPlaces(t *testing.T) {
	m := read(t, run(t, find(t, "crash-restart"), 1, nil))
	type here struct {
		From, To float64
		Lane     *string
	}
	file := written(t, m)
	p := browsertest.Open(t, file, browsertest.Desktop)
	check := func(how string, p *browsertest.Page, s timeline.Step) {
		t.Helper()
		p.Until(`lockstorm.timelines[0].here()`)
		got := browsertest.Eval[here](p, `lockstorm.timelines[0].here()`)
		want := "faults"
		if s.Lane >= 0 {
			want = m.Lanes[s.Lane].Name
		}
		if got.From != float64(s.From) || got.To != float64(s.To) || got.Lane == nil || s.Kind != timeline.FaultStep && *got.Lane != want {
			t.Errorf("%s of %q: at %+v", how, s.Text, got)
		}
		p.Settle()
		if from, to := visible(p); from > float64(s.From) || to < float64(s.To) {
			t.Errorf("%s of %q: %v to %v is visible", how, s.Text, from, to)
		}
	}
	for n, s := range m.Finds[0].Story {
		link := fmt.Sprintf("find-V1-%d", n+1)
		if browsertest.Eval[int](p, fmt.Sprintf(`document.querySelectorAll("#%s a[href='#%[1]s']").length`, link)) != 1 {
			t.Fatalf("no link leads to the step %q", s.Text)
		}
		browsertest.Eval[any](p, `lockstorm.timelines[0].show(8e8, 9e8)`)
		browsertest.Eval[any](p, fmt.Sprintf(`document.querySelector("#%s a").click()`, link))
		check("a click", p, s)
	}
	s := m.Finds[0].Story[2]
	check("the address", browsertest.Open(t, file+"#find-V1-3", browsertest.Desktop), s)
}

// The lanes and the story beside them leave no part of the page empty.
func TestBrowserLeavesNothingEmpty(t *testing.T) {
	p := open(t, read(t, run(t, find(t, "crash-restart"), 1, nil)), browsertest.Desktop)
	for _, s := range []browsertest.Screen{{Width: 1400, Height: 1000}, {Width: 1920, Height: 1080}} {
		p.Resize(s)
		free := browsertest.Eval[float64](p, `((box) => document.querySelector(".tl-finds").getBoundingClientRect().bottom - box.bottom)(document.querySelector(".tl-details").getBoundingClientRect())`)
		if free > 60 || free < -60 {
			t.Errorf("at %d pixels the findings end %v below what is left of them", s.Width, free)
		}
	}
	p.Resize(browsertest.Phone)
	if !browsertest.Eval[bool](p, `document.querySelector(".tl-finds").getBoundingClientRect().top >= document.querySelector(".tl-main").getBoundingClientRect().bottom`) {
		t.Error("on a phone the story does not follow the lanes")
	}
}
