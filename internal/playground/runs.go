package playground

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/results"
)

// RunsRequest asks for some runs of a scenario.
type RunsRequest struct {
	Scenario string `json:"scenario"`     // YAML
	First    uint64 `json:"first,string"` // seed of the first run; the others follow
	Runs     int    `json:"runs"`         // at most so many
	Millis   int    `json:"millis"`       // no further run begins after so many milliseconds; 0: all are made
}

// RunsAnswer is runs in the order of their seeds.
type RunsAnswer struct {
	Runs []RunLine `json:"runs"`
}

// RunLine is what one run has shown.
type RunLine struct {
	Seed     uint64                     `json:"seed,string"`
	Verdicts map[string]checker.Verdict `json:"verdicts"` // by the property's code
	Trace    string                     `json:"trace"`    // hash of what happened, as on the command line
	Shown    bool                       `json:"shown"`    // every verdict is the expected one
	Against  bool                       `json:"against"`  // a verdict contradicts the expected one
}

// Runs makes runs, at least one.
func Runs(q RunsRequest) (RunsAnswer, error) {
	e, err := prepare(q.Scenario)
	if err != nil {
		return RunsAnswer{}, err
	}
	answer := RunsAnswer{Runs: []RunLine{}}
	began := time.Now()
	for n := range q.Runs {
		if n > 0 && q.Millis > 0 && time.Since(began) > time.Duration(q.Millis)*time.Millisecond {
			break
		}
		r, err := e.Run(context.Background(), q.First+uint64(n), nil)
		if err != nil {
			return answer, err
		}
		answer.Runs = append(answer.Runs, lineOf(r))
	}
	return answer, nil
}

func lineOf(r runner.Result) RunLine {
	line := RunLine{Seed: r.Seed, Trace: results.Hash(r.TraceHash), Verdicts: map[string]checker.Verdict{}, Shown: r.AsExpected(), Against: r.Contradicts()}
	for _, f := range r.Report.Findings {
		line.Verdicts[f.Property.Code()] = f.Verdict
	}
	return line
}

// Counts are runs of a scenario, counted.
type Counts struct {
	Scenario string                             `json:"scenario"` // YAML
	Runs     int                                `json:"runs"`
	Shown    int                                `json:"shown"`
	Against  int                                `json:"against"`
	Seen     map[string]map[checker.Verdict]int `json:"seen"` // by the property's code
}

// Outcome is what runs have shown together.
type Outcome struct {
	Conclusion string     `json:"conclusion"` // "as expected", "contradiction" or "undecided"
	Expects    bool       `json:"expects"`    // the scenario expects verdicts
	Text       string     `json:"text"`       // one sentence
	Observed   []Observed `json:"observed"`   // in the order of the properties; without those that do not apply
}

// Observed is what runs have shown of a property.
type Observed struct {
	Property Property        `json:"property"`
	Verdict  checker.Verdict `json:"verdict"`            // over all runs
	Expected checker.Verdict `json:"expected,omitempty"` // missing: none
	Share    Share           `json:"share"`              // of the runs that violate it
}

// Share is a share of runs with its 95 % interval (Wilson).
type Share struct {
	Count int     `json:"count"`
	Of    int     `json:"of"`
	Value float64 `json:"value"` // 0 to 1
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Text  string  `json:"text"` // "3.0 % [1.0, 8.5]"
}

func shareOf(r runner.Rate) Share {
	low, high := r.Wilson()
	return Share{Count: r.K, Of: r.N, Value: r.Share(), Low: low, High: high, Text: fmt.Sprintf("%s %s", r.Percent(), r.Interval())}
}

// Conclude says what counted runs have shown.
func Conclude(c Counts) (Outcome, error) {
	e, err := prepare(c.Scenario)
	if err != nil {
		return Outcome{}, err
	}
	t := runner.NewTally(e.Scenario())
	t.Runs, t.Shown, t.Against = c.Runs, c.Shown, c.Against
	for _, p := range checker.Properties() {
		for v, n := range c.Seen[p.Code()] {
			t.Seen[p][v] = n
		}
	}
	o := Outcome{Conclusion: t.Conclusion().String(), Expects: len(t.Scenario.Expect) > 0, Text: summary.Found(t), Observed: []Observed{}}
	for _, p := range checker.Properties() {
		seen := t.Observed(p)
		if seen == checker.NotApplicable {
			continue
		}
		want, _ := t.Scenario.Expect.Want(p)
		o.Observed = append(o.Observed, Observed{propertyOf(p), seen, want, shareOf(t.Rate(p))})
	}
	return o, nil
}

// Rates are the shares of points of a curve.
type Rates struct {
	Counts []Rate `json:"counts"`
}

// Rate is how often something occurred.
type Rate struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// Shares returns the shares with their intervals.
func Shares(q Rates) ([]Share, error) {
	list := make([]Share, len(q.Counts))
	for i, c := range q.Counts {
		if c.Count < 0 || c.Count > c.Of {
			return nil, fmt.Errorf("%d of %d is no share", c.Count, c.Of)
		}
		list[i] = shareOf(runner.Rate{K: c.Count, N: c.Of})
	}
	return list, nil
}
