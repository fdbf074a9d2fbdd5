package storm_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// The figures of a batch are sums, maxima and medians of what its runs measured.
func TestFiguresOfABatch(t *testing.T) {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	var want storm.Figures
	var p50 []time.Duration
	tally, err := storm.Batch{Backend: simulator, Scenario: s, First: 1, Runs: 9, Each: func(r storm.Result) {
		m := r.Report.Measurements
		want.Tries += m.Tries
		want.Grants += m.Grants
		want.Requests += r.Traffic.Requests
		want.LongestOutage = max(want.LongestOutage, m.LongestOutage)
		p50 = append(p50, m.AcquireP50)
	}}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(p50)
	want.AcquireP50, want.AcquireP99 = p50[4], tally.Figures.AcquireP99
	if got := tally.Figures; got != want || got.AcquireP99 < got.AcquireP50 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Each grant takes a SET and, at its release, a script on each of five nodes.
	if per := tally.Figures.PerGrant(tally.Figures.Requests); per < 10 {
		t.Errorf("%.1f requests a grant, want 10 or more", per)
	}
	if got := (storm.Figures{}).PerGrant(3); got != 0 {
		t.Errorf("without a grant: %v", got)
	}
}

func TestTrafficCountsReturnsAndWakings(t *testing.T) {
	var got storm.Traffic
	for _, e := range []history.Event{
		{Kind: history.Granted, K: 5}, {Kind: history.Refused, K: 2}, {Kind: history.Released, K: 5},
		{Kind: history.Step, Name: "woken"}, {Kind: history.Step, Name: "reply", K: 3}, {Kind: history.Acquire},
	} {
		got.Record(&e)
	}
	if want := (storm.Traffic{Requests: 12, Woken: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
