package world

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Two faults take hold of the links of client 1, one of them of client 2's as
// well. What is down is said before it is done, and what is up after.
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

func TestEmptyListsMeanAllLinks(t *testing.T) {
	l := NewLinks(2, 3, func(history.Event) {})
	seen := map[[2]int]int{}
	l.Disturb(nemesis.Links{}, func(client, node int) { seen[[2]int{client, node}]++ })
	if len(seen) != 6 || seen[[2]int{2, 3}] != 1 {
		t.Errorf("disturbed: %v", seen)
	}
}
