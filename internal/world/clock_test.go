package world

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/nemesis"
)

func drawClock(t *rapid.T) Clock {
	c := Clock{
		ground: rapid.Int64Range(0, 1e15).Draw(t, "ground"),
		shown:  rapid.Int64Range(-1e15, 2e18).Draw(t, "shown"),
	}
	c.ChangeRate(c.ground, rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM).Draw(t, "ppm"))
	if rapid.IntRange(0, 9).Draw(t, "stopped") == 0 {
		c.Stop(c.ground)
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
		at := c.When(shown)
		if at > 1e18 { // a clock that nearly stands still
			return
		}
		if c.At(at) < shown {
			t.Fatalf("at %d the clock shows %d, before %d", at, c.At(at), shown)
		}
		if at > c.ground && c.At(at-1) >= shown {
			t.Fatalf("already at %d the clock shows %d, past %d", at-1, c.At(at-1), shown)
		}
	})
}

// Law: a clock that shows so much has done so since the instant that Reached gives, and did not just before.
func TestReachedIsTheLastCrossing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		began, now := c.ground, c.ground
		var lines []Line // all of them
		for range rapid.IntRange(0, 5).Draw(t, "changes") {
			now += rapid.Int64Range(0, 1000).Draw(t, "passes")
			lines = append(lines, c.Line())
			if rapid.Bool().Draw(t, "jumps") {
				c.Jump(now, rapid.Int64Range(-1000, 1000).Draw(t, "by"))
			} else {
				c.ChangeRate(now, rapid.Int64Range(-million, million).Draw(t, "ppm"))
			}
		}
		lines = append(lines, c.Line())
		now += rapid.Int64Range(0, 1000).Draw(t, "later")
		at := func(ground int64) int64 { // what it showed then
			i := len(lines) - 1
			for i > 0 && lines[i].Ground > ground {
				i--
			}
			line := ClockAlong(lines[i])
			return line.At(ground)
		}
		shown := c.At(now) - rapid.Int64Range(0, 2000).Draw(t, "ago")
		since := c.Reached(shown)
		for ground := since; ground <= now; ground++ {
			if at(ground) < shown {
				t.Fatalf("since %d it shows %d, but at %d it shows %d", since, shown, ground, at(ground))
			}
		}
		if since > began && at(since-1) >= shown {
			t.Fatalf("already at %d it shows %d, not only since %d", since-1, at(since-1), since)
		}
	})
}

// Law: the reported rate of a clock is its rate.
func TestLineIsTheClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		told := ClockAlong(c.Line())
		later := c.ground + rapid.Int64Range(0, 1e15).Draw(t, "later")
		if told.At(later) != c.At(later) || told.When(later) != c.When(later) {
			t.Fatalf("%d and %d, want %d and %d", told.At(later), told.When(later), c.At(later), c.When(later))
		}
	})
}

// Law: a change of rate moves no hand, and nor does a stop; a jump moves it by just as much.
func TestChangesAreContinuous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		now := c.ground + rapid.Int64Range(0, 1e12).Draw(t, "later")
		before := c.At(now)
		c.ChangeRate(now, rapid.Int64Range(-nemesis.MaxPPM, nemesis.MaxPPM).Draw(t, "change of rate"))
		if c.At(now) != before {
			t.Fatalf("a change of rate jumps from %d to %d", before, c.At(now))
		}
		c.Stop(now)
		if c.At(now) != before || c.At(now+1e9) != before {
			t.Fatalf("a stop at %d shows %d, and a second later %d", before, c.At(now), c.At(now+1e9))
		}
		c.Start(now)
		by := rapid.Int64Range(-1e12, 1e12).Draw(t, "by")
		c.Jump(now, by)
		if c.At(now) != before+by {
			t.Fatalf("a jump by %d leads from %d to %d", by, before, c.At(now))
		}
	})
}

// Law: a stopped clock that is moved on by what it is behind shows what one
// shows that was not stopped, whatever else is done to both meanwhile.
func TestStoppedClockCatchesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		c.Start(c.ground)
		other := c
		now := c.ground
		pass := func() {
			now += rapid.Int64Range(0, 1e12).Draw(t, "passes")
			other.settle(now)
		}
		pass()
		c.Stop(now)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			pass()
			by := rapid.Int64Range(-1e9, 1e9).Draw(t, "by")
			ppm := rapid.Int64Range(-2*million, nemesis.MaxPPM).Draw(t, "ppm")
			c.Jump(now, by)
			c.ChangeRate(now, ppm)
			other.Jump(now, by)
			other.ChangeRate(now, ppm)
		}
		pass()
		c.Jump(now, c.Behind(now))
		c.Start(now)
		later := now + rapid.Int64Range(0, 1e12).Draw(t, "after")
		if c.At(later) != other.At(later) {
			t.Fatalf("it shows %d, and the other %d", c.At(later), other.At(later))
		}
	})
}
