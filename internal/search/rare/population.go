package rare

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Worlds returns the experiment of a run, given the run's random numbers. An experiment that is drawn
// from them, such as one with random faults, is moved and selected with all that happens in it. The
// experiments have to differ in times only: their lock and their nodes are those of every run.
type Worlds func(random rand.Source) (runner.Experiment, error)

// Always returns the worlds of one experiment.
func Always(e runner.Experiment) Worlds {
	return func(rand.Source) (runner.Experiment, error) { return e, nil }
}

// sampler makes runs from tapes.
type sampler struct {
	worlds   Worlds
	property checker.Property

	size  int // of a population
	moves int // of each particle at each level
}

// particle is a run: its random numbers, and its distance from a violation.
type particle struct {
	tape     tape
	distance Distance
	grants   int
}

// run makes the run of a move.
func (s *sampler) run(ctx context.Context, m *move) (particle, error) {
	e, err := s.worlds(&worldNumbers{move: m})
	if err != nil {
		return particle{}, err
	}
	var c *margins
	e = e.WithReader(func(t *timeline.Timeline) { c = marginsFor(s.property, t) }, s.property)
	r, err := e.WithDriver(m).RunWhole(ctx, seed)
	if err != nil {
		return particle{}, err
	}
	p := particle{m.to, c.distance(), c.grants}
	switch violated := r.Report.Verdicts()[s.property] == checker.Violated; {
	case violated:
		p.distance = 0
	case p.distance == 0:
		p.distance = math.SmallestNonzeroFloat64
	}
	return p, nil
}

// result repeats the run of a tape.
func (s *sampler) result(ctx context.Context, t tape) (runner.Result, error) {
	m := &move{from: t, to: tape{}}
	e, err := s.worlds(&worldNumbers{move: m})
	if err != nil {
		return runner.Result{}, err
	}
	return e.WithDriver(m).RunWhole(ctx, seed)
}

// seed is the seed of what is not drawn in a run, such as a generated plan.
const seed = 1

// population is particles that reach a level.
type population struct {
	*sampler
	seed      uint64 // of all that is drawn
	particles []particle
	grants    float64 // of a plain run, on the average
	runs      int
	tried     [mostReach + 1]int // moves to another distance, by their exponents
	accepted  [mostReach + 1]int
}

// newPopulation draws particles.
func (s *sampler) newPopulation(ctx context.Context, seed uint64) (*population, error) {
	p := &population{sampler: s, seed: seed}
	for i := range s.size {
		one, err := s.run(ctx, &move{seed: nemesis.Mix(seed, 1, uint64(i)), to: tape{}})
		if err != nil {
			return nil, err
		}
		p.particles, p.runs = append(p.particles, one), p.runs+1
		p.grants += float64(one.grants) / float64(s.size)
	}
	return p, nil
}

// reaching returns the number of particles that reach a level.
func (p *population) reaching(level Distance) (n int) {
	for _, one := range p.particles {
		if one.distance <= level {
			n++
		}
	}
	return n
}

// climb copies the particles that reach a level until the population is whole, and moves each, such
// that it still reaches the level. Some particle must reach it.
func (p *population) climb(ctx context.Context, level Distance, number int, k kernel) error {
	survivors := slices.DeleteFunc(slices.Clone(p.particles), func(one particle) bool { return one.distance > level })
	first := nemesis.Mix(p.seed, 2, uint64(number)) % uint64(len(survivors))
	for i := range p.particles {
		one := survivors[(first+uint64(i))%uint64(len(survivors))]
		for step := range p.moves {
			m, reach := k.moved(one.tape, nemesis.Mix(p.seed, 3, uint64(number), uint64(i), uint64(step)))
			next, err := p.run(ctx, m)
			if err != nil {
				return err
			}
			p.runs++
			moved := next.distance != one.distance // others say nothing of the reach
			if moved {
				p.tried[reach]++
			}
			if next.distance <= level {
				one = next
				if moved {
					p.accepted[reach]++
				}
			}
		}
		p.particles[i] = one
	}
	return nil
}

// fitting returns the kernel for the next level: with the longest reach of which a fair share of the
// moves is accepted.
func (p *population) fitting(before kernel) kernel {
	for reach := range p.tried {
		if p.tried[reach] >= enoughMoves && float64(p.accepted[reach]) >= fairShare*float64(p.tried[reach]) {
			return kernel{reach}
		}
	}
	return before
}

const (
	enoughMoves = 10
	fairShare   = 0.3
)

// nextLevel returns the distance that a share of the particles reaches, and that is closer than the
// last level. 0 is the violation.
func (p *population) nextLevel(share float64, last Distance) (Distance, bool) {
	all := make([]Distance, len(p.particles))
	for i, one := range p.particles {
		all[i] = one.distance
	}
	slices.Sort(all)
	level := all[int(share*float64(len(all)))]
	if level >= last { // many are as far as the level: go on with those that are closer
		i, _ := slices.BinarySearch(all, last)
		if i == 0 {
			return last, false
		}
		level = all[i-1]
	}
	return level, true
}
