package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Acquiring is the time from call to return of the tries that were granted. The
// quantiles are upper bounds and at most 1/32 too high; those of many runs are the
// medians of the runs that had a grant.
type Acquiring struct {
	AcquireP50  time.Duration `json:"acquire_p50" runs:"median>0 AcquireP50"`
	AcquireP99  time.Duration `json:"acquire_p99" runs:"median>0 AcquireP99"`
	AcquireP999 time.Duration `json:"acquire_p999" runs:"median>0 AcquireP999"`
	AcquireMax  time.Duration `json:"acquire_max" runs:"max"`
}

func (a *Acquiring) figures(int) []Figure {
	if a.AcquireMax == 0 {
		return nil
	}
	return []Figure{{"time to acquire", []string{
		"p50 " + textfmt.Duration(a.AcquireP50), "p99 " + textfmt.Duration(a.AcquireP99),
		"p99.9 " + textfmt.Duration(a.AcquireP999), "longest " + textfmt.Duration(a.AcquireMax),
	}}}
}

func (a *Acquiring) columns(*Measurements) []Column {
	const legend = "acquire p50, p99: the time of tries that got the lock"
	return []Column{{"acquire p50", textfmt.Duration(a.AcquireP50), legend}, {"acquire p99", textfmt.Duration(a.AcquireP99), legend}}
}

type acquiringMeter struct {
	took histogram
}

func newAcquiringMeter(history.Header, *state) meter { return &acquiringMeter{} }

func (*acquiringMeter) wants() kinds { return kindSet(history.Granted, reentered) }

func (a *acquiringMeter) observe(f *fact) { a.took.add(f.Time.Sub(f.call.at)) }

func (a *acquiringMeter) measure(m *Measurements, _ history.Time) {
	m.Acquiring = Acquiring{a.took.quantile(500), a.took.quantile(990), a.took.quantile(999), a.took.longest}
}
