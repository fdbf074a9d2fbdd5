package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// Law: all callers of a lock are cut off if its connections are, which are those of the first of them, and no others
// are. Its pause and its death stop them, too.
func TestCallersAreCutOffTogether(t *testing.T) {
	moved := func(kind history.Kind, client, node int) history.Event {
		return history.Event{Time: 1, Kind: kind, Client: client, Node: node, Fault: 7}
	}
	of := func(kind history.Kind, client int) history.Event { return moved(kind, client, 0) }
	for _, c := range []struct {
		name   string
		events []history.Event
		want   string
	}{
		{
			"the first one's", []history.Event{moved(history.LinkDown, 4, 2), moved(history.LinkUp, 4, 2)},
			"link-down 4-2, link-down 5-2, link-down 6-2, link-up 4-2, link-up 5-2, link-up 6-2",
		},
		{"another one's", []history.Event{moved(history.LinkDown, 2, 1), of(history.Pause, 3), of(history.Resume, 3), moved(history.LinkUp, 2, 1)}, "pause 3-0, resume 3-0"},
		{
			"a pause, and a link that is down meanwhile and longer",
			[]history.Event{of(history.Pause, 1), moved(history.LinkDown, 1, 2), of(history.Resume, 1), moved(history.LinkUp, 1, 2)},
			"pause 1-0, link-down 2-1, link-down 3-1, link-down 2-2, link-down 3-2, link-down 1-2, resume 1-0, link-up 2-1, link-up 3-1, link-up 1-2, link-up 2-2, link-up 3-2",
		},
		{"a death", []history.Event{of(history.Kill, 4)}, "kill 4-0, link-down 5-1, link-down 6-1, link-down 5-2, link-down 6-2"},
	} {
		var log history.Log
		l := &callerLinks{next: &log, nodes: 2, share: 3, down: map[link]int{}}
		for i := range c.events {
			l.Record(&c.events[i])
		}
		var got []string
		for _, e := range log {
			got = append(got, fmt.Sprintf("%v %d-%d", e.Kind, e.Client, e.Node))
			if e.Fault != 7 || e.Time != 1 {
				t.Errorf("%s: %v at %d is by fault %d", c.name, e.Kind, int64(e.Time), e.Fault)
			}
		}
		if joined := strings.Join(got, ", "); joined != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, joined, c.want)
		}
	}
}
