package checker_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// demand is the waits and outages that a checker reports.
type demand struct {
	waits   []checker.Wait
	outages []checker.Outage
}

func demandOf(h history.Header, events []history.Event, only ...checker.Property) (d demand, m checker.Measurements) {
	panel := checker.New(h, only...)
	panel.Demand(func(w checker.Wait) { d.waits = append(d.waits, w) }, func(o checker.Outage) { d.outages = append(d.outages, o) })
	for i := range events {
		panel.Record(&events[i])
	}
	return d, panel.Finish().Measurements
}

// Law: the reported waits and outages are those of the measurements, for every set of properties.
func TestWhatIsToldOfDemandIsMeasured(t *testing.T) {
	repeat(t, 3_000, func(t *rapid.T) {
		header, events := write(drawScripts(t), rapid.Uint64().Draw(t, "order"))
		told, m := demandOf(header, events)
		var longestOutage, total, longestWait time.Duration
		granted := 0
		for _, o := range told.outages {
			longestOutage, total = max(longestOutage, o.To.Sub(o.From)), total+o.To.Sub(o.From)
		}
		for _, w := range told.waits {
			longestWait = max(longestWait, w.To.Sub(w.From))
			if w.Granted {
				granted++
			}
			if w.From > w.To || w.Tries < 1 || w.Granted && w.Open {
				t.Fatalf("told %+v", w)
			}
		}
		if longestOutage != m.LongestOutage || total != m.TotalOutage || longestWait != m.LongestWait || granted != m.Grants {
			t.Fatalf("told: outages %v of %v, the longest wait %v, %d grants; measured %+v", total, longestOutage, longestWait, granted, m)
		}
		if alone, _ := demandOf(header, events, checker.Lease); !reflect.DeepEqual(alone, told) {
			t.Fatalf("a panel of one property tells %+v, one of all %+v", alone, told)
		}
	})
}
