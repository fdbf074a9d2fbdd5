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
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Validation is what runs with other seeds showed of a setting.
type Validation struct {
	Seeds Seeds `json:"seeds"`

	Grants int `json:"grants"` // in everyday runs

	AcquireP99    time.Duration `json:"acquire_p99"` // with its 95 % interval
	AcquireP99Min time.Duration `json:"acquire_p99_min"`
	AcquireP99Max time.Duration `json:"acquire_p99_max"`

	Trials []Trial `json:"trials"`

	// LateHolders compares the model with an estimate. Nil: it was not asked for.
	LateHolders *LateHolders `json:"late_holders,omitempty"`

	// Skipped lists trials that would have taken too many requests, and how many.
	Skipped []string `json:"skipped,omitempty"`

	// Contradictions lists unexpected results. Empty: the setting is validated.
	Contradictions []string `json:"contradictions"`

	scenarios []scenarios.Scenario // the first of each trial
	seeds     []uint64             // of these
}

// Seeds are the first and the last seed.
type Seeds struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
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
	Predicted float64          `json:"predicted"` // upper bound by the model

	// Control: what the setting relies on is broken, so runs have to violate the property. If none
	// does, the trial that it is the control of shows nothing.
	Control bool `json:"control,omitempty"`
}

// count counts the violations of runs.
func (t *Trial) count(runs runner.Tally) {
	rate := runs.Rate(t.Property)
	if t.PerGrant {
		rate = runs.PerGrant(t.Property)
	}
	t.Runs, t.Open, t.K, t.N = runs.Runs, runs.Seen[t.Property][checker.Unknown], rate.K, rate.N
	t.Low, t.High = rate.Wilson()
}

// contradiction says that there were more violations than the model allows, or returns "".
func (t Trial) contradiction() string {
	switch {
	case t.N == 0:
		return fmt.Sprintf("%s: no verdict in %d runs", t.Name, t.Runs)
	case t.Control && t.K == 0:
		return fmt.Sprintf("%s: no run of %d violated %s exclusion, though all have to: trials with restarts show nothing", t.Name, t.N, t.Property)
	case t.K > 0 && t.Low > t.Predicted:
		return fmt.Sprintf("%s: %s exclusion was violated %d times in %d; the model predicts %.3g at most (%s)", t.Name, t.Property, t.K, t.N, t.Predicted, t.What)
	}
	return ""
}

// everydayRounds is how often each client of an everyday run takes the lock, at most.
const everydayRounds = 10

// everydayRequests estimates the requests of a round of an everyday run, in which each client
// holds the lock once while the others wait.
func (m *model) everydayRequests(s Setting) float64 {
	clients := float64(min(m.Contention.Clients, maxClients))
	perSecond := (clients-1)*m.waiterRequests(s) + m.holderRequests(s)
	return clients * (2*float64(m.Nodes) + time.Duration(m.hold).Seconds()*perSecond)
}

// eventsPerRequest is more than the number of simulated events per request, which is about 20.
const eventsPerRequest = 100

// slipRequests estimates the requests of a slips run.
func (m *model) slipRequests(s slip) float64 {
	s.RetryMin, s.RetryMax = often(s.TTL).Min, often(s.TTL).Max
	return time.Duration(m.withHolds(s.longest).hold).Seconds() * (m.waiterRequests(s.Setting) + m.holderRequests(s.Setting))
}

// fitting returns how many of the runs of a trial fit into maxRequests, if each takes some
// requests. A trial of which less than two runs fit is skipped.
func (o Options) fitting(runs int, requests float64) int {
	n := int(min(float64(runs), float64(cmp.Or(o.maxRequests, defaultMaxRequests))/requests))
	if n < min(2, runs) {
		return 0
	}
	return n
}

// controlRuns is how many runs a control has: nearly all of them violate exclusion.
func controlRuns(runs int) int { return max(runs/10, 2) }

// plannedTrial is a trial and its runs.
type plannedTrial struct {
	Trial
	runs     int     // 0: they would take too long
	requests float64 // of a run, if that bounds the number of runs
	draw     func(rng) scenarios.Scenario
}

// trials plans the trials of a setting.
func (m *model) trials(o Options, w Weighed) []plannedTrial {
	round, everyday := m.everydayRequests(w.Setting), 0
	rounds := o.fitting(2*everydayRounds, round) / 2
	if rounds > 0 {
		everyday = o.fitting(max(o.Runs/5, 2), round*float64(rounds))
	}
	early := 0.0
	if m.earlyRestart(w.Setting) > 0 {
		early = 1 // the given restart delay is too short
	}
	list := []plannedTrial{
		{Trial{Name: "everyday", What: "clients, pauses and crashes as stated", Property: checker.Effect, PerGrant: true, Predicted: w.Risk.Total()},
			everyday, round, func(d rng) scenarios.Scenario {
				s := m.everyday(w.Setting, d, rounds, true, 1)
				s.MaxEvents = max(nemesis.DefaultMaxEvents, int(eventsPerRequest*round*float64(rounds)))
				return s
			}},
		{Trial{Name: "edge", What: "holds to the last instant with the worst clocks and steps", Property: checker.Lease},
			o.Runs, 0, func(d rng) scenarios.Scenario { return m.edge(w.Setting, d) }},
		{Trial{Name: "restart", What: m.describeRestart(w.Setting), Property: checker.Lease, Predicted: early},
			o.Runs, 0, func(rng) scenarios.Scenario { return m.restart(w.Setting) }},
		{Trial{Name: "too early", What: m.describeTooEarly(w.Setting), Property: checker.Lease, Predicted: 1, Control: true},
			controlRuns(o.Runs), 0, func(rng) scenarios.Scenario { return m.tooEarly(w.Setting) }},
	}
	if s, ok := m.slip(w); ok {
		each := m.slipRequests(s)
		list = append(list, plannedTrial{Trial{Name: "slips", What: s.describe(m), Property: checker.Effect, Predicted: s.predicted},
			o.fitting(o.Runs, each), each, func(d rng) scenarios.Scenario { return m.slips(s, d) }})
	}
	return list
}

// validate runs the trials of a setting.
func (m *model) validate(ctx context.Context, o Options, w Weighed, want Wanted, first uint64) (Validation, error) {
	v := Validation{Seeds: Seeds{First: first, Last: first - 1}}
	for _, t := range m.trials(o, w) {
		if t.runs == 0 {
			v.Skipped = append(v.Skipped, fmt.Sprintf("%s: not run, because a run would send about %.1g requests", t.Name, t.requests))
			continue
		}
		seed := v.Seeds.Last + 1
		tally, took, err := batch{o.Backend, seed, o.step(t.Name, t.runs)}.run(ctx, t.runs, t.draw)
		if err != nil {
			return v, fmt.Errorf("%s: %w", t.Name, err)
		}
		if v.Seeds.Last += uint64(t.runs); t.PerGrant {
			v.Grants = tally.Measured.All().Grants
			v.AcquireP99, v.AcquireP99Min, v.AcquireP99Max = took.p99()
		}
		t.count(tally)
		v.Trials = append(v.Trials, t.Trial)
		v.scenarios, v.seeds = append(v.scenarios, tally.Scenario), append(v.seeds, seed)
	}
	v.judge(want)
	return v, nil
}

// describe describes a slip.
func (s slip) describe(m *model) string {
	switch {
	case m.FenceChecked:
		return fmt.Sprintf("pauses of %v in every hold, longer than every lease; the fence has to reject the writes", *s.pauses.Bound)
	case s.pauses.Bound != nil:
		return fmt.Sprintf("a pause of %v in every hold", *s.pauses.Bound)
	}
	return fmt.Sprintf("accelerated: a pause every %v, under a TTL of %v", s.pauses.Every.Round(time.Millisecond), s.TTL)
}

// judge compares the measurements with the model and the wishes.
func (v *Validation) judge(want Wanted) {
	v.Contradictions = []string{}
	for _, t := range v.Trials {
		if text := t.contradiction(); text != "" {
			v.Contradictions = append(v.Contradictions, text)
		}
	}
	everyday := slices.ContainsFunc(v.Trials, func(t Trial) bool { return t.Name == "everyday" })
	switch {
	case !everyday:
	case v.Grants == 0:
		v.Contradictions = append(v.Contradictions, "everyday: no grants")
	case want.AcquireP99 > 0 && v.AcquireP99Min > want.AcquireP99:
		v.Contradictions = append(v.Contradictions, fmt.Sprintf("everyday: acquire p99 was %v, from %v to %v at 95 %%, more than the %v wanted",
			v.AcquireP99, v.AcquireP99Min, v.AcquireP99Max, want.AcquireP99))
	}
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
