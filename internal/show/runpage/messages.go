package runpage

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/sequence"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/results"
)

// mostRequests is the size of a run of which an excerpt is drawn: about its violation. A larger
// one is not run again.
const mostRequests = 20 * sequence.MostMessages

// Messages draws the messages of a run that the simulator repeats: all of a small run, and of a
// larger one those about its violation. A history does not record messages, so the run is made
// again.
func (s Shown) Messages(simulator runner.Backend) ([]document.Block, error) {
	shown := checker.Lease
	violated := s.violated()
	if len(violated) > 0 {
		shown = violated[0]
	}
	small := 2*s.Run.Report.Measurements.Requests <= sequence.MostMessages // requests and replies
	if !s.repeatedBy(simulator) || !small && (len(violated) == 0 || s.Run.Report.Measurements.Requests > mostRequests) {
		return nil, nil
	}
	e, err := runner.Prepare(simulator, s.Run.Scenario.Scenario)
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

// repeatedBy reports whether the simulator repeats the run.
func (s Shown) repeatedBy(simulator runner.Backend) bool {
	return s.Run.TraceHash != "" && s.Run.Backend == simulator.Name && !s.Run.Cut && s.Run.Report.Cut == "" && len(s.Run.Scenario.Clients) > 0
}
