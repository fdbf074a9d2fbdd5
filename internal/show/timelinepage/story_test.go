package timelinepage_test

import (
	"slices"
	"strings"
	"testing"

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
