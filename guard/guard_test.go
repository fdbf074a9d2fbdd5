package guard_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/guard"
)

// A reader with an old fence goes unnoticed where only writes are checked.
func TestFences(t *testing.T) {
	cases := []struct {
		mode                            guard.Mode
		oldReads, oldWrites, afterReads bool
	}{
		{guard.Plain, true, true, true},
		{"", true, true, true},
		{guard.FencedWrites, true, false, true},
		{guard.Fenced, false, false, false},
	}
	for _, c := range cases {
		g := guard.New(c.mode)
		older, newer := g.Draw("r"), g.Draw("r")
		if !g.Write("r", "a", newer, 7) {
			t.Errorf("%q refuses the newest fence", c.mode)
		}
		if _, ok := g.Read("r", "a", older); ok != c.oldReads {
			t.Errorf("%q: an old fence reads: %v", c.mode, ok)
		}
		if ok := g.Write("r", "a", older, 8); ok != c.oldWrites {
			t.Errorf("%q: an old fence writes: %v", c.mode, ok)
		}
		if v, ok := g.Read("other", "a", 0); v != 0 || !ok {
			t.Errorf("%q: resources are not apart", c.mode)
		}
	}

	// A read raises the bar as well, where reads are checked.
	for mode, want := range map[guard.Mode]bool{guard.FencedWrites: true, guard.Fenced: false} {
		g := guard.New(mode)
		older, newer := g.Draw("r"), g.Draw("r")
		g.Read("r", "a", newer)
		if got := g.Write("r", "a", older, 1); got != want {
			t.Errorf("%q: a write with a fence older than that of a read: %v", mode, got)
		}
	}
}

// Writes are accepted from the last reader, any number of times, and from nobody else.
func TestToken(t *testing.T) {
	g := guard.New(guard.Token)
	write := func(token string, value int64, want bool) {
		t.Helper()
		if got := g.Write("r", token, 0, value); got != want {
			t.Errorf("a write of %d by %s: %v", value, token, got)
		}
	}
	read := func(token string, want int64) {
		t.Helper()
		if got, ok := g.Read("r", token, 0); got != want || !ok {
			t.Errorf("%s reads %d, %v", token, got, ok)
		}
	}
	write("a", 1, false)
	read("a", 0)
	g.Read("other", "c", 0)
	read("b", 0)
	write("a", 1, false)
	write("b", 2, true)
	write("b", 3, true)
	read("a", 3)
	write("b", 4, false)
	write("a", 5, true)
	read("b", 5)
}

// Law: what the resource holds is what the accepted sections make of it one
// after another, in the order of their writes, however they are interleaved.
func TestTokenLosesNoUpdate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := guard.New(guard.Token)
		seen := map[string]int64{} // by token, what its section has read
		accepted := int64(0)
		for range rapid.IntRange(0, 50).Draw(t, "accesses") {
			token := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "token")
			value, reading := seen[token]
			if !reading {
				seen[token], _ = g.Read("r", token, 0)
				continue
			}
			delete(seen, token)
			if g.Write("r", token, 0, value+1) {
				accepted++
			}
		}
		if got, _ := g.Read("r", "last", 0); got != accepted {
			t.Fatalf("%d after %d accepted increments", got, accepted)
		}
	})
}
