package runner_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// drawnRun draws the result of a run with some verdicts and measurements.
func drawnRun(t *rapid.T, s scenarios.Scenario, seed uint64) runner.Result {
	r := runner.Result{Scenario: s, Seed: seed, TraceHash: seed * 31}
	if rapid.IntRange(0, 20).Draw(t, "slipped") == 0 {
		r.SchedulingLag = time.Hour
	}
	verdicts := []checker.Verdict{checker.Holds, checker.Holds, checker.Violated, checker.Unknown, checker.NotApplicable}
	for _, p := range checker.Properties() {
		f := checker.Told(p, rapid.SampledFrom(verdicts).Draw(t, "verdict"), "a story")
		if f.Verdict == checker.Violated {
			f.Count = rapid.IntRange(1, 3).Draw(t, "violations")
		}
		r.Report.Findings = append(r.Report.Findings, f)
	}
	duration := func(of string) time.Duration {
		return time.Duration(rapid.SampledFrom([]int64{0, 1, 1, 5, 1e9, math.MaxInt64 / 1000}).Draw(t, of))
	}
	m := &r.Report.Measurements
	m.TotalOutage, m.LongestOutage = duration("outage"), duration("longest")
	m.Wanted = m.TotalOutage + duration("held")
	m.AcquireP50, m.AcquireP99, m.Grants = duration("p50"), duration("p99"), rapid.IntRange(0, 5).Draw(t, "grants")
	m.Updates = m.Grants
	m.LostUpdates = m.Grants / 2
	m.RoundsToFirstGrant = m.Grants
	return r
}

// joined appends the tallies of some consecutive blocks in a drawn grouping.
func joined(t *rapid.T, blocks []runner.Tally) runner.Tally {
	if len(blocks) == 1 {
		return blocks[0]
	}
	cut := rapid.IntRange(1, len(blocks)-1).Draw(t, "cut")
	left := joined(t, blocks[:cut])
	left.Append(joined(t, blocks[cut:]))
	return left
}

// Law: the tallies of consecutive blocks, appended in any grouping, are that of all runs.
func TestAnyDivisionOfATally(t *testing.T) {
	s := scenarios.Scenario{
		Expect: scenarios.Expectations{checker.Lease: checker.Holds, checker.Effect: checker.Violated},
		Limits: scenarios.Limits{AcquireP99: &scenarios.TimeLimit{Max: 4}, Availability: &scenarios.ShareLimit{Min: 0.4}, LostUpdateShare: &scenarios.ShareLimit{Max: 0.5}},
	}
	rapid.Check(t, func(t *rapid.T) {
		whole := runner.NewTally(s)
		blocks := []runner.Tally{runner.NewTally(s)}
		for seed := range uint64(rapid.IntRange(0, 40).Draw(t, "runs")) {
			if rapid.IntRange(0, 4).Draw(t, "new block") == 0 {
				blocks = append(blocks, runner.NewTally(s))
			}
			r := drawnRun(t, s, seed)
			whole.Add(r)
			blocks[len(blocks)-1].Add(r)
		}
		got := joined(t, blocks)
		if a, b := got.Measured.All(), whole.Measured.All(); a != b {
			t.Fatalf("measured %+v\nand not  %+v", a, b)
		}
		if a, b := got.Measured.Spread(), whole.Measured.Spread(); !reflect.DeepEqual(a, b) {
			t.Fatalf("spread %+v\nand not %+v", a, b)
		}
		if a, b := got.Limits(), whole.Limits(); !reflect.DeepEqual(a, b) {
			t.Fatalf("limits %+v\nand not %+v", a, b)
		}
		got.Measured, whole.Measured = runner.Aggregate{}, runner.Aggregate{}
		if !reflect.DeepEqual(got, whole) {
			t.Fatalf("joined %+v\nand not %+v", got, whole)
		}
	})
}

// Law: an aggregate survives its stored form, and runs can be added to it.
func TestRestoredAggregate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a runner.Aggregate
		add := func(n int, to ...*runner.Aggregate) {
			for range n {
				m := drawnRun(t, scenarios.Scenario{}, 1).Report.Measurements
				for _, one := range to {
					one.Add(m)
				}
			}
		}
		add(rapid.IntRange(0, 20).Draw(t, "runs"), &a)
		b, err := runner.RestoredAggregate(a.Runs(), a.All(), a.Spread())
		if err != nil {
			t.Fatal(err)
		}
		add(rapid.IntRange(0, 5).Draw(t, "more"), &a, &b)
		if a.All() != b.All() || a.Runs() != b.Runs() || !reflect.DeepEqual(a.Spread(), b.Spread()) {
			t.Fatalf("%+v\nis restored as %+v", a.All(), b.All())
		}
	})
}

// Many different values are kept sorted without being counted wrongly.
func TestManySamples(t *testing.T) {
	var whole, left, right runner.Aggregate
	const n = 20_000
	for i := range n {
		m := checker.Measurements{Outages: checker.Outages{LongestOutage: time.Duration(i * 7919 % 10_007)}}
		whole.Add(m)
		if i < n/3 {
			left.Add(m)
		} else {
			right.Add(m)
		}
	}
	left.Append(right)
	values := map[int]int{}
	for i := range n {
		values[i*7919%10_007]++
	}
	var want []int64
	last := 0
	for v := range 10_007 {
		if values[v] > 0 {
			want = append(want, int64(v-last))
			if values[v] > 1 {
				want = append(want, -int64(values[v]))
			}
			last = v
		}
	}
	for _, a := range []*runner.Aggregate{&whole, &left} {
		if got := a.Spread().Samples["median_outage"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%d numbers, and not %d", len(got), len(want))
		}
	}
}

// What no runs can have is not restored.
func TestImpossibleAggregates(t *testing.T) {
	var a runner.Aggregate
	for i := range 3 {
		a.Add(checker.Measurements{
			Work:      checker.Work{Tries: 1},
			Acquiring: checker.Acquiring{AcquireP50: time.Duration(i)},
			Outages:   checker.Outages{LongestOutage: 2, TotalOutage: 2, Wanted: 4},
		})
	}
	for want, change := range map[string]func(runs *int, m *checker.Measurements, s *runner.Spread){
		"tries is -1 in 3 runs":                                       func(_ *int, m *checker.Measurements, _ *runner.Spread) { m.Tries = -1 },
		"samples of median_outage: 3 values of 4 runs":                func(runs *int, _ *checker.Measurements, _ *runner.Spread) { *runs = 4 },
		"tries is 3 in 0 runs":                                        func(runs *int, _ *checker.Measurements, _ *runner.Spread) { *runs = 0 },
		"samples of median_outage: 0 values of 3 runs":                func(_ *int, _ *checker.Measurements, s *runner.Spread) { delete(s.Samples, "median_outage") },
		"acquire_p50 is 1, and not 0":                                 func(_ *int, _ *checker.Measurements, s *runner.Spread) { delete(s.Samples, "acquire_p50") },
		"median_outage is 3, and not 2":                               func(_ *int, m *checker.Measurements, _ *runner.Spread) { m.MedianOutage = 3 },
		"availability is 0.7, and not 0.5":                            func(_ *int, m *checker.Measurements, _ *runner.Spread) { m.Availability = 0.7 },
		"samples of median_outage: number 1: a count without a value": func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Samples["median_outage"] = []int64{-2, 3} },
		"samples of median_outage: number 3: a count without a value": func(_ *int, _ *checker.Measurements, s *runner.Spread) {
			s.Samples["median_outage"] = []int64{2, -2, -2}
		},
		"samples of median_outage: number 2: the count 1 with 3 runs left": func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Samples["median_outage"] = []int64{2, -1} },
		"samples of median_outage: number 2: the count 4 with 3 runs left": func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Samples["median_outage"] = []int64{2, -4} },
		"the count -9223372036854775808 with 3 runs left": func(_ *int, _ *checker.Measurements, s *runner.Spread) {
			s.Samples["median_outage"] = []int64{2, math.MinInt64}
		},
		"samples of median_outage: number 4: more values than the 3 runs": func(_ *int, _ *checker.Measurements, s *runner.Spread) {
			s.Samples["median_outage"] = []int64{2, 1, 1, 1}
		},
		"samples of median_outage: number 3: more values than": func(_ *int, _ *checker.Measurements, s *runner.Spread) {
			s.Samples["median_outage"] = []int64{2, -3, 1}
		},
		"samples of median_outage: 2 values of 3 runs": func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Samples["median_outage"] = []int64{2, -2} },
		"samples of median_outage: number 3: the value is out of order or range": func(_ *int, _ *checker.Measurements, s *runner.Spread) {
			s.Samples["median_outage"] = []int64{2, 1, math.MaxInt64}
		},
		"samples of median_outage: number 2: the value is out of order":        func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Samples["median_outage"] = []int64{2, 0} },
		"samples of acquire_p50: number 1: the value is out of order or range": func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Samples["acquire_p50"] = []int64{0, 1} },
		`samples of an unknown measurement among ["acquire_p50" "lies`:         func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Samples["lies"] = []int64{1, 1} },
		`squares of an unknown measurement among ["availability" "lie`:         func(_ *int, _ *checker.Measurements, s *runner.Spread) { s.Squares["lies"] = runner.Squares{} },
	} {
		runs, all, spread := a.Runs(), a.All(), a.Spread()
		change(&runs, &all, &spread)
		if _, err := runner.RestoredAggregate(runs, all, spread); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Law: wide sums are exact, and survive their text.
func TestWideNumbers(t *testing.T) {
	for text, ok := range map[string]bool{
		strings.Repeat("0", 48): true, "00000000000000030000000000000002" + "0000000000000001": true,
		"": false, strings.Repeat("0", 47): false, strings.Repeat("0", 49): false, strings.Repeat("x", 48): false, "-" + strings.Repeat("0", 47): false,
	} {
		var w runner.Wide
		err := w.UnmarshalText([]byte(text))
		if (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		if again, _ := w.MarshalText(); ok && string(again) != text {
			t.Errorf("%q is %v, and printed as %q", text, w, again)
		}
	}
}
