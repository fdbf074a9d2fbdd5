package assume_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: no lock promises anything of clones, whose tokens are the same. A resource does
// that checks fences of its own, and none that checks tokens.
func TestNoLockPromisesAnythingOfClones(t *testing.T) {
	cloned := nemesis.Fault{Action: &nemesis.Clone{}, Start: nemesis.At(0)}
	for _, s := range deployed(t) {
		s.Plan = nemesis.Plan{cloned}
		for _, g := range []guard.Mode{s.Guard, guard.Token} {
			s.Guard = g
			for p, a := range assume.Promised(s) {
				own := p == checker.Effect && g == guard.Fenced && s.Lock.Fence == "" && s.Store == nil
				if inside := a.Outside(s) == nil; inside != own {
					t.Errorf("%s, whose resource is %s: a clone inside the assumptions of %s: %t, want %t", s.Lock.Kind, g, p.Title(), inside, own)
				}
			}
		}
	}
}
