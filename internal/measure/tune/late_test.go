package tune

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/search/rare"
	"github.com/lockstorm/lockstorm/nemesis"
)

// paused is a question whose holds are late if one pause of a heavy tail is long.
func paused() (*model, Setting) {
	q := small()
	q.Clocks = Clocks{}
	q.Hold = uniform(100*ms, 100*ms)
	q.Pauses = Pauses{Every: time.Second, Length: &nemesis.Distribution{
		Range: nemesis.Range{Max: 2 * time.Second}, Pareto: &nemesis.Pareto{Scale: 5 * ms, Alpha: 2},
	}}
	return newModel(q.Known), Setting{
		TTL: 170 * ms, DriftFactor: leastDrift, NodeTimeout: 5 * ms, RetryMin: ms, RetryMax: 5 * ms, Margin: 20 * ms, RestartDelay: time.Second,
	}
}

// The model reckons the same as is estimated from runs, and a wrong model is seen.
func TestLateHoldersAreAsReckoned(t *testing.T) {
	m, s := paused()
	size := rare.Options{Particles: 100, Moves: 4, Repetitions: 6, Runs: 1_000_000, Seed: 1}
	late, err := m.estimateLate(t.Context(), options(1), Weighed{Setting: s}, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v: %s", late, late.Agreement())
	if len(late.Doubts) > 0 || late.Low > late.Reckoned || late.High < late.Reckoned/2 || late.Reckoned > 1e-2 {
		t.Errorf("%+v: want an interval about the reckoned figure", late)
	}
	late.Reckoned = late.Low / 2
	if text := late.Agreement(); !strings.HasSuffix(text, "they disagree") {
		t.Errorf("a model that reckons half of the least: %s", text)
	}
}
