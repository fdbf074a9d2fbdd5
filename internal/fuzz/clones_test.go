package fuzz_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: no lock promises anything of clones, whose tokens are the same. A resource does
// that checks fences of its own, and none that checks tokens. Where a token is the time,
// clones have different ones; they still draw the same delays before they try again.
func TestNoLockPromisesAnythingOfClones(t *testing.T) {
	for _, s := range deployed(t) {
		noPromiseOfClones(t, s)
		if s.Lock.Kind == "redlock" || s.Lock.Kind == "single-node" {
			s.Lock.Tokens = "time"
			noPromiseOfClones(t, s)
		}
	}
}

func noPromiseOfClones(t *testing.T, s scenarios.Scenario) {
	s.Plan = nemesis.Plan{cloned}
	for _, g := range []guard.Mode{s.Guard, guard.Token} {
		s.Guard = g
		for p, a := range fuzz.PromisedTerms(s) {
			want := p == checker.Effect && g == guard.Fenced && s.Lock.Fence == "" && s.Store == nil
			if s.Lock.Tokens == "time" && (p == checker.Cleanup || p == checker.Contract || p == checker.FaultTolerance) {
				want = true
			}
			if inside := a.Outside(s) == nil; inside != want {
				t.Errorf("%s with tokens %q, whose resource is %s: a clone inside the assumptions of %s: %t, want %t", s.Lock.Kind, s.Lock.Tokens, g, p.Title(), inside, want)
			}
		}
	}
}

var cloned = nemesis.Fault{Action: &nemesis.Clone{}, Start: nemesis.At(0)}
