package locktest

import (
	"flag"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

var budgetFlag = flag.Duration("locktest.budget", 0, "the real `time` of a call of locktest.Run, after which failures are no longer run again or shrunk; 0: Config.Budget")

// minReruns is how often a failure is run again whatever the time. A storm that fails has mostly saved
// as many runs, because it ends with the first one that fails.
const minReruns = 3

// budget divides the real time of a call of Run. What decides whether a storm fails is not in it.
type budget struct {
	limit time.Duration
	now   func() time.Time
	start time.Time

	runs int           // of storms, so far
	took time.Duration // these runs
	left int           // runs of storms that are still to come
}

func newBudget(limit time.Duration, now func() time.Time) *budget {
	return &budget{limit: limit, now: now, start: now()}
}

// began notes that a run of a storm begins. The returned function notes its end.
func (b *budget) began() (ended func()) {
	begin := b.now()
	return func() {
		b.runs++
		b.took += b.now().Sub(begin)
	}
}

// share returns how long one failure may be examined: half of what the storms that are left do not
// need, or all of it if none is left. The other half is for failures to come.
func (b *budget) share() time.Duration {
	free := b.limit - b.now().Sub(b.start)
	if b.runs > 0 {
		free -= b.took / time.Duration(b.runs) * time.Duration(b.left)
	}
	if b.left > 0 {
		free /= 2
	}
	return max(0, free)
}

// reruns returns a function that reports, after a number of re-runs of a failure, whether there is
// time for another one. The failure has so much time from now on.
func (b *budget) reruns(share time.Duration) (more func(runs int) bool) {
	end := b.now().Add(share)
	return func(runs int) bool { return runs < minReruns || b.now().Before(end) }
}

// String names the budget and its flag.
func (b *budget) String() string {
	return "the budget of " + textfmt.Duration(b.limit) + " (-locktest.budget)"
}
