package world

import (
	"errors"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// stage is a world that can pause a client, and fail to.
type stage struct {
	carrier        *Carrier[*stage]
	log            history.Log
	atBegin, atEnd error
}

func newStage() *stage {
	s := &stage{}
	s.carrier = NewCarrier(s, nemesis.Repertoire[*stage]{nemesis.Carry(
		func(s *stage, _ int, p *nemesis.Pause) error {
			s.carrier.Record(history.Event{Kind: history.Pause, Client: p.Client})
			return s.atBegin
		},
		func(s *stage, _ int, p *nemesis.Pause) error {
			s.carrier.Record(history.Event{Kind: history.Resume, Client: p.Client})
			return s.atEnd
		},
	)}, func(e history.Event) { s.log.Record(&e) })
	return s
}

var pause = &nemesis.Fault{Action: &nemesis.Pause{Client: 2}}

func TestCarrierNumbersWhatAFaultBringsAbout(t *testing.T) {
	s := newStage()
	if err := s.carrier.Begin(7, pause); err != nil {
		t.Fatal(err)
	}
	s.carrier.Record(history.Event{Kind: history.KeySet, Node: 1})
	if err := s.carrier.End(7, pause); err != nil {
		t.Fatal(err)
	}
	s.carrier.Record(history.Event{Kind: history.KeyGone, Node: 1})
	want := history.Log{
		{Kind: history.FaultStart, Fault: 7, Detail: pause.Action.String()},
		{Kind: history.Pause, Client: 2, Fault: 7},
		{Kind: history.KeySet, Node: 1},
		{Kind: history.Resume, Client: 2, Fault: 7},
		{Kind: history.FaultEnd, Fault: 7, Detail: pause.Action.String()},
		{Kind: history.KeyGone, Node: 1},
	}
	if !slices.Equal(s.log, want) {
		t.Errorf("got  %+v\nwant %+v", s.log, want)
	}
}

func TestFaultThatCannotEndHasNotEnded(t *testing.T) {
	s := newStage()
	s.atEnd = errors.New("stuck")
	if err := s.carrier.Begin(1, pause); err != nil {
		t.Fatal(err)
	}
	if err := s.carrier.End(1, pause); !errors.Is(err, s.atEnd) {
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
	s := newStage()
	if err := s.carrier.Begin(1, &nemesis.Fault{Action: &nemesis.Kill{Client: 1}}); err == nil {
		t.Error("carried out what it cannot")
	}
}
