package world

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
)

// A fault is told its place among those of its kind, so that its draws do not
// depend on other kinds, and whether it ends.
func TestCasesOfAPlan(t *testing.T) {
	s := newStage(another, pause)
	if err := s.carrier.Open(); err != nil {
		t.Fatal(err)
	}
	want := []Case[*nemesis.Pause]{
		{Action: another.Action.(*nemesis.Pause), Number: 1, Nth: 1, ForGood: true},
		{Action: pause.Action.(*nemesis.Pause), Number: 2, Nth: 2},
	}
	if !slices.Equal(s.prepared, want) {
		t.Errorf("got %+v, want %+v", s.prepared, want)
	}
	plan := nemesis.Plan{{Action: &nemesis.Kill{Client: 1}}, pause, {Action: &nemesis.PowerLoss{Node: 1, RestartDelay: 1}}}
	all := cases(plan)
	if all[1].Stream() != "fault pause 1" || all[2].ForGood || !all[0].ForGood {
		t.Errorf("got %+v", all)
	}
}

// A part of an interface plays every kind that implements it, but for those
// that come before.
func TestPartOfManyKinds(t *testing.T) {
	played := map[nemesis.Kind]string{}
	note := func(by string) func(*stage, nemesis.Action) {
		return func(_ *stage, a nemesis.Action) { played[a.Kind()] = by }
	}
	one, all := note("one"), note("all")
	r := Repertoire[*stage]{
		Carry(func(s *stage, c Case[*nemesis.Kill]) error { one(s, c.Action); return nil }, nil),
		Carry(func(s *stage, c Case[nemesis.Action]) error { all(s, c.Action); return nil }, nil).With("a feature"),
	}
	kinds, _ := nemesis.Kinds()
	if !slices.Equal(r.Kinds(), kinds) || !slices.Equal(r.Features(), []nemesis.Feature{"a feature"}) {
		t.Errorf("got %v with %v", r.Kinds(), r.Features())
	}
	for _, a := range nemesis.Actions() {
		if err := r.player(a).begin(nil, cases(nemesis.Plan{{Action: a}})[0]); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "one", false: "all"}[a.Kind() == "kill"]; played[a.Kind()] != want {
			t.Errorf("%s is played by %q, want %s", a.Kind(), played[a.Kind()], want)
		}
	}
}
