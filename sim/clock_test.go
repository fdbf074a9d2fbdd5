package sim

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/nemesis"
)

func drawClock(t *rapid.T) clock {
	return clock{
		ground: rapid.Int64Range(0, 1e15).Draw(t, "ground"),
		shown:  rapid.Int64Range(-1e15, 2e18).Draw(t, "shown"),
		ppm:    rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM).Draw(t, "ppm"),
	}
}

// Law: scale is floor(d × ppm / million), as computed without limits.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(0, 1e18).Draw(t, "d")
		ppm := rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM).Draw(t, "ppm")
		product := new(big.Int).Mul(big.NewInt(d), big.NewInt(ppm))
		want := new(big.Int).Div(product, big.NewInt(million)) // rounds down for a positive divisor
		if got := scale(d, ppm); got != want.Int64() {
			t.Fatalf("scale(%d, %d) = %d, want %v", d, ppm, got, want)
		}
	})
}

// Law: when gives the first instant at which the clock has come so far.
func TestWhenIsTheFirstInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		shown := c.shown + rapid.Int64Range(-1000, 1e12).Draw(t, "ahead")
		at := c.when(shown)
		if at > 1e18 { // a clock that nearly stands still
			return
		}
		if c.at(at) < shown {
			t.Fatalf("at %d the clock shows %d, before %d", at, c.at(at), shown)
		}
		if at > c.ground && c.at(at-1) >= shown {
			t.Fatalf("already at %d the clock shows %d, past %d", at-1, c.at(at-1), shown)
		}
	})
}

// Law: a change of rate moves no hand; a jump moves it by just as much.
func TestChangesAreContinuous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		now := c.ground + rapid.Int64Range(0, 1e12).Draw(t, "later")
		before := c.at(now)
		c.run(now, rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM).Draw(t, "new rate"))
		if c.at(now) != before {
			t.Fatalf("a change of rate jumps from %d to %d", before, c.at(now))
		}
		by := rapid.Int64Range(-1e12, 1e12).Draw(t, "by")
		c.jump(now, by)
		if c.at(now) != before+by {
			t.Fatalf("a jump by %d leads from %d to %d", by, before, c.at(now))
		}
	})
}
