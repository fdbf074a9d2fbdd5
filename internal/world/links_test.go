package world

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Two faults affect the links of client 1, one of them also those of client 2. A link is recorded
// as down before it is, and as up after.
func TestLinksAreDownFromTheFirstFaultToTheLast(t *testing.T) {
	var got []string
	l := NewLinks(2, 2, func(e history.Event) {
		got = append(got, fmt.Sprintf("%v %d-%d", e.Kind, e.Client, e.Node))
	})
	does := func(what string) func(client, node int) {
		return func(client, node int) { got = append(got, fmt.Sprintf("%s %d-%d", what, client, node)) }
	}
	l.Disturb(nemesis.Links{Clients: []int{1}, Nodes: []int{2}}, does("cut"))
	l.Disturb(nemesis.Links{Nodes: []int{2}}, does("slow"))
	l.Mend(nemesis.Links{Clients: []int{1}, Nodes: []int{2}}, does("join"))
	l.Mend(nemesis.Links{Nodes: []int{2}}, does("hurry"))
	want := []string{
		"link-down 1-2", "cut 1-2",
		"slow 1-2", "link-down 2-2", "slow 2-2",
		"join 1-2",
		"hurry 1-2", "link-up 1-2", "hurry 2-2", "link-up 2-2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRulesAddUpAndAreTakenAway(t *testing.T) {
	slower := func(d time.Duration) nemesis.Rule {
		return nemesis.Rule{Delay: func(nemesis.Message) time.Duration { return d }}
	}
	cut := nemesis.Rule{Holds: func(m nemesis.Message) bool { return m.Key == "cut" }}
	var none Rules
	all := none.With(slower(1), 1, false).With(slower(10), 2, false).With(cut, 3, true).With(cut, 4, false)
	for _, c := range []struct {
		rules         Rules
		key           string
		delay         time.Duration
		held, forGood bool
	}{
		{none, "cut", 0, false, false},
		{all, "cut", 11, true, true},
		{all, "other", 11, false, false},
		{all.Without(1), "cut", 10, true, true},
		{all.Without(3), "cut", 11, true, false},
		{all.Without(3).Without(4), "cut", 11, false, false},
	} {
		m := nemesis.Message{Key: c.key}
		held, forGood := c.rules.Holds(m)
		if d := c.rules.Delay(m); d != c.delay || held != c.held || forGood != c.forGood {
			t.Errorf("%d rules, the key %s: %v longer, held %v, for good %v", len(c.rules), c.key, d, held, forGood)
		}
	}
	if len(all) != 4 {
		t.Error("a list was changed that others have")
	}
}
