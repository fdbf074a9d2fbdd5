package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Experiment is a scenario on a backend, with everything that is the same in each of its
// runs. Only [Prepare] and [PrepareExternal] make one, so an experiment can be run. Its
// runs may go side by side.
type Experiment struct {
	participants
	backend   Backend
	world     nemesis.Setting // the scenario's, made ready
	generator *nemesis.Generator
	header    history.Header // but for the seed
	course    Course         // that its runs take
	driver    choice.Driver  // of its next run, in place of that of the course; may be nil
	reader    func(*timeline.Timeline)
	judged    []checker.Property // nil: all
	watcher   Watcher            // nil: nobody watches
}

// Prepare checks that a scenario can be run on a backend, without starting
// anything. It returns an [UnfitError] for a scenario that another backend might
// run.
func Prepare(b Backend, s scenarios.Scenario) (Experiment, error) { return prepare(b, s, findLock) }

// prepare is Prepare with a function that finds the lock by its name.
func prepare(b Backend, s scenarios.Scenario, find func(name string) (lockKind, error)) (Experiment, error) {
	if err := s.Validate(); err != nil {
		return Experiment{}, err
	}
	c, err := newParticipants(s, find)
	if err != nil {
		return Experiment{}, err
	}
	if b, err = c.lock.on(b, s); err != nil {
		return Experiment{}, err
	}
	if err := checkPlan(b, s.Plan); err != nil {
		return Experiment{}, err
	}
	generator, err := generatorOn(b, s)
	if err != nil {
		return Experiment{}, err
	}
	c.scenario = withoutUnjudged(b, s)
	e := Experiment{
		participants: c, backend: b, world: s.World().Ready(), generator: generator,
		header: history.Header{
			Format:     history.Format,
			Version:    history.Version,
			Scenario:   s.Name,
			Lock:       s.Lock.Kind,
			Backend:    b.Name,
			Nodes:      s.Nodes,
			Clients:    len(s.Clients),
			LongestTTL: s.LongestTTL(),
			UntilClock: history.ClientClock,
			Keys:       b.Keys,
			Watched:    b.Watched,
			Bounds:     s.Bounds,
		},
	}
	c.lock.describe(&e.header, s.Lock)
	if c.lock.connected {
		store := *e.world.Store
		store.KeepAlive = s.Lock.TTL
		e.world.Store = &store
	}
	return e, nil
}

// UnfitError is a scenario that a backend cannot run, though there is nothing wrong
// with it.
type UnfitError struct {
	Path   string // of the field that the backend cannot do what it says
	Reason error
}

func (e *UnfitError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the [nemesis.FieldError] that it is as well.
func (e *UnfitError) Unwrap() error { return &nemesis.FieldError{Path: e.Path, Err: e.Reason} }

// checkPlan returns an error with the position of the first fault that the backend does
// not support.
func checkPlan(b Backend, p nemesis.Plan) error {
	err := b.Refuse(p)
	var r *nemesis.RefusedError
	if errors.As(err, &r) {
		return &UnfitError{fmt.Sprintf("plan[%d].%s", r.Fault-1, r.Kind), r}
	}
	return err
}

// withoutUnjudged returns the scenario without the expectations that cannot be checked on
// the backend: without the nodes' keys there is no verdict on clean-up and on backing. If they are recorded late, only
// some violations of backing are seen.
func withoutUnjudged(b Backend, s scenarios.Scenario) scenarios.Scenario {
	if s.Expect == nil {
		return s
	}
	s.Expect = maps.Clone(s.Expect)
	if !b.Keys {
		delete(s.Expect, checker.Cleanup)
	}
	switch want := s.Expect[checker.Backing]; {
	case !b.Keys || b.Watched && (want != checker.Violated || s.Store != nil):
		delete(s.Expect, checker.Backing)
	case b.Watched:
		s.Expect[checker.Backing] = checker.Unknown // either verdict is expected
	}
	return s
}

// Backend returns the backend that the experiment runs on.
func (e Experiment) Backend() Backend { return e.backend }

// Scenario returns the scenario with those of its expectations that can be checked on the
// backend.
func (e Experiment) Scenario() scenarios.Scenario { return e.scenario }

// WithEventLimit returns the experiment with a bound on the events of its runs, if it has none that
// is lower. It is no part of the scenario: what a run has shown by then it shows without the
// bound.
func (e Experiment) WithEventLimit(events int) Experiment {
	e.world.MaxEvents = min(events, e.world.EventLimit())
	return e
}

// WithReader returns the experiment with a reader of its runs. It is called with the timeline of each run
// before the first event, to observe it. If properties are named, these alone are judged, and nothing is
// measured.
func (e Experiment) WithReader(read func(*timeline.Timeline), only ...checker.Property) Experiment {
	e.reader, e.judged = read, only
	return e
}

// Header returns the header of a run's history.
func (e Experiment) Header(seed uint64) history.Header {
	h := e.header
	h.Seed = seed
	return h
}

// Plan returns the plan of a run: that of the scenario's world, and what its generator draws.
func (e Experiment) Plan(seed uint64) nemesis.Plan {
	return slices.Concat(e.scenario.World().Plan, e.draw(seed))
}

// Run runs the experiment once and checks the history while it runs. The history also goes
// to keep, unless that is nil. An error says that there was no valid run. When ctx ends,
// the run is checked as far as it got.
func (e Experiment) Run(ctx context.Context, seed uint64, keep history.Sink) (Result, error) {
	line := timeline.New(e.Header(seed))
	judge := checker.Of(line, e.judged...)
	if e.reader != nil {
		e.reader(line)
	}
	group := history.NewGroup(judge)
	sink := history.Sink(group)
	if keep != nil {
		sink = history.Tee(keep, group)
	}
	if e.watcher != nil {
		sink = history.Tee(sink, e.watcher)
	}
	drawn := e.draw(seed)
	setting := e.world
	setting.Plan = slices.Concat(setting.Plan, drawn)
	world, err := e.backend.Open(ctx, setting, seed, sink)
	if err != nil {
		return Result{}, &worldError{err}
	}
	e.openWatcher(world, e.Header(seed))
	result, err := e.runClients(ctx, world)
	if err = errors.Join(err, world.Close()); err != nil { // what is left behind is worth telling in any case
		err = &worldError{err}
	}
	result.Scenario, result.Plan = e.scenario, slices.Concat(e.scenario.World().Plan, drawn)
	result.Backend, result.Seed, result.Course = e.backend.Name, seed, e.course
	group.Close()
	result.Report = judge.Finish()
	return result, cmp.Or(err, selfContradiction(judge))
}

// RunWhole is Run without a sink for the history. It is an error if ctx ends before the run does.
func (e Experiment) RunWhole(ctx context.Context, seed uint64) (Result, error) {
	r, err := e.Run(ctx, seed, nil)
	if err == nil && r.Interrupted {
		err = context.Cause(ctx)
	}
	return r, err
}

// selfContradiction returns an error if a run's own history cannot be true. That is a
// defect of the harness and says nothing about the lock. A history that is too large to
// check is not an error: its report has unknown verdicts.
func selfContradiction(j *checker.Checker) error {
	var c *checker.Contradiction
	if errors.As(j.Err(), &c) && !c.TooMuch {
		return fmt.Errorf("the history of the run contradicts itself, so the run is worth nothing: event %d: %w", c.Event, c)
	}
	return nil
}

// runClients runs the clients in the world.
func (e Experiment) runClients(ctx context.Context, world World) (result Result, err error) {
	follower, err := e.drive(world)
	switch {
	case err != nil:
	case e.backend.ClientProcesses:
		err = e.runProcesses(ctx, world)
	default:
		err = e.runTasks(ctx, world)
	}
	if endedBy(ctx, err) {
		result.Interrupted, err = true, nil
	}
	result.Deviations = follower.deviations
	if hash, exact := world.Trace(); exact {
		result.TraceHash = hash
	}
	if counts, ok := world.(Driven); ok {
		result.Events = counts.Events()
	}
	result.SchedulingLag = world.SchedulingLag()
	return result, err
}

// runTasks runs the experiment with clients in this process.
func (e Experiment) runTasks(ctx context.Context, world World) error {
	users, rounds := make([]*user, 0, len(e.roles)), new(atomic.Int64)
	var err error
	for client := 1; client <= cap(users) && err == nil; client++ {
		var u *user
		if u, err = e.newUser(world, client, e.watcher, rounds); err == nil {
			users = append(users, u)
		}
	}
	if w, can := world.(abandoner); can {
		w.OnAbandon(func() {
			for _, u := range users {
				if l, can := u.lock.(abandonable); can {
					go l.Abandon()
				}
			}
		})
	}
	if err == nil {
		err = world.Run(ctx, func(client int) {
			users[client-1].run()
			users[client-1].leave(&e.header)
		})
	}
	for _, u := range users {
		err = errors.Join(err, u.close())
	}
	return err
}

// earlyCloser is a lock that its client can close while the run goes on, so that it shows what Close leaves behind.
type earlyCloser interface{ CloseEarly() }

// abandoner is a world that calls a function if a while after the end of a run a goroutine of a client has not ended.
type abandoner interface{ OnAbandon(func()) }

// abandonable is a lock that ends calls that do not return by themselves, such as those of a client that has died.
type abandonable interface{ Abandon() }

// leave closes the lock of a client that has made its rounds, and waits until its keys have to be gone.
func (u *user) leave(h *history.Header) {
	if l, can := u.lock.(earlyCloser); can {
		l.CloseEarly()
		if h.Keys {
			_ = u.runtime.Sleep(context.Background(), u.runtime.Now(env.Monotonic).Add(h.Bounds.Cleanup+time.Millisecond))
		}
	}
}

// runProcesses runs the experiment with clients in processes of their own, which cannot be
// watched.
func (e Experiment) runProcesses(ctx context.Context, world World) error {
	apart, ok := world.(ProcessWorld)
	if !ok || e.watcher != nil {
		return fmt.Errorf("on the %s backend clients cannot be processes of their own, or be watched there", e.backend.Name)
	}
	brief, err := json.Marshal(e.scenario)
	if err != nil {
		return err
	}
	return apart.RunProcesses(ctx, brief)
}

// worldError is an error of a world, such as a server that does not start.
type worldError struct{ error }

func (e *worldError) Unwrap() error { return e.error }

// Result is the result of one run.
type Result struct {
	// Scenario is the scenario that was run. Plan is the plan that was carried out, whose faults the
	// history numbers: that of the scenario's world and the faults that its generator drew.
	Scenario scenarios.Scenario
	Plan     nemesis.Plan
	Backend  string
	Seed     uint64
	Course   Course // that the run took

	// Deviations are the turns of the course in words, as in "node 2 loses its last change".
	Deviations []string

	// Report has the verdicts on the history.
	Report checker.Report

	// TraceHash is the hash of everything that happened if a repetition must have the same
	// hash; otherwise 0.
	TraceHash uint64

	// SchedulingLag is by how much events came later than planned, at most.
	SchedulingLag time.Duration

	// Events is the number of events of the run, which [nemesis.Setting.MaxEvents] limits;
	// 0: not counted.
	Events int

	// Interrupted says that the run was stopped before its end.
	Interrupted bool
}

// Slipped reports whether events came later than the scenario allows. The machine was then
// too slow for the plan, so the run neither confirms nor contradicts an expectation,
// whatever the checker found.
func (r Result) Slipped() bool {
	return r.SchedulingLag > 0 && r.SchedulingLag > r.Scenario.AllowedSlip()
}

// Unseen reports whether an expectation could not be checked because a watch of keys, or of entries, reported
// too little in time. It may if the machine is less busy.
func (r Result) Unseen() bool {
	if _, wanted := r.Scenario.Expect.Want(checker.Cleanup); !wanted {
		return false
	}
	f := r.Report.Finding(checker.Cleanup)
	return f.Verdict == checker.Unknown && slices.ContainsFunc(f.Events, func(e checker.Event) bool { return e.Role == checker.RoleUnseen })
}

// ReturnUntried reports whether no client tried to acquire after a node was back that the plan brings
// back, perhaps because the run ended before. Whatever the return may violate, such a run does not show
// it.
func (r Result) ReturnUntried() bool {
	return !r.Interrupted && r.Report.Cut == "" && slices.ContainsFunc(r.Report.Untried, func(number int) bool {
		return 1 <= number && number <= len(r.Plan) && r.Plan[number-1].BringsBack()
	})
}

// AsExpected reports whether this run alone shows what its scenario expects. A run that
// was cut short, or slipped, does not.
func (r Result) AsExpected() bool {
	return !r.Interrupted && !r.Slipped() && r.Report.Cut == "" && !r.matches(scenarios.Contradicted) && !r.matches(scenarios.Open)
}

// Contradicts reports whether this run shows something that no further run can change: an
// unexpected violation, or a verdict other than the expected one or unknown. A run that
// slipped does not.
func (r Result) Contradicts() bool { return !r.Slipped() && r.matches(scenarios.Contradicted) }

// matches reports whether the comparison of some finding with the expectation gives m.
func (r Result) matches(m scenarios.Match) bool {
	return slices.ContainsFunc(r.Report.Findings, func(f checker.Finding) bool {
		return r.Scenario.Expect.Judge(f.Property, f.Verdict) == m
	})
}

// Executed returns the scenario with its own plan as it is written and the faults that were drawn, and without
// its generator. With the seed it repeats the run.
func (r Result) Executed() scenarios.Scenario {
	s := r.Scenario
	if s.Generate != nil && r.SchedulingLag > 0 {
		s.SlipMargin = s.AllowedSlip() // which the faults that were drawn do not change
	}
	if s.Generate != nil {
		drawn := r.Plan[min(len(s.World().Plan), len(r.Plan)):] // a stored result may lack its plan
		s.Plan, s.Generate = slices.Concat(s.Plan, drawn), nil
	}
	return s
}

// Run prepares a scenario and runs it once: see [Experiment.Run].
func Run(ctx context.Context, b Backend, s scenarios.Scenario, seed uint64, keep history.Sink) (Result, error) {
	e, err := Prepare(b, s)
	if err != nil {
		return Result{}, err
	}
	return e.Run(ctx, seed, keep)
}

// WithGenerator returns the scenario with further faults that the generator draws. Its expectations
// and limits applied to its own plan only, so the result has none.
func WithGenerator(s scenarios.Scenario, g nemesis.Generator) scenarios.Scenario {
	s.Generate, s.Expect, s.Limits = &g, nil, scenarios.Limits{}
	return s
}

// generatorOn returns the scenario's generator, if it has one, without the kinds
// and features of faults that the backend cannot carry out or the setting has
// no room for. It is an error if the generator names one of those kinds.
func generatorOn(b Backend, s scenarios.Scenario) (*nemesis.Generator, error) {
	if s.Generate == nil {
		return nil, nil
	}
	g, err := s.Generate.Only(s.World(), b.Ability)
	var wrong *nemesis.FieldError
	if errors.As(form.In("generate", err), &wrong) {
		return nil, &UnfitError{wrong.Path, wrong.Err}
	}
	return &g, err
}

// draw draws the faults of a seed that come beside the scenario's plan, if there
// is a generator.
func (e Experiment) draw(seed uint64) nemesis.Plan {
	if e.generator == nil {
		return nil
	}
	return e.generator.Plan(e.world, e.scenario.Lock.TTL, nemesis.Stream(seed, nemesis.PlanStream))
}
