package sim

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/nemesis"
)

func drawClock(t *rapid.T) clock {
	c := clock{
		ground: rapid.Int64Range(0, 1e15).Draw(t, "ground"),
		shown:  rapid.Int64Range(-1e15, 2e18).Draw(t, "shown"),
	}
	c.hurry(c.ground, rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM).Draw(t, "ppm"))
	if rapid.IntRange(0, 9).Draw(t, "stopped") == 0 {
		c.stop(c.ground)
	}
	return c
}

// Law: scale is floor(d × ppm / million), as computed without limits.
func TestScalingIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(0, 1e18).Draw(t, "d")
		ppm := rapid.Int64Range(-million, nemesis.MaxPPM).Draw(t, "ppm")
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

// Law: a change of rate moves no hand, and nor does a stop; a jump moves it by just as much.
func TestChangesAreContinuous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		now := c.ground + rapid.Int64Range(0, 1e12).Draw(t, "later")
		before := c.at(now)
		c.hurry(now, rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM).Draw(t, "change of rate"))
		if c.at(now) != before {
			t.Fatalf("a change of rate jumps from %d to %d", before, c.at(now))
		}
		c.stop(now)
		if c.at(now) != before || c.at(now+1e9) != before {
			t.Fatalf("a stop at %d shows %d, and a second later %d", before, c.at(now), c.at(now+1e9))
		}
		c.start(now)
		by := rapid.Int64Range(-1e12, 1e12).Draw(t, "by")
		c.jump(now, by)
		if c.at(now) != before+by {
			t.Fatalf("a jump by %d leads from %d to %d", by, before, c.at(now))
		}
	})
}

// Law: a stopped clock that is moved on by what it is behind shows what one
// shows that was not stopped, whatever else is done to both meanwhile.
func TestStoppedClockCatchesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		c.start(c.ground)
		other := c
		now := c.ground
		pass := func() {
			now += rapid.Int64Range(0, 1e12).Draw(t, "passes")
			other.settle(now)
		}
		pass()
		c.stop(now)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			pass()
			by := rapid.Int64Range(-1e9, 1e9).Draw(t, "by")
			ppm := rapid.Int64Range(-2*million, nemesis.MaxPPM).Draw(t, "ppm")
			c.jump(now, by)
			c.hurry(now, ppm)
			other.jump(now, by)
			other.hurry(now, ppm)
		}
		pass()
		c.jump(now, c.behind(now))
		c.start(now)
		later := now + rapid.Int64Range(0, 1e12).Draw(t, "after")
		if c.at(later) != other.at(later) {
			t.Fatalf("it shows %d, and the other %d", c.at(later), other.at(later))
		}
	})
}

// Law: what has been done to the rate and is taken back leaves nothing behind,
// and no clock runs backward.
func TestRatesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		rate, stopped := c.rate, c.stopped
		now, shown := c.ground, c.shown
		ppms := rapid.SliceOfN(rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM), 0, 5).Draw(t, "ppms")
		for _, sign := range []int64{1, -1} {
			for _, ppm := range ppms {
				now += rapid.Int64Range(0, 1e9).Draw(t, "passes")
				c.hurry(now, sign*ppm)
				if c.shown < shown {
					t.Fatalf("back from %d to %d", shown, c.shown)
				}
				shown = c.shown
			}
		}
		if c.rate != rate || c.stopped != stopped || c.ppm != c.pace() {
			t.Fatalf("%+v", c)
		}
	})
}
