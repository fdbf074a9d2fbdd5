package timeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// intervals prints the intervals of some events, one a line.
func intervals(end history.Time, events ...history.Event) string {
	var all []string
	line := timeline.New(history.Header{Nodes: 5, Clients: 2})
	line.Intervals(func(i *timeline.Interval) {
		text := fmt.Sprintf("%d-%d %v", i.From, i.To, i.Begin.Kind)
		if i.Begin.Token != "" {
			text += " " + i.Begin.Token
		}
		if i.Begin.Kind == history.LinkDown && i.Begin.Node > 0 {
			text += fmt.Sprintf(" %d", i.Begin.Node)
		}
		if i.End.Kind != 0 {
			text += fmt.Sprintf(", %v", i.End.Kind)
		}
		if i.Cut != nil {
			text += fmt.Sprintf(", nodes %v", i.Cut)
		}
		if i.Open {
			text += ", open"
		}
		all = append(all, text)
	})
	for i := range events {
		line.Record(&events[i])
	}
	line.Record(&history.Event{Time: end, Kind: history.End})
	line.Close()
	return strings.Join(all, "\n")
}

func TestIntervals(t *testing.T) {
	got := intervals(30,
		history.Event{Time: 0, Kind: history.FaultStart, Fault: 1, Detail: "node 2 crashes"},
		history.Event{Time: 0, Kind: history.NodeDown, Node: 2, Fault: 1},
		history.Event{Time: 1, Kind: history.Acquire, Client: 1, Resource: "r", Token: "a"},
		history.Event{Time: 1, Kind: history.Acquire, Client: 2, Resource: "r", Token: "b"},
		history.Event{Time: 2, Kind: history.KeySet, Client: 1, Node: 1, Resource: "r", Token: "a"},
		history.Event{Time: 2, Kind: history.KeySet, Client: 1, Node: 1, Resource: "s", Token: "a"},
		history.Event{Time: 3, Kind: history.Granted, Client: 1, Resource: "r", Token: "a"},
		history.Event{Time: 4, Kind: history.Refused, Client: 2, Resource: "r", Token: "b", Reason: "1 of 2 votes"},
		history.Event{Time: 5, Kind: history.Write, Client: 1, Resource: "r", Token: "a", Value: 7},
		history.Event{Time: 6, Kind: history.Apply, Client: 1, Resource: "r", Token: "a", Value: 7},
		history.Event{Time: 7, Kind: history.WriteDone, Client: 1, Resource: "r", Token: "a", Value: 7, Outcome: history.OK},
		history.Event{Time: 8, Kind: history.NodeUp, Node: 2, Fault: 1, Detail: "without its keys"},
		history.Event{Time: 8, Kind: history.FaultEnd, Fault: 1},
		history.Event{Time: 9, Kind: history.KeyGone, Node: 1, Resource: "s", Token: "a", Reason: history.Evicted},
		history.Event{Time: 9, Kind: history.Pause, Client: 1},
		history.Event{Time: 9, Kind: history.Pause, Client: 1},
		history.Event{Time: 10, Kind: history.Resume, Client: 1},
		history.Event{Time: 11, Kind: history.Release, Client: 1, Resource: "r", Token: "a"},
		history.Event{Time: 12, Kind: history.Resume, Client: 2},
	)
	const want = `1-3 acquire a, granted
1-4 acquire b, refused
6-6 apply a
5-7 write a, write-done
0-8 node-down, node-up
0-8 fault-start, fault-end
2-9 key-set a, key-gone
9-10 pause, resume
2-30 key-set a, open
11-30 release a, open`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// All links of a client that change at one instant are one interval, in whatever order. Each link has its own.
func TestLinksOfOneInstantAreOneInterval(t *testing.T) {
	link := func(at history.Time, k history.Kind, node int) history.Event {
		return history.Event{Time: at, Kind: k, Client: 1, Node: node}
	}
	got := intervals(9, link(1, history.LinkDown, 5), link(1, history.LinkDown, 4), link(1, history.LinkDown, 4),
		link(3, history.LinkUp, 4), link(3, history.LinkDown, 4), link(4, history.LinkUp, 4), link(4, history.LinkUp, 2))
	if want := `1-3 link-down 4, link-up
1-3 link-down, link-up, nodes [4 5]
3-4 link-down 4, link-up
3-4 link-down, link-up, nodes [4 5]
1-9 link-down 5, open
4-9 link-down, nodes [5], open`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A death ends a pause, and lasts. A store has no leader until the next one.
func TestDeathsAndLeaders(t *testing.T) {
	got := intervals(9,
		history.Event{Time: 1, Kind: history.Pause, Client: 1},
		history.Event{Time: 2, Kind: history.Leader},
		history.Event{Time: 3, Kind: history.Kill, Client: 1},
		history.Event{Time: 4, Kind: history.Leader, Node: 2},
		history.Event{Time: 5, Kind: history.Leader},
	)
	const want = `1-3 pause, kill
2-4 leader, leader
4-4 leader
3-9 kill, open
5-9 leader, open`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
