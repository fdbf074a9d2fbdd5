package world

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A handler is given the fault's position among those of its kind, so that what
// it draws does not depend on other kinds, and whether the fault ever ends.
func TestInjectionsOfAPlan(t *testing.T) {
	s := newStage(nemesis.Fault{Action: &nemesis.Kill{Client: 1}}, another, pause)
	if err := s.injector.Prepare(); err == nil {
		t.Error("a kill has no handler here")
	}
	s = newStage(another, pause)
	if err := s.injector.Prepare(); err != nil {
		t.Fatal(err)
	}
	want := []Injection[*nemesis.Pause]{
		{Action: another.Action.(*nemesis.Pause), Number: 1, Nth: 1, ForGood: true},
		{Action: pause.Action.(*nemesis.Pause), Number: 2, Nth: 2},
	}
	if !slices.Equal(s.prepared, want) {
		t.Errorf("got %+v, want %+v", s.prepared, want)
	}
	if got := s.prepared[1].Stream(); got != "fault pause 2" {
		t.Errorf("got the stream %q", got)
	}
}

// A handler of an interface handles every kind that implements it, unless an
// earlier handler does.
func TestHandlerOfManyKinds(t *testing.T) {
	handledBy := map[nemesis.Kind]string{}
	hs := FaultHandlers[*stage]{
		FaultHandler[*stage, *nemesis.Kill]{Begin: func(_ *stage, f Injection[*nemesis.Kill]) error {
			handledBy[f.Action.Kind()] = "one"
			return nil
		}},
		FaultHandler[*stage, nemesis.Action]{
			Features: []nemesis.Feature{"a feature"},
			Begin: func(_ *stage, f Injection[nemesis.Action]) error {
				handledBy[f.Action.Kind()] = "all"
				return nil
			},
		},
	}
	kinds, _ := nemesis.Kinds()
	if !slices.Equal(hs.Kinds(), kinds) || !slices.Equal(hs.Features(), []nemesis.Feature{"a feature"}) {
		t.Errorf("got %v with %v", hs.Kinds(), hs.Features())
	}
	for _, a := range nemesis.Actions() {
		if err := hs.bind(nil, nemesis.Plan{{Action: a}})[0].begin(); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "one", false: "all"}[a.Kind() == "kill"]; handledBy[a.Kind()] != want {
			t.Errorf("%s is handled by %q, want %s", a.Kind(), handledBy[a.Kind()], want)
		}
	}
}

// stage is a world that can pause a client, and whose pauses can fail.
type stage struct {
	injector       *Injector
	log            history.Log
	atBegin, atEnd error
	prepared       []Injection[*nemesis.Pause]
}

var pausing = FaultHandler[*stage, *nemesis.Pause]{
	Prepare: func(s *stage, f Injection[*nemesis.Pause]) { s.prepared = append(s.prepared, f) },
	Begin: func(s *stage, f Injection[*nemesis.Pause]) error {
		s.injector.Record(history.Event{Kind: history.Pause, Client: f.Action.Client})
		return s.atBegin
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

func TestInjectorRecordsTheFaultOfAnEvent(t *testing.T) {
	s := newStage(another, pause)
	if err := s.injector.Begin(2); err != nil {
		t.Fatal(err)
	}
	s.injector.Record(history.Event{Kind: history.KeySet, Node: 1})
	if err := s.injector.End(2); err != nil {
		t.Fatal(err)
	}
	s.injector.Record(history.Event{Kind: history.KeyGone, Node: 1})
	s.wantLog(t,
		history.Event{Kind: history.FaultStart, Fault: 2, Name: "pause", Detail: pause.Action.String()},
		history.Event{Kind: history.Pause, Client: 2, Fault: 2},
		history.Event{Kind: history.KeySet, Node: 1},
		history.Event{Kind: history.Resume, Client: 2, Fault: 2},
		history.Event{Kind: history.FaultEnd, Fault: 2, Detail: pause.Action.String()},
		history.Event{Kind: history.KeyGone, Node: 1},
	)
}

// Events that a fault causes late, even while another fault begins, bear its
// number. So do the events of an end that the plan did not ask for.
func TestInjectorRecordsTheFaultOfALateEvent(t *testing.T) {
	s := newStage(another, pause)
	s.injector.OnBehalf(1, func() {
		s.injector.OnBehalf(2, func() { s.injector.Record(history.Event{Kind: history.KeyGone}) })
		s.injector.Record(history.Event{Kind: history.KeySet})
	})
	s.injector.Finish(2, func() { s.injector.Record(history.Event{Kind: history.NodeUp}) })
	s.wantLog(t,
		history.Event{Kind: history.KeyGone, Fault: 2},
		history.Event{Kind: history.KeySet, Fault: 1},
		history.Event{Kind: history.NodeUp, Fault: 2},
		history.Event{Kind: history.FaultEnd, Fault: 2, Detail: pause.Action.String()},
	)
}

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
