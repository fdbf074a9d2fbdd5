package trace

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Line is one thing that was heard, and how it is told.
type Line struct {
	At    history.Time
	Heard Heard
	Who   string // "client 1", "node 2", "store", "resource", "fault 1", "link 1-2", "run"
	What  string // empty: it is not worth a line
}

// Lines tells everything in its order. The windows that are told are those of lease or
// section exclusion.
func (t *Trace) Lines(of checker.Property) []Line { return t.lines(t.Windows(of)) }

func (t *Trace) lines(w windows) []Line {
	list := t.inOrder()
	tell := teller{
		header: t.header, rounds: map[int]*round{}, requests: map[int]env.StoreRequest{},
		windows: w, several: several(list),
	}
	lines := make([]Line, len(list))
	for i, r := range list {
		tell.strikes = i+1 < len(list) && strikes(list[i+1])
		who, what := r.what.tell(&tell)
		lines[i] = Line{r.at, r.what, who, what}
	}
	return lines
}

// teller puts records into words, one after another.
type teller struct {
	header   history.Header
	rounds   map[int]*round
	requests map[int]env.StoreRequest
	windows  windows
	several  bool // resources are locked
	strikes  bool // something happens at the step that is told
}

// several reports whether more than one resource is locked.
func several(list []record) bool {
	first := ""
	for _, r := range list {
		h, is := r.what.(Happened)
		switch {
		case !is || h.Kind != history.Acquire:
		case first == "":
			first = h.Resource
		case first != h.Resource:
			return true
		}
	}
	return false
}

// strikes reports whether something happens to a client at the step before.
func strikes(r record) bool {
	h, is := r.what.(Happened)
	return is && slices.Contains([]history.Kind{history.FaultStart, history.FaultEnd, history.Pause, history.Kill, history.Cancel}, h.Kind)
}
