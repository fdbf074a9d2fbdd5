package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Validation is what runs with other seeds showed of a setting.
type Validation struct {
	FirstSeed uint64 `json:"first_seed"`
	LastSeed  uint64 `json:"last_seed"`

	Grants        int           `json:"grants"`      // in everyday runs
	AcquireP99    time.Duration `json:"acquire_p99"` // with its 95 % interval
	AcquireP99Min time.Duration `json:"acquire_p99_min"`
	AcquireP99Max time.Duration `json:"acquire_p99_max"`

	Trials         []Trial  `json:"trials"`
	Skipped        []string `json:"skipped,omitempty"` // trials that would have taken too many requests
	Contradictions []string `json:"contradictions"`    // unexpected results; none: the setting is validated

	files map[string]scenarios.Scenario // the first of each trial that is no control
}

// Trial is a test of a setting: K of N runs, or grants, violated a property.
type Trial struct {
	Name      string           `json:"name"`
	What      string           `json:"what"`
	Property  checker.Property `json:"property"`
	Runs      int              `json:"runs"`
	K         int              `json:"violations"`
	N         int              `json:"of"`
	Open      int              `json:"left_open,omitempty"` // runs without a verdict
	PerGrant  bool             `json:"per_grant"`           // N counts grants, not runs
	Low       float64          `json:"low"`                 // Wilson's 95 % interval
	High      float64          `json:"high"`
	Predicted float64          `json:"predicted"`         // upper bound by the model
	Control   bool             `json:"control,omitempty"` // runs have to violate it, because what the setting relies on is broken

	draw func(rng) scenarios.Scenario
}

// Outcome says what the runs showed.
func (t Trial) Outcome() string {
	of := "run"
	if t.PerGrant {
		of = "grant"
	}
	text := fmt.Sprintf("%d of %s violated %s exclusion", t.K, textfmt.Count(t.N, of), t.Property)
	if t.Control {
		return text + ", and all have to"
	}
	return text + fmt.Sprintf(": %.2g to %.2g at 95 %%, at most %.2g according to the model", t.Low, t.High, t.Predicted)
}

// contradicts reports whether there were more violations than the model allows, or no test.
func (t Trial) contradicts() bool {
	return t.N == 0 || t.Control && t.K == 0 || !t.Control && t.K > 0 && t.Low > t.Predicted
}

const (
	everydayRounds = 10 // how often each client of an everyday run takes the lock, at most

	// defaultMaxRequests bounds the requests of all everyday runs. Two cores simulate as many in half a minute.
	defaultMaxRequests = 20_000_000

	eventsPerRequest = 100 // more than there are in the simulator: about 20
)

// trials plans the trials of a setting.
func (m *model) trials(o Options, w Weighed) []Trial {
	most, clients := float64(cmp.Or(o.maxRequests, defaultMaxRequests)), float64(min(m.Contention.Clients, maxClients))
	round := clients * (2*float64(m.Nodes) + max(clients-1, 1)*time.Duration(m.hold).Seconds()*w.RequestsPerSecond) // requests of each client's hold
	rounds := max(1, min(everydayRounds, int(most/2/round)))
	everyday := min(max(o.Runs/5, 2), int(most/round/float64(rounds)))
	return []Trial{
		{Name: "everyday", What: "clients and pauses as stated", Property: checker.Effect, PerGrant: true, Predicted: w.Violations, Runs: everyday, draw: func(d rng) scenarios.Scenario {
			s := m.everyday(w.Setting, d, rounds, true, 1)
			s.MaxEvents = max(nemesis.DefaultMaxEvents, int(eventsPerRequest*round*float64(rounds)))
			return s
		}},
		{Name: "edge", What: fmt.Sprintf("a hold to the last instant with the worst clocks and steps; in half of the runs nodes of its quorum crash, and return after %v", w.RestartDelay),
			Property: checker.Lease, Runs: max(o.Runs, 2), draw: func(d rng) scenarios.Scenario { return m.edge(w.Setting, d.Uint64()%2 == 0, d.Float64()) }},
		{Name: "too early", What: m.tooEarly(w.Setting).Summary, Property: checker.Lease, Predicted: 1, Control: true, Runs: max(o.Runs/10, 2),
			draw: func(rng) scenarios.Scenario { return m.tooEarly(w.Setting) }},
	}
}

// validate runs the trials of a setting.
func (m *model) validate(ctx context.Context, o Options, w Weighed, want Wanted, first uint64) (Validation, error) {
	v := Validation{FirstSeed: first, LastSeed: first - 1, Contradictions: []string{}, files: map[string]scenarios.Scenario{}}
	for _, t := range m.trials(o, w) {
		if t.Runs < 2 {
			v.Skipped = append(v.Skipped, t.Name+": not run, because two runs would send too many requests")
			continue
		}
		seed := v.LastSeed + 1
		tally, took, err := batch{o.Backend, seed, o.step(t.Name, t.Runs)}.run(ctx, t.Runs, t.draw)
		if err != nil {
			return v, fmt.Errorf("%s: %w", t.Name, err)
		}
		v.LastSeed += uint64(t.Runs)
		rate := tally.Rate(t.Property)
		if t.PerGrant {
			rate = tally.PerGrant(t.Property)
			v.Grants = tally.Measured.All().Grants
			v.AcquireP99, v.AcquireP99Min, v.AcquireP99Max = took.p99()
		}
		t.Open, t.K, t.N = tally.Seen[t.Property][checker.Unknown], rate.K, rate.N
		t.Low, t.High = rate.Wilson()
		v.Trials = append(v.Trials, t)
		if t.contradicts() {
			v.Contradictions = append(v.Contradictions, t.Name+": "+t.Outcome())
		}
		if !t.Control {
			v.files[fmt.Sprintf("%s-seed-%d.yaml", t.Name, seed)] = tally.Scenario
		}
	}
	if want.AcquireP99 > 0 && v.AcquireP99Min > want.AcquireP99 {
		v.Contradictions = append(v.Contradictions, fmt.Sprintf("everyday: acquire p99 was at least %v at 95 %%, more than the %v wanted", v.AcquireP99Min, want.AcquireP99))
	}
	return v, nil
}

// batch is runs of scenarios that are drawn anew for each run.
type batch struct {
	backend runner.Backend
	seed    uint64 // of the first run
	step    func() // after each run
}

// run makes n runs, each of a scenario drawn from its own seed. The tally has the first of
// them. A scenario is drawn when its run begins: drawing a million of them beforehand would
// take a minute without any sign of progress, and could not be stopped.
func (d batch) run(ctx context.Context, n int, scenario func(rng) scenarios.Scenario) (runner.Tally, waits, error) {
	draw := func(seed uint64) (runner.Experiment, error) {
		return runner.Prepare(d.backend, scenario(newRNG(seed)))
	}
	first, err := draw(d.seed)
	if err != nil {
		return runner.Tally{}, nil, err
	}
	var all waits // in no order
	var mutex sync.Mutex
	one := func(ctx context.Context, seed uint64) (runner.Result, error) {
		e, err := draw(seed)
		if err != nil {
			return runner.Result{}, err
		}
		meter := newWaitMeter()
		r, err := e.Run(ctx, seed, meter)
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, meter.whole()...)
		return r, err
	}
	tally, err := runner.Batch{Experiment: first, First: d.seed, Runs: n, One: one, Each: func(runner.Result) { d.step() }}.Run(ctx)
	return tally, all, cmp.Or(err, ctx.Err())
}

// waits are the times from when the lock was both wanted and free to the grants.
type waits []time.Duration

// waitMeter is a [history.Sink] that measures the waits of one run, which has one resource.
type waitMeter struct {
	waits
	wanted map[int]history.Time // since when, by client
	still  map[int]bool         // the client was paused meanwhile, which no setting prevents
	held   map[string]bool      // by token
	free   history.Time         // since when the lock is free
	last   history.Time         // the last event
}

func newWaitMeter() *waitMeter {
	return &waitMeter{wanted: map[int]history.Time{}, still: map[int]bool{}, held: map[string]bool{}}
}

// Record implements [history.Sink].
func (w *waitMeter) Record(e *history.Event) {
	w.last = e.Time
	switch e.Kind {
	case history.Acquire:
		if _, waits := w.wanted[e.Client]; !waits {
			w.wanted[e.Client] = e.Time
		}
	case history.Granted:
		if !w.still[e.Client] {
			w.waits = append(w.waits, e.Time.Sub(max(w.wanted[e.Client], w.free)))
		}
		delete(w.wanted, e.Client)
		delete(w.still, e.Client)
		w.held[e.Token] = true
	case history.Release, history.Lapse, history.Lost:
		if w.held[e.Token] {
			delete(w.held, e.Token)
			w.free = e.Time
		}
	case history.Pause:
		if _, waits := w.wanted[e.Client]; waits {
			w.still[e.Client] = true
		}
	}
}

// whole returns all waits at the end of the run. Unfinished ones are included, so that a
// setting under which a client starves does not look fast.
func (w *waitMeter) whole() waits {
	all := slices.Clone(w.waits)
	for client, since := range w.wanted {
		if !w.still[client] && len(w.held) == 0 {
			all = append(all, w.last.Sub(max(since, w.free)))
		}
	}
	return all
}

// p99 returns the 99th percentile and its 95 % interval. The interval is distribution-free:
// how many of n values lie below the percentile is binomial. Without values it returns 0.
func (w waits) p99() (value, lo, hi time.Duration) {
	if len(w) == 0 {
		return 0, 0, 0
	}
	list := slices.Sorted(slices.Values(w))
	n := float64(len(list))
	half := 1.96 * math.Sqrt(n*0.99*0.01)
	at := func(rank float64) time.Duration {
		return list[min(max(int(math.Ceil(rank))-1, 0), len(list)-1)]
	}
	return at(0.99 * n), at(0.99*n - half), at(0.99*n + half + 1)
}
