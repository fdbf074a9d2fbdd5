package timelinepage

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Story tells a finding in steps. Their lanes are not known yet.
func Story(f checker.Finding) []Step {
	lines := f.Lines()
	steps := make([]Step, len(lines))
	for i, line := range lines {
		steps[i] = Step{Text: line, Kind: EventStep, Lane: -1}
	}
	events := steps[len(lines)-len(f.Events)-len(f.Causes):]
	for i, e := range f.Events {
		s := &events[i]
		if s.add(e); e.Role == checker.RoleFault { // it may have begun at 0
			s.Kind, s.Placed, s.From, s.about = FaultStep, true, e.From, laneKey{}
		}
	}
	for i, c := range f.Causes {
		s := &events[len(f.Events)+i]
		s.Kind = CauseStep
		for _, e := range c.Evidence {
			s.add(e)
		}
	}
	return steps
}

// add extends the place of a step by that of an event.
func (s *Step) add(e checker.Event) {
	if s.about == (laneKey{}) {
		switch {
		case len(e.Nodes) > 0:
			s.about = laneKey{Nodes, e.Nodes[0].Node}
		case e.Client > 0:
			s.about = laneKey{Clients, e.Client}
		}
	}
	s.extend(e.From)
	s.extend(e.To)
	for _, n := range e.Nodes {
		s.extend(n.At)
	}
}

// extend extends the place of a step by an instant; 0: it is not known.
func (s *Step) extend(at history.Time) {
	switch {
	case at == 0:
	case !s.Placed:
		s.Placed, s.From, s.To = true, at, at
	default:
		s.From, s.To = min(s.From, at), max(s.To, at)
	}
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
