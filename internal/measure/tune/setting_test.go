package tune

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/redlock"
)

func drawClocks(t *rapid.T) Clocks {
	return Clocks{
		RatePPM:     rapid.Int64Range(0, 200_000).Draw(t, "ppm"),
		LargestStep: time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "step")),
	}
}

func drawTTL(t *rapid.T) time.Duration {
	return time.Duration(rapid.Int64Range(100, 600_000).Draw(t, "ttl")) * time.Millisecond
}

// The allowance is the lock's.
func TestAllowanceIsThatOfTheLock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ttl, factor := drawTTL(t), rapid.Float64Range(0, 1).Draw(t, "factor")
		if got, want := (Setting{TTL: ttl, DriftFactor: factor}).Allowance(), redlock.Allowance(ttl, factor); got != want {
			t.Errorf("%v, the lock has %v", got, want)
		}
	})
}

// The formulas agree with those of the sweeps, with all clocks at their bounds.
func TestFormulasAreThoseOfTheSweeps(t *testing.T) {
	const rounded = 2 // ns
	rapid.Check(t, func(t *rapid.T) {
		c, ttl := drawClocks(t), drawTTL(t)
		c.LargestStep = min(c.LargestStep, ttl)
		rho, a := float64(c.RatePPM)/1e6, c.NeededAllowance(ttl)
		if by := series.Overlap(ttl, a, rho, rho, c.LargestStep).Abs(); by > 3*rounded { // of what is divided by 1 − ρ
			t.Errorf("an allowance of %v is %v off", a, by)
		}
		still := Clocks{RatePPM: c.RatePPM}
		if by := still.NeededAllowance(ttl) - time.Duration(series.NeededAllowance(rho, rho)*float64(ttl)); by.Abs() > rounded {
			t.Errorf("without steps: %v off", by)
		}
		if by := c.NeededRestartDelay(ttl, a) - series.SafeDelay(ttl, a, rho, rho) - c.LargestStep; by.Abs() > rounded {
			t.Errorf("the restart delay that is needed is %v off", by)
		}
		if by := c.RestartDelay(ttl) - series.ClockRule(ttl, rho) - c.LargestStep; by < 0 || by > time.Millisecond {
			t.Errorf("the restart delay that is recommended is %v off the rule of thumb", by)
		}
	})
}
