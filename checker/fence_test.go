package checker_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// comesAfter says by the words of the README and of docs/history-format.md, from the script alone,
// whether a grant came after another.
func (h *script) comesAfter(g *script) bool {
	if g.ret < h.call {
		return true
	}
	window, other := h.leaseWindows()[0], g.firstWindow()
	if window.end > h.ret {
		return max(other.end, g.ret) < h.ret
	}
	return g.ret < window.end
}

// firstWindow is the window of the hold as it is at the end of the instant of the grant: an extension may
// have begun it anew by then.
func (s *script) firstWindow() referenceWindow {
	all := s.leaseWindows()
	if len(all) > 1 && all[1].from == s.ret {
		return all[1]
	}
	return all[0]
}

// TestFencesGrowFromHoldToHold: the checker counts the grants whose fence is not above that of each
// grant that came before.
func TestFencesGrowFromHoldToHold(t *testing.T) {
	broken, all := 0, 0
	repeat(t, 10_000, func(t *rapid.T) {
		scripts := drawScripts(t)
		fences := rapid.SliceOfN(rapid.Uint64Range(0, 6), len(scripts), len(scripts)).Draw(t, "fences")
		header, events := write(scripts, rapid.Uint64().Draw(t, "order of ties"))
		for i := range events {
			if e := &events[i]; e.Kind == history.Granted {
				e.Fence = fences[[]rune(e.Token)[0]-'A'-1]
			}
		}
		granted := func(s *script) bool { return s.ret < never && !s.refused && fences[s.hold-1] > 0 }
		want := 0
		for i := range scripts {
			for j := range scripts {
				g, h := &scripts[j], &scripts[i]
				if i != j && g.resource == h.resource && granted(g) && granted(h) && h.comesAfter(g) && fences[g.hold-1] >= fences[h.hold-1] {
					want++
					break
				}
			}
		}
		f := judge(header, events, checker.Fence).Finding(checker.Fence)
		if f.Count != want || (f.Verdict == checker.Violated) != (want > 0) {
			t.Fatalf("%v, %d violations (%s), want %d, in\n%s", f.Verdict, f.Count, f.Story(), want, listed(events))
		}
		if all++; want > 0 {
			broken++
		}
	})
	if !t.Failed() && broken*20 < all {
		t.Errorf("%d of %d histories have fences that do not grow; want a twentieth", broken, all)
	}
}
