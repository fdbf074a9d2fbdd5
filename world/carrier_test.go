package world

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// stage is a world that can pause a client, and fail to.
type stage struct {
	carrier        *Carrier[*stage]
	log            history.Log
	atBegin, atEnd error
	prepared       []Case[*nemesis.Pause]
}

var pausing = Carry(
	func(s *stage, c Case[*nemesis.Pause]) error {
		s.carrier.Record(history.Event{Kind: history.Pause, Client: c.Action.Client})
		return s.atBegin
	},
	func(s *stage, c Case[*nemesis.Pause]) error {
		s.carrier.Record(history.Event{Kind: history.Resume, Client: c.Action.Client})
		return s.atEnd
	},
).Opening(func(s *stage, c Case[*nemesis.Pause]) { s.prepared = append(s.prepared, c) })

func newStage(plan ...nemesis.Fault) *stage {
	s := &stage{}
	s.carrier = NewCarrier(s, plan, Repertoire[*stage]{pausing}, func(e history.Event) { s.log.Record(&e) })
	return s
}

var (
	pause   = nemesis.Fault{Action: &nemesis.Pause{Client: 2}, End: nemesis.After(1)}
	another = nemesis.Fault{Action: &nemesis.Pause{Client: 1}}
)

func (s *stage) wantLog(t *testing.T, want ...history.Event) {
	t.Helper()
	if !slices.Equal(s.log, want) {
		t.Errorf("got  %+v\nwant %+v", s.log, want)
	}
}

func TestCarrierNumbersWhatAFaultBringsAbout(t *testing.T) {
	s := newStage(another, pause)
	if err := s.carrier.Begin(2); err != nil {
		t.Fatal(err)
	}
	s.carrier.Record(history.Event{Kind: history.KeySet, Node: 1})
	if err := s.carrier.End(2); err != nil {
		t.Fatal(err)
	}
	s.carrier.Record(history.Event{Kind: history.KeyGone, Node: 1})
	s.wantLog(t,
		history.Event{Kind: history.FaultStart, Fault: 2, Name: "pause", Detail: pause.Action.String()},
		history.Event{Kind: history.Pause, Client: 2, Fault: 2},
		history.Event{Kind: history.KeySet, Node: 1},
		history.Event{Kind: history.Resume, Client: 2, Fault: 2},
		history.Event{Kind: history.FaultEnd, Fault: 2, Detail: pause.Action.String()},
		history.Event{Kind: history.KeyGone, Node: 1},
	)
}

// What comes late of a fault, even while another begins, and what ends without
// the plan, bear that fault's number.
func TestCarrierNumbersWhatComesLate(t *testing.T) {
	s := newStage(another, pause)
	s.carrier.OnBehalf(1, func() {
		s.carrier.OnBehalf(2, func() { s.carrier.Record(history.Event{Kind: history.KeyGone}) })
		s.carrier.Record(history.Event{Kind: history.KeySet})
	})
	s.carrier.EndBy(2, func() { s.carrier.Record(history.Event{Kind: history.NodeUp}) })
	s.wantLog(t,
		history.Event{Kind: history.KeyGone, Fault: 2},
		history.Event{Kind: history.KeySet, Fault: 1},
		history.Event{Kind: history.NodeUp, Fault: 2},
		history.Event{Kind: history.FaultEnd, Fault: 2, Detail: pause.Action.String()},
	)
}

func TestFaultThatCannotEndHasNotEnded(t *testing.T) {
	s := newStage(pause)
	s.atEnd = errors.New("stuck")
	if err := s.carrier.Begin(1); err != nil {
		t.Fatal(err)
	}
	if err := s.carrier.End(1); !errors.Is(err, s.atEnd) || !strings.HasPrefix(err.Error(), "fault 1 (client 2 ") {
		t.Errorf("got %v", err)
	}
	s.carrier.Record(history.Event{Kind: history.KeySet})
	for _, e := range s.log {
		if e.Kind == history.FaultEnd || e.Kind == history.KeySet && e.Fault != 0 {
			t.Errorf("in the history: %+v", e)
		}
	}
}

func TestFaultOutsideTheRepertoireIsRefused(t *testing.T) {
	s := newStage(pause, nemesis.Fault{Action: &nemesis.Kill{Client: 1}})
	if err := s.carrier.Open(); err == nil || !strings.Contains(err.Error(), "fault 2 (client 1 dies)") {
		t.Errorf("got %v", err)
	}
}

// An end that takes its time has come when the world says so.
func TestEndThatTakesItsTime(t *testing.T) {
	s := &stage{}
	late := pausing.EndingLate()
	s.carrier = NewCarrier(s, nemesis.Plan{pause}, Repertoire[*stage]{late}, func(e history.Event) { s.log.Record(&e) })
	if err := errors.Join(s.carrier.Begin(1), s.carrier.End(1)); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.log {
		if e.Kind == history.FaultEnd {
			t.Errorf("the end is told before it has come: %+v", s.log)
		}
	}
	s.carrier.EndBy(1, func() { s.carrier.Record(history.Event{Kind: history.NodeUp, Node: 1}) })
	if n := len(s.log); s.log[n-2].Kind != history.NodeUp || s.log[n-2].Fault != 1 || s.log[n-1].Kind != history.FaultEnd {
		t.Errorf("%+v", s.log)
	}
}
