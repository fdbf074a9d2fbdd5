package locktest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

// WatchEvery sets how often the watchdog looks whether virtual time advances.
func WatchEvery(d time.Duration) { watchInterval = d }

// InBubbles returns how many goroutines the newest bubble has.
func InBubbles() int { return len(newestBubble()) }

// StallBudget sets how many looks of the watchdog abandoned runs may cost.
func StallBudget(looks int64) { maxStallLooks = looks }

// UserLine returns the line of the user's code from which the goroutine with that number
// comes, by the dump of a bubble.
func UserLine(dump string, number int, pkg, module string) string {
	var all []goroutine
	for text := range strings.SplitSeq(dump, "\n\n") {
		all = append(all, parseGoroutine(text))
	}
	i := slices.IndexFunc(all, func(g goroutine) bool { return g.number == number })
	f, _ := userCode{pkg, module}.line(all[i], all)
	return f.String()
}

// Tried is the result of one run of a storm.
type Tried struct {
	Broken, Open, Limits []checker.Finding
	Reason               string // of the first one that is broken, as a failure says it
	Lasted               time.Duration
	Err                  error // the run itself failed
}

// Try runs a storm once.
func Try(t *testing.T, c Config, s Storm, seed uint64, open func(Env) Locker) (tried Tried) {
	c = c.filled(t.Name())
	if err := c.validate(); err != nil {
		return Tried{Err: err}
	}
	tr := trial{Config: c, make: open}
	o, err := tr.runSettled(t, tr.scenario(s), seed)
	if err != nil {
		return Tried{Err: err}
	}
	j := o.judge(c)
	tried = Tried{Broken: j.Broken, Open: j.Open, Lasted: time.Duration(o.history[len(o.history)-1].Time)}
	if len(j.Broken) > 0 {
		tried.Reason = j.Reason()
	}
	for _, l := range j.Limits {
		tried.Limits = append(tried.Limits, l.Finding)
	}
	return tried
}
