package tune

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
)

func ptr[T any](v T) *T { return &v }

// small is a question with a quick answer.
func small() Question {
	return Question{
		Known: Known{
			Nodes:      3,
			RoundTrip:  uniform(500*time.Microsecond, 1500*time.Microsecond),
			Clocks:     Clocks{RatePPM: 20_000, LargestStep: 20 * ms},
			Pauses:     []Pause{{time.Minute, uniform(0, 30*ms)}},
			Hold:       uniform(20*ms, 20*ms),
			Contention: Contention{Clients: 2, Think: uniform(20*ms, 60*ms)},
		},
		Want: Wanted{Availability: 0.99, AcquireP99: 50 * ms, ViolationsPerBillion: ptr(1.0)},
	}
}

func options(runs int) Options { return Options{Backend: simulated.Backend(), Runs: runs, Seed: 1} }

func advise(t *testing.T, q Question, runs int) Advice {
	t.Helper()
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := Advise(t.Context(), q, options(runs))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The recommendation has been run with its own seeds, and meets the wishes. The same seed
// gives the same advice.
func TestAdviceIsValidated(t *testing.T) {
	q := small()
	a := advise(t, q, 40)
	if a.Refusal != "" || len(a.Rejected) > 0 {
		t.Fatalf("refused: %s, rejected: %+v", a.Refusal, a.Rejected)
	}
	w, v := a.Recommended, a.Validation
	if missed := q.Want.missed(w.Figures, noHeadroom); len(missed) > 0 {
		t.Errorf("wishes missed: %v", missed)
	}
	if v.FirstSeed <= 1+scoutRuns || v.Grants == 0 || v.AcquireP99Min > v.AcquireP99 || v.AcquireP99 > v.AcquireP99Max {
		t.Errorf("validated by %+v", v)
	}
	var names []string
	for _, one := range v.Trials {
		names = append(names, one.Name)
		if one.N == 0 || (one.K == 0) == one.Control || one.Open != 0 || one.High <= 0 {
			t.Errorf("%+v", one)
		}
	}
	if want := []string{"everyday", "edge", "too early"}; !slices.Equal(names, want) || len(a.Scenarios) != 4 {
		t.Errorf("trials %v, and %d scenarios", names, len(a.Scenarios))
	}
	again, _ := json.Marshal(advise(t, q, 40))
	if first, _ := json.Marshal(a); string(first) != string(again) {
		t.Errorf("the same seed gives another advice:\n%s\n%s", first, again)
	}
}

// Every ranked setting satisfies the formulas, has the required headroom, and meets all wishes
// by its figures.
func TestRankedSettingsKeepToTheFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := small()
		q.Clocks = drawClocks(t)
		q.Nodes = rapid.IntRange(1, 7).Draw(t, "nodes")
		pause := time.Duration(rapid.IntRange(0, 2000).Draw(t, "pause")) * ms
		q.Pauses = []Pause{{time.Hour, uniform(pause, pause)}}
		hold := time.Duration(rapid.IntRange(1, 20_000).Draw(t, "hold")) * ms
		q.Hold = uniform(hold, hold)
		q.LongestTTL = time.Minute
		m := newModel(q.Known)
		all := m.weigh(map[timing]time.Duration{})
		for _, w := range q.Want.ranked(all) {
			s := w.Setting
			switch {
			case s.Allowance() < q.Clocks.NeededAllowance(s.TTL):
				t.Fatalf("%+v: the allowance is too small", s)
			case s.RestartDelay < q.Clocks.NeededRestartDelay(s.TTL, s.Allowance()):
				t.Fatalf("%+v: the restart delay is too short", s)
			case s.ExtendEvery == 0 && s.Validity()-hold < pause, s.Validity()-s.ExtendEvery < pause:
				t.Fatalf("%+v: a pause of %v outlasts the lease of a hold of %v", s, pause, hold)
			case s.ExtendEvery > 0 && s.ExtendEvery+failuresAllowed*(s.NodeTimeout+min(s.ExtendEvery/4, s.NodeTimeout))+2*s.NodeTimeout > s.Validity()-s.Margin:
				t.Fatalf("%+v: %d failed extensions leave no room for another", s, failuresAllowed)
			case len(q.Want.missed(w.Figures, noHeadroom)) > 0:
				t.Fatalf("%+v misses %v", w, q.Want.missed(w.Figures, noHeadroom))
			}
			lock := s.Lock()
			if err := form.Check(&lock); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
		}
	})
}

// No setting of the front is dominated, every other setting is dominated or equalled by one of
// it, and only one of equal settings is in it.
func TestFrontIsThatOfPareto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Weighed
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			all = append(all, Weighed{Figures: Figures{
				Availability: float64(rapid.IntRange(0, 3).Draw(t, "availability")), AcquireP99: time.Duration(rapid.IntRange(0, 3).Draw(t, "p99")),
				Violations: float64(rapid.IntRange(0, 3).Draw(t, "violations")) / 4, Late: float64(rapid.IntRange(0, 1).Draw(t, "late")), // which is not compared
			}})
		}
		got := paretoFront(all)
		for i, a := range got {
			for _, b := range all {
				if atLeastAsGood(b.Figures, a.Figures) && !atLeastAsGood(a.Figures, b.Figures) {
					t.Errorf("%+v is on the front, and %+v beats it", a.Figures, b.Figures)
				}
			}
			if slices.ContainsFunc(got[:i], func(b Weighed) bool { return atLeastAsGood(b.Figures, a.Figures) }) {
				t.Errorf("%+v is on the front beside what is as good", a.Figures)
			}
		}
		for _, a := range all {
			if !slices.ContainsFunc(got, func(b Weighed) bool { return atLeastAsGood(b.Figures, a.Figures) }) {
				t.Errorf("nothing on the front is as good as %+v", a.Figures)
			}
		}
	})
}

// planted returns a setting that a wrong model considers good.
func planted(t *testing.T, q Question, change func(*Setting)) (*model, Weighed) {
	t.Helper()
	m := newModel(q.Known)
	for _, s := range m.candidates(5 * ms) {
		if s.ExtendEvery == 0 && s.Validity()-s.NodeTimeout-q.Hold.Max > 60*ms {
			s.RetryMin, s.RetryMax = ms, 5*ms
			w := Weighed{s, m.figures(s)}
			change(&w.Setting)
			return m, w
		}
	}
	t.Fatal("no setting is good")
	return nil, Weighed{}
}

// Runs contradict each wrong figure, and no right one.
func TestValidationContradictsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Setting)
		known  func(*Question)
		trial  string // empty: none
	}{
		"nothing":        {func(*Setting) {}, func(*Question) {}, ""},
		"zones":          {func(*Setting) {}, func(q *Question) { q.Zones = []Zone{{2, q.RoundTrip}, {1, uniform(2*ms, 4*ms)}} }, ""},
		"drift factor":   {func(s *Setting) { s.DriftFactor = 0 }, func(q *Question) { q.Clocks.LargestStep = 0 }, "edge"},
		"step":           {func(s *Setting) { s.DriftFactor = 0.06 }, func(q *Question) { q.Clocks = Clocks{LargestStep: 60 * ms} }, "edge"},
		"restart delay":  {func(s *Setting) { s.RestartDelay /= 4 }, func(*Question) {}, "edge"},
		"unsynced key":   {func(s *Setting) { s.RestartDelay /= 4 }, func(q *Question) { q.Crashes.Persistence = nemesis.EverySecond }, "edge"},
		"pauses":         {func(s *Setting) { s.TTL = 50 * ms; s.Margin = 0; s.RestartDelay = 80 * ms }, func(q *Question) { q.Clocks, q.Pauses = Clocks{}, []Pause{{30 * ms, uniform(30*ms, 60*ms)}} }, "everyday"},
		"retry delay":    {func(s *Setting) { s.RetryMin, s.RetryMax = 100*ms, 500*ms }, func(*Question) {}, "everyday"},
		"fence, restart": {func(s *Setting) { s.RestartDelay /= 4 }, func(q *Question) { q.FenceChecked = true }, "edge"},
	} {
		t.Run(name, func(t *testing.T) {
			q := small()
			c.known(&q)
			m, w := planted(t, q, c.change)
			w.Violations = 0 // the model does not know
			v, err := m.validate(t.Context(), options(60), w, q.Want, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if c.trial == "" {
				if len(v.Contradictions) > 0 {
					t.Errorf("contradicted: %v", v.Contradictions)
				}
				return
			}
			if !slices.ContainsFunc(v.Contradictions, func(s string) bool { return strings.HasPrefix(s, c.trial+":") }) {
				t.Errorf("%s does not contradict: %v; %+v", c.trial, v.Contradictions, v.Trials)
			}
		})
	}
}

// An advice is loaded as it was stored, but for its scenarios. A file that is no advice is rejected.
func TestStoredAdviceIsLoaded(t *testing.T) {
	text, err := json.Marshal(advise(t, small(), 5))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(write(t, string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(loaded); err != nil || !bytes.Equal(again, text) {
		t.Errorf("%v: stored\n%s\nloaded\n%s", err, text, again)
	}
	for _, other := range []string{"{}", `{"findings": []}`, string(text[:len(text)/2])} {
		if a, err := Load(write(t, other)); err == nil || !strings.Contains(err.Error(), "q.yaml: ") {
			t.Errorf("%s is loaded as %+v, %v", other, a, err)
		}
	}
}

// A control that shows no violation contradicts the setting: its trial tests nothing.
func TestControlHasToFail(t *testing.T) {
	for k, contradicted := range map[int]bool{0: true, 1: false, 10: false} {
		trial := Trial{Name: "too early", Property: checker.Lease, Runs: 10, K: k, N: 10, Low: 0.5, Predicted: 1, Control: true}
		if trial.contradicts() != contradicted {
			t.Errorf("%d of 10: %s", k, trial.Outcome())
		}
	}
}

// A contradicted setting is reported and dropped for the next.
func TestContradictedSettingsAreDropped(t *testing.T) {
	q := small()
	q.Clocks.LargestStep = 0
	m, good := planted(t, q, func(*Setting) {})
	bad := good
	bad.DriftFactor = 0
	bad.TTL -= ms // preferred
	a, err := m.answer(t.Context(), q.Want, options(60), []Weighed{bad, good})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rejected) != 1 || !strings.HasPrefix(a.Rejected[0], "a TTL of "+bad.TTL.String()) || a.Recommended == nil || *a.Recommended != good {
		t.Errorf("rejected %+v, recommended %+v", a.Rejected, a.Recommended)
	}
	if a, err = m.answer(t.Context(), q.Want, options(60), []Weighed{bad}); err != nil || a.Recommended != nil || !strings.Contains(a.Refusal, "violated lease exclusion") {
		t.Errorf("refused: %q, %v", a.Refusal, err)
	}
}

// Advice that is stopped during a validation has what the model recommends, and says so.
func TestStoppedAdviceIsTheModels(t *testing.T) {
	q, whole := small(), advise(t, small(), 40)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o := options(40)
	o.Progress = func(what string, _, _ int) {
		if what == "edge" {
			stop()
		}
	}
	a, err := Advise(ctx, q, o)
	if !errors.Is(err, context.Canceled) || a.Recommended == nil || *a.Recommended != *whole.Recommended || a.Validation != nil || a.Unvalidated == "" || len(a.Basis) != len(whole.Basis) {
		t.Errorf("%v: %+v", err, a)
	}
}

// Holds of an hour take a bounded number of requests: there are fewer everyday runs, and then
// none, which the advice says. Nothing is contradicted for want of a verdict.
func TestLongHoldsAreBounded(t *testing.T) {
	q := small()
	q.Hold = uniform(6*time.Minute, 12*time.Minute)
	q.Contention.Clients = 3
	q.Clocks = Clocks{RatePPM: 500}
	q.Want = Wanted{ViolationsPerBillion: ptr(1.0)}
	for most, skipped := range map[int]bool{2_000_000: false, 20_000: true} {
		o := options(10)
		o.maxRequests = most
		a, err := Advise(t.Context(), q, o)
		if err != nil || a.Recommended == nil || a.Validation == nil {
			t.Fatalf("%v: %+v", err, a)
		}
		if got := strings.HasPrefix(a.Unvalidated, "everyday: not run"); got != skipped {
			t.Errorf("with %d requests: %q; %+v", most, a.Unvalidated, a.Validation.Trials)
		}
		for _, trial := range a.Validation.Trials {
			if trial.Open > 0 || trial.N == 0 {
				t.Errorf("with %d requests: %+v", most, trial)
			}
		}
	}
}

// Wishes that no setting can meet are refused. The reason names the wish and the cause.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Question)
		want   []string
	}{
		"too few samples of pauses": {func(q *Question) {
			q.Pauses = []Pause{{time.Second, Length{Max: time.Hour, Samples: []time.Duration{ms, 2 * ms}}}}
		}, []string{wishViolations, "longest_ttl is 10m)", "pauses exceed", "fence_checked"}},
		"nodes that are seldom there": {func(q *Question) { q.Crashes = Crashes{NodeEvery: 100 * ms} }, []string{wishAvailability, "0.01 of the time may be lost", "a crashed node stays away for"}},
		"impatience":                  {func(q *Question) { q.Want.AcquireP99 = 600 * time.Microsecond }, []string{wishAcquire, "600µs is wanted"}},
		"long holds":                  {func(q *Question) { q.Hold, q.NoExtension = uniform(time.Hour, time.Hour), true }, []string{wishHold, "holds of 1h outlive their leases"}},
		"clocks":                      {func(q *Question) { q.Clocks = Clocks{400_000, 90 * ms}; q.LongestTTL = 100 * ms }, []string{"no TTL leaves any validity (longest_ttl is 100ms)", "400000 ppm"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := small()
			c.change(&q)
			if err := q.Validate(); err != nil {
				t.Fatal(err)
			}
			m, scouted := newModel(q.Known), map[timing]time.Duration{}
			for _, p := range m.timings() {
				scouted[p] = 10 * ms
			}
			a, err := m.answer(t.Context(), q.Want, options(5), m.weigh(scouted))
			for _, want := range c.want {
				if !strings.Contains(a.Refusal, want) {
					t.Errorf("refused by %q, which does not tell of %q", a.Refusal, want)
				}
			}
			if a.Recommended != nil || err != nil {
				t.Errorf("recommended: %+v, %v", a.Recommended, err)
			}
		})
	}
}

// An error names an invalid or contradictory value before anything runs.
func TestBadQuestions(t *testing.T) {
	for want, change := range map[string]func(*Question){
		"want.availability: 1.5":                               func(q *Question) { q.Want.Availability = 1.5 },
		"want.violations_per_billion: -1":                      func(q *Question) { q.Want.ViolationsPerBillion = ptr(-1.0) },
		"pauses: missing: whatever the TTL":                    func(q *Question) { q.Pauses = nil },
		"pauses[0].length.max: missing":                        func(q *Question) { q.Pauses[0].Length = Length{} },
		"pauses[0].every: 0s: want more":                       func(q *Question) { q.Pauses[0].Every = 0 },
		"clocks.rate_ppm: -5":                                  func(q *Question) { q.Clocks.RatePPM = -5 },
		"clocks.largest_step: -1s is negative":                 func(q *Question) { q.Clocks.LargestStep = -time.Second },
		"clocks.largest_step: a step of 1h outlasts every TTL": func(q *Question) { q.Clocks.LargestStep = time.Hour },
		"nodes: 0":                                  func(q *Question) { q.Nodes = 0 },
		"round_trip: missing":                       func(q *Question) { q.RoundTrip = Length{} },
		"round_trip: zones have":                    func(q *Question) { q.Zones = []Zone{{3, q.RoundTrip}} },
		"zones: they have 2 nodes":                  func(q *Question) { q.Zones, q.RoundTrip = []Zone{{2, q.RoundTrip}}, Length{} },
		"zones[0].nodes: 0: want 1 to 64":           func(q *Question) { q.Zones, q.RoundTrip = []Zone{{0, q.RoundTrip}}, Length{} },
		"zones[0].round_trip: missing":              func(q *Question) { q.Zones, q.RoundTrip = []Zone{{3, Length{}}}, Length{} },
		"hold: missing":                             func(q *Question) { q.Hold = Length{} },
		"ttl: 2s is longer than longest_ttl":        func(q *Question) { q.TTL, q.LongestTTL = 2*time.Second, time.Second },
		"ttl: 100.5ms: want whole milliseconds":     func(q *Question) { q.TTL = 100*ms + ms/2 },
		"contention.clients: 0":                     func(q *Question) { q.Contention.Clients = 0 },
		`crashes.persistence: unknown value "some"`: func(q *Question) { q.Crashes.Persistence = "some" },
	} {
		q := small()
		change(&q)
		err := q.Validate()
		var wrong *nemesis.FieldError
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &wrong) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
