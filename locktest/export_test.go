package locktest

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

// StandStill sets how long virtual time may stand still.
func StandStill(d time.Duration) { stallTimeout = d }

// Tried is the result of one run of a storm.
type Tried struct {
	Broken, Open, Limits []checker.Finding
	Err                  error // the run itself failed
}

// Try runs a storm once.
func Try(t *testing.T, c Config, s Storm, seed uint64, open func(Env) Locker) (tried Tried) {
	c = c.filled(t.Name())
	if err := c.validate(); err != nil {
		return Tried{Err: err}
	}
	tr := trial{c, open}
	o, err := tr.runSettled(t, tr.scenario(s), seed)
	if err != nil {
		return Tried{Err: err}
	}
	j := o.judge(c)
	tried = Tried{Broken: j.broken, Open: j.open}
	for _, l := range j.limits {
		tried.Limits = append(tried.Limits, l.Finding)
	}
	return tried
}
