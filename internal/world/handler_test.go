package world

import (
	"slices"
	"testing"

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

// A fault whose machine restarts its server by itself is not for good, and other
// kinds do not count for its position.
func TestInjectionsOfOtherKinds(t *testing.T) {
	var got []Injection[nemesis.Action]
	all := FaultHandler[*stage, nemesis.Action]{Prepare: func(_ *stage, f Injection[nemesis.Action]) { got = append(got, f) }}
	plan := nemesis.Plan{{Action: &nemesis.Kill{Client: 1}}, pause, {Action: &nemesis.PowerLoss{Node: 1, RestartDelay: 1}}}
	for _, f := range (FaultHandlers[*stage]{all}).bind(nil, plan) {
		f.prepare()
	}
	if !got[0].ForGood || got[1].ForGood || got[2].ForGood || got[1].Stream() != "fault pause 1" {
		t.Errorf("got %+v", got)
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
