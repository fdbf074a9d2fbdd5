package guard_test

import (
	"testing"

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
		if !g.Write("r", newer, 7) {
			t.Errorf("%q refuses the newest fence", c.mode)
		}
		if _, ok := g.Read("r", older); ok != c.oldReads {
			t.Errorf("%q: an old fence reads: %v", c.mode, ok)
		}
		if ok := g.Write("r", older, 8); ok != c.oldWrites {
			t.Errorf("%q: an old fence writes: %v", c.mode, ok)
		}
		if v, ok := g.Read("other", 0); v != 0 || !ok {
			t.Errorf("%q: resources are not apart", c.mode)
		}
	}

	// A read raises the bar as well, where reads are checked.
	for mode, want := range map[guard.Mode]bool{guard.FencedWrites: true, guard.Fenced: false} {
		g := guard.New(mode)
		older, newer := g.Draw("r"), g.Draw("r")
		g.Read("r", newer)
		if got := g.Write("r", older, 1); got != want {
			t.Errorf("%q: a write with a fence older than that of a read: %v", mode, got)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := guard.Mode("stern").Validate(); err == nil {
		t.Error("accepted")
	}
}
