package hunt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// Hunt is a search for runs that break what is promised.
type Hunt struct {
	Backend storm.Backend
	Ground  Ground

	// Terms says what of a scenario is promised, and under which assumptions.
	Terms func(scenarios.Scenario) assume.Terms

	// Wanted are the properties whose violations are looked for; none: all.
	Wanted []checker.Property

	// Faults are the weights of the kinds of faults, and Most the largest number of
	// faults of a plan.
	Faults nemesis.Weights
	Most   int

	// Seed is what everything follows from.
	Seed uint64

	// Blind hunts do without guidance: every candidate is drawn anew.
	Blind bool

	// Each is called for every run, in their order, on the caller's goroutine. When it
	// returns false the hunt ends.
	Each func(Shot) bool
}

// Shot is one run of a hunt.
type Shot struct {
	Number int // from 1
	Candidate
	Result storm.Result
	Broken []checker.Property // of those wanted: what it breaks

	// Contended says that some fault began while a client held what another wanted.
	Contended bool
}

// round is how many runs are drawn at a time. What a run has shown guides those of
// later rounds, so that a hunt does not depend on which run of a round ends first.
const round = 64

// Run hunts until ctx ends, which is no error, or Each returns false.
func (h Hunt) Run(ctx context.Context) error {
	for first := 1; ctx.Err() == nil; first += round {
		shots := make([]Shot, round)
		for i := range shots {
			c, err := h.draw(first + i)
			if err != nil {
				return err
			}
			shots[i] = Shot{Number: first + i, Candidate: c}
		}
		if err := h.shoot(ctx, shots); err != nil {
			return err
		}
		for _, s := range shots {
			if s.Result.Interrupted || ctx.Err() != nil {
				return nil
			}
			if !h.Each(s) {
				return nil
			}
		}
	}
	return nil
}

// draw makes the candidate of a number.
func (h Hunt) draw(number int) (Candidate, error) {
	random := rand.New(nemesis.Stream(h.Seed, fmt.Sprintf("hunt %d", number)))
	s := h.Ground.Draw(random)
	seed := random.Uint64() >> 32
	g, err := nemesis.Generator{Faults: h.Faults, Most: h.Most}.Only(s.World(), h.Backend.Ability)
	if err != nil {
		return Candidate{}, err
	}
	admits := func(nemesis.Fault) bool { return true }
	a, promised := h.within(s, random)
	if promised {
		admits = func(f nemesis.Fault) bool { return a.Admits(f, s) }
	}
	s.Plan = plan(g, s, admits, random)
	if promised {
		s = a.Keep(s) // faults can be outside together
	}
	return Candidate{s, seed}, nil
}

// within draws the assumptions that the plan of a scenario keeps to: those of one of
// the properties that are wanted and promised.
func (h Hunt) within(s scenarios.Scenario, random *rand.Rand) (assume.Assumptions, bool) {
	terms := h.Terms(s)
	var promised []checker.Property
	for _, p := range checker.Properties() {
		if _, ok := terms[p]; ok && h.wants(p) {
			promised = append(promised, p)
		}
	}
	if len(promised) == 0 {
		return assume.Assumptions{}, false
	}
	return terms[promised[random.IntN(len(promised))]], true
}

func (h Hunt) wants(p checker.Property) bool {
	return len(h.Wanted) == 0 || slices.Contains(h.Wanted, p)
}

// shoot makes the runs on all cores.
func (h Hunt) shoot(ctx context.Context, shots []Shot) error {
	var group sync.WaitGroup
	next := make(chan *Shot)
	errs := make([]error, len(shots))
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for s := range next {
				errs[(s.Number-1)%round] = h.run(ctx, s)
			}
		})
	}
	for i := range shots {
		next <- &shots[i]
	}
	close(next)
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("run %d of the hunt with seed %d: %w", shots[i].Number, h.Seed, err)
		}
	}
	return nil
}

func (h Hunt) run(ctx context.Context, s *Shot) (err error) {
	watch := newContention()
	s.Result, err = s.Candidate.Run(ctx, h.Backend, watch)
	if err != nil || s.Result.Interrupted {
		return err
	}
	s.Contended = watch.seen
	s.Broken = slices.DeleteFunc(h.Terms(s.Scenario).Breaches(s.Scenario, s.Result.Report), func(p checker.Property) bool { return !h.wants(p) })
	return nil
}
