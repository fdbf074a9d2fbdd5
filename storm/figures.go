package storm

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Figures are what was measured in a batch of runs. Durations are on the ground
// clock, in nanoseconds.
type Figures struct {
	// Tries, Grants, Requests, Woken, StaleApplies and Rejected are sums over all
	// runs: calls of acquire, those of them that were granted, requests that clients
	// sent, clients that were woken from waiting, stale writes that took effect, and
	// accesses that the guarded resource refused.
	Tries        int `json:"tries"`
	Grants       int `json:"grants"`
	Requests     int `json:"requests"`
	Woken        int `json:"woken"`
	StaleApplies int `json:"stale_applies"`
	Rejected     int `json:"rejected"`

	// AcquireP50 and AcquireP99 are a run's median and 99th percentile of the time
	// from the call of a try to its grant: those of the middle one of the runs with
	// a grant.
	AcquireP50 time.Duration `json:"acquire_p50"`
	AcquireP99 time.Duration `json:"acquire_p99"`

	// LongestOutage is the longest of all runs.
	LongestOutage time.Duration `json:"longest_outage"`
}

// PerGrant returns how many of something there were for each grant; 0 without
// a grant.
func (f Figures) PerGrant(n int) float64 {
	if f.Grants == 0 {
		return 0
	}
	return float64(n) / float64(f.Grants)
}

// quantiles are those of every run of a batch.
type quantiles struct{ p50, p99 []time.Duration }

// measure adds the measurements of one run.
func (t *Tally) measure(r Result) {
	m, f := r.Report.Measurements, &t.Figures
	f.Tries += m.Tries
	f.Grants += m.Grants
	f.Requests += r.Traffic.Requests
	f.Woken += r.Traffic.Woken
	f.StaleApplies += m.StaleApplies
	f.Rejected += m.Rejected
	f.LongestOutage = max(f.LongestOutage, m.LongestOutage)
	if m.Grants > 0 {
		t.acquire.p50 = append(t.acquire.p50, m.AcquireP50)
		t.acquire.p99 = append(t.acquire.p99, m.AcquireP99)
	}
}

// settle works out what needs all runs.
func (t *Tally) settle() {
	t.Figures.AcquireP50, t.Figures.AcquireP99 = middle(t.acquire.p50), middle(t.acquire.p99)
	t.acquire = quantiles{}
}

// middle returns the median of a list, which it sorts; the lower one of two.
func middle(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

// Traffic is what the clients of one run sent and how often they were woken. It
// is a sink for the run's history.
type Traffic struct{ Requests, Woken int }

// Record implements [history.Sink].
func (t *Traffic) Record(e *history.Event) {
	switch e.Kind {
	case history.Granted, history.Refused, history.Extended, history.ExtendFailed, history.Released:
		t.Requests += e.K
	case history.Step:
		if e.Name == "woken" {
			t.Woken++
		}
	}
}
