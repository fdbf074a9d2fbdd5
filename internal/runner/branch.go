package runner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Branch is an event of a run from which on it goes another way than its seed says: every random
// number that is drawn from there on follows from the branch's own seed.
type Branch struct {
	Event int    `json:"event"` // the number of events before it
	Seed  uint64 `json:"seed"`
}

// Message is a message of a run: number Nth, from 1, of one direction of the link between a client and
// a node.
type Message struct {
	Client int               `json:"client"`
	Node   int               `json:"node"`
	Way    nemesis.Direction `json:"way"`
	Nth    int               `json:"nth"`
}

// String prints as in "request 3 of client 1 to node 2".
func (m Message) String() string {
	if m.Way == nemesis.Replies {
		return fmt.Sprintf("reply %d of node %d to client %d", m.Nth, m.Node, m.Client)
	}
	return fmt.Sprintf("request %d of client %d to node %d", m.Nth, m.Client, m.Node)
}

// WithBranches returns the experiment with runs that take the branches, which are in the order of
// their events. Its backend must be able to branch: see [Backend.Branching].
func (e Experiment) WithBranches(branches []Branch) Experiment {
	e.branches = branches
	return e
}

// branchText writes branches as in "b120-7+300-1".
func branchText(branches []Branch) string {
	all := make([]string, len(branches))
	for i, b := range branches {
		all[i] = fmt.Sprintf("%d-%d", b.Event, b.Seed)
	}
	return branchMark + strings.Join(all, "+")
}

const branchMark = "b"

func parseBranches(text string) (branches []Branch, err error) {
	list, _ := strings.CutPrefix(text, branchMark)
	for one := range strings.SplitSeq(list, "+") {
		event, seed, _ := strings.Cut(one, "-")
		b := Branch{}
		if b.Event, err = strconv.Atoi(event); err == nil {
			b.Seed, err = strconv.ParseUint(seed, 10, 64)
		}
		if n := len(branches); err != nil || b.Event < 0 || n > 0 && b.Event < branches[n-1].Event {
			return nil, fmt.Errorf("has the branches %q: want events in their order, each with a seed, as in b120-7+300-1", text)
		}
		branches = append(branches, b)
	}
	return branches, nil
}
