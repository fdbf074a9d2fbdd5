package world

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// stage is a world that can pause a client, and whose pauses can fail.
type stage struct {
	injector *Injector
	log      history.Log
	atEnd    error
}

var pausing = FaultHandler[*stage, *nemesis.Pause]{
	Begin: func(s *stage, f Injection[*nemesis.Pause]) error {
		s.injector.Record(history.Event{Kind: history.Pause, Client: f.Action.Client})
		return nil
	},
	End: func(s *stage, f Injection[*nemesis.Pause]) error {
		s.injector.Record(history.Event{Kind: history.Resume, Client: f.Action.Client})
		return s.atEnd
	},
}

func newStage(plan ...nemesis.Fault) *stage {
	s := &stage{}
	s.injector = NewInjector(s, plan, FaultHandlers[*stage]{pausing}, func(e history.Event) { s.log.Record(&e) })
	return s
}

var pause = nemesis.Fault{Action: &nemesis.Pause{Client: 2}, End: nemesis.After(1)}

func TestNoEndIsRecordedWhenHealingFails(t *testing.T) {
	s := newStage(pause)
	s.atEnd = errors.New("stuck")
	if err := s.injector.Begin(1); err != nil {
		t.Fatal(err)
	}
	if err := s.injector.End(1); !errors.Is(err, s.atEnd) || !strings.HasPrefix(err.Error(), "fault 1 (client 2 ") {
		t.Errorf("got %v", err)
	}
	s.injector.Record(history.Event{Kind: history.KeySet})
	for _, e := range s.log {
		if e.Kind == history.FaultEnd || e.Kind == history.KeySet && e.Fault != 0 {
			t.Errorf("in the history: %+v", e)
		}
	}
}

// The end of a fault that heals later is recorded when the world calls Finish.
func TestEndsLater(t *testing.T) {
	s := &stage{}
	late := pausing
	late.EndsLater = true
	s.injector = NewInjector(s, nemesis.Plan{pause}, FaultHandlers[*stage]{late}, func(e history.Event) { s.log.Record(&e) })
	if err := errors.Join(s.injector.Begin(1), s.injector.End(1)); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.log {
		if e.Kind == history.FaultEnd {
			t.Errorf("the end is recorded before the fault is healed: %+v", s.log)
		}
	}
	s.injector.Finish(1, func() { s.injector.Record(history.Event{Kind: history.NodeUp, Node: 1}) })
	if n := len(s.log); s.log[n-2].Kind != history.NodeUp || s.log[n-2].Fault != 1 || s.log[n-1].Kind != history.FaultEnd {
		t.Errorf("%+v", s.log)
	}
}
