package report

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/report/sequence"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/trace"
	"github.com/lockstorm/lockstorm/results"
)

// mostRequests is the size of a run of which an excerpt is drawn: about its violation. A larger
// one is not run again.
const mostRequests = 20 * sequence.MostMessages

// messagesOf draws the messages of a run that can be repeated: all of a small run, and of a
// larger one those about its violation. A history does not record messages, so the run is made
// again.
func (r *Report) messagesOf(s ShownRun) ([]document.Block, error) {
	shown := checker.Lease
	violated := Violated(s.tally())
	if len(violated) > 0 {
		shown = violated[0]
	}
	small := 2*s.Run.Report.Measurements.Requests <= sequence.MostMessages // requests and replies
	if !r.repeats(s) || !small && (len(violated) == 0 || s.Run.Report.Measurements.Requests > mostRequests) {
		return nil, nil
	}
	e, err := runner.Prepare(r.options.Simulator, s.Run.Scenario.Scenario)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Title, err)
	}
	e, t := trace.Of(e.WithCourse(s.Run.Course))
	again, err := e.Run(context.Background(), s.Run.Seed, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Title, err)
	}
	if results.Hash(again.TraceHash) != s.Run.TraceHash {
		return nil, nil // another program made the stored run
	}
	return []document.Block{document.Heading("Message by message"), sequence.Of(t, again.Report.Finding(shown)).Block()}, nil
}

// repeats reports whether the simulator repeats a run.
func (r *Report) repeats(s ShownRun) bool {
	return s.Run.TraceHash != "" && s.Run.Backend == r.options.Simulator.Name && !s.Run.Cut && s.Run.Report.Cut == "" && len(s.Run.Scenario.Clients) > 0
}
