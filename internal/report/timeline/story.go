package timeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Step is a line of a finding's story, with its place on the timeline.
type Step struct {
	Text string   `json:"x"`
	Kind StepKind `json:"k"`

	// From and To are when it happened, if it is Placed.
	Placed bool         `json:"p,omitempty"`
	From   history.Time `json:"f,omitempty"`
	To     history.Time `json:"t,omitempty"`

	Lane int `json:"l"` // index of the lane of what it is about; -1: none, or a fault

	about laneKey
}

// StepKind says what a step is about.
type StepKind string

// The kinds of steps.
const (
	FaultStep StepKind = "fault" // faults, or that there was none
	EventStep StepKind = "event" // of the violation
	CauseStep StepKind = "cause" // the assumption that was broken, or that none was
)

// Story splits the story of a finding into steps. Their lanes are not known yet.
func Story(f checker.Finding) []Step {
	facts := statements(f)
	var all []Step
	for _, line := range f.Lines() {
		s := Step{Text: line, Kind: EventStep, Lane: -1}
		faults, others := 0, 0
		for rest := line; len(facts) > 0; facts = facts[1:] {
			_, after, said := strings.Cut(rest, facts[0].String())
			if !said {
				break
			}
			rest = after
			s.add(facts[0].Statement)
			switch facts[0].Kind {
			case checker.FaultInjected, checker.NoFault, checker.NoFaultThen:
				faults++
			default:
				others++
			}
			if facts[0].cause {
				s.Kind = CauseStep
			}
		}
		if s.Kind == EventStep && faults > 0 && others == 0 {
			s.Kind = FaultStep
		}
		all = append(all, s)
	}
	return all
}

// fact is a statement of a finding, in the order of the story.
type fact struct {
	checker.Statement
	cause bool
}

func statements(f checker.Finding) (all []fact) {
	for _, s := range slices.Concat(f.Events, f.Meanwhile) {
		all = append(all, fact{s, false})
	}
	for _, c := range f.Causes {
		for _, s := range c.Evidence {
			all = append(all, fact{s, true})
		}
	}
	return all
}

// add extends the place of a step by that of a statement.
func (s *Step) add(what checker.Statement) {
	if s.about == (laneKey{}) {
		switch {
		case what.Node > 0:
			s.about = laneKey{Nodes, what.Node}
		case len(what.Nodes) > 0:
			s.about = laneKey{Nodes, what.Nodes[0].Node}
		case what.Client > 0:
			s.about = laneKey{Clients, what.Client}
		}
	}
	from, to, placed := spanOf(what)
	switch {
	case !placed:
	case !s.Placed:
		s.Placed, s.From, s.To = true, from, to
	default:
		s.From, s.To = min(s.From, from), max(s.To, to)
	}
}

// spanOf returns when a statement says that something happened. Times that give a reason only
// ("since", "having called acquire at") count if there is no other.
func spanOf(s checker.Statement) (from, to history.Time, placed bool) {
	known := func(t history.Time) bool { return t > 0 && t < math.MaxInt64 }
	switch {
	case s.Kind == checker.FaultInjected:
		return s.At, max(s.At, s.To), true
	case s.Kind == checker.Accessed && known(s.From) && known(s.At):
		return s.From, s.At, true
	case s.Kind == checker.Overlap && s.End != nil && known(s.End.At):
		return s.End.At.Add(-s.For), s.End.At, true
	case known(s.At):
		return s.At, s.At, true
	case known(s.From) && known(s.To):
		return s.From, max(s.From, s.To), true
	case known(s.From):
		return s.From, s.From, true
	case known(s.Call):
		return s.Call, s.Call, true
	}
	for _, n := range s.Nodes {
		switch {
		case !known(n.At):
		case !placed:
			from, to, placed = n.At, n.At, true
		default:
			from, to = min(from, n.At), max(to, n.At)
		}
	}
	return from, to, placed
}

// placeSteps bounds the steps of the findings by the history, and finds their lanes.
func (m *Model) placeSteps() {
	for _, f := range m.Finds {
		for i := range f.Story {
			s := &f.Story[i]
			s.From, s.To = min(s.From, m.End), min(s.To, m.End)
			s.Lane = slices.IndexFunc(m.Lanes, func(l Lane) bool {
				return s.about != laneKey{} && l.Group == s.about.group && l.Name == s.about.String()
			})
			s.about = laneKey{}
		}
	}
}

// stepAnchor is the anchor of the n-th step of a finding, below that of its property.
func stepAnchor(heading string, n int) string { return fmt.Sprintf("%s-%d", heading, n+1) }
