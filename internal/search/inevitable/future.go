package inevitable

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// futures makes the futures of a run.
type futures struct {
	backend  runner.Backend
	scenario scenarios.Scenario // with the plan that was carried out
	seed     uint64
	course   runner.Course
	property checker.Property

	mu          sync.Mutex
	experiments map[uint64]runner.Experiment // by the faults that they have, as bits
}

// mostFaults is the largest number of faults of a plan.
const mostFaults = 64

// experiment returns the experiment with some of the faults.
func (f *futures) experiment(faults uint64) (runner.Experiment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.experiments[faults]; ok {
		return e, nil
	}
	s := f.scenario
	s.Plan = nil
	for i, fault := range f.scenario.Plan {
		if faults>>i&1 == 1 {
			s.Plan = append(s.Plan, fault)
		}
	}
	s.Expect, s.Limits = nil, scenarios.Limits{}
	e, err := runner.Prepare(f.backend, s)
	if err == nil {
		f.experiments[faults] = e
	}
	return e, err
}

// plan returns the faults of a future: those that have begun, and of each other one it is drawn whether
// it takes place.
func (f *futures) plan(begun, number uint64) uint64 {
	coins := rand.New(nemesis.Stream(number, "faults to come")).Uint64()
	return (begun | coins) & (1<<len(f.scenario.Plan) - 1)
}

// violates makes a future from an event on, and reports whether it violates the property. If a plan
// is not valid without the faults that do not take place, all do.
func (f *futures) violates(ctx context.Context, event int, begun, number uint64) (bool, error) {
	e, err := f.experiment(f.plan(begun, number))
	if err != nil {
		if e, err = f.experiment(1<<len(f.scenario.Plan) - 1); err != nil {
			return false, err
		}
	}
	return f.violated(ctx, e, f.branchedAt(event, number))
}

// violated makes a run and reports whether it violates the property.
func (f *futures) violated(ctx context.Context, e runner.Experiment, course runner.Course) (bool, error) {
	r, err := e.WithCourse(course).RunWhole(ctx, f.seed)
	return err == nil && r.Report.Verdicts()[f.property] == checker.Violated, err
}

// branchedAt returns the course of the run up to an event, and a branch there.
func (f *futures) branchedAt(event int, number uint64) runner.Course {
	course := runner.Course{Choices: f.course.Choices}
	for _, b := range f.course.Branches {
		if b.Event < event {
			course.Branches = append(course.Branches, b)
		}
	}
	course.Branches = append(course.Branches, runner.Branch{Event: event, Seed: number})
	return course
}

// count makes n runs, several at a time, and counts those that violate the property. When ctx ends,
// it counts those that were made.
func count(ctx context.Context, n int, run func(ctx context.Context, number uint64) (bool, error)) (rate runner.Rate, err error) {
	err = runner.InOrder(ctx, 0, n, func(ctx context.Context, i int) (violated bool, err error) {
		if violated, err = run(ctx, uint64(i+1)); err != nil {
			err = fmt.Errorf("future %d: %w", i+1, err)
		}
		return violated, err
	}, func(violated bool) {
		rate.N++
		if violated {
			rate.K++
		}
	})
	return rate, err
}
