package rare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Options are the sizes of an estimate.
type Options struct {
	Particles   int    // of a population, at least 10
	Moves       int    // of each particle at each level, at least 1
	Repetitions int    // independent populations, at least 5
	Runs        int    // the number of runs after which nothing more is begun; 0: no limit
	Seed        uint64 // of all that is drawn
}

// Defaults returns the usual options.
func Defaults() Options {
	return Options{Particles: 400, Moves: 10, Repetitions: 16, Runs: 20_000_000, Seed: 1}
}

// Validate returns an error for the first option that is out of range.
func (o Options) Validate() error {
	switch {
	case o.Particles < 10 || o.Particles > 100_000:
		return fmt.Errorf("%d particles: want 10 to 100000", o.Particles)
	case o.Moves < 1 || o.Moves > 1_000:
		return fmt.Errorf("%d moves: want 1 to 1000", o.Moves)
	case o.Repetitions < 5 || o.Repetitions > 10_000:
		return fmt.Errorf("%d repetitions: want 5 to 10000", o.Repetitions)
	case o.Runs < 0:
		return fmt.Errorf("%d runs: want 0 or more", o.Runs)
	}
	return nil
}

// kept is the share of a population that reaches the next level, in the pilot.
const kept = 0.2

// mostLevels bounds the levels: beyond, a probability is below 10⁻²⁰ or the distance is bad.
const mostLevels = 40

// Estimate is an estimated probability.
type Estimate struct {
	Property    checker.Property
	Probability float64 // that a run violates the property; only if it is reliable
	Low, High   float64 // the 95 % interval
	Levels      []Level
	Repetitions []float64 // the estimates of the populations
	Grants      float64   // of a run, on the average of those that the pilot began with
	Runs        int       // that were made, also by the pilot
	Acceptance  float64   // of the moves
	Doubts      []string  // why there is no figure; none: it is reliable

	// Witness is a run that violates the property.
	Witness *runner.Result
}

// Level is a level, and how evenly it was reached.
type Level struct {
	Distance Distance
	kernel   kernel  // of the moves that keep to it
	Share    float64 // of the particles of the level before that reached it, on the average
	Least    float64 // of the populations, the smallest share
}

// Reliable reports whether there is a figure.
func (e Estimate) Reliable() bool { return len(e.Doubts) == 0 }

// RelativeError is half the width of the interval, in units of the probability.
func (e Estimate) RelativeError() float64 { return (e.High - e.Low) / 2 / e.Probability }

// PerBillion returns how many runs with a violation there are in 10⁹ grants. ok: there are grants.
func (e Estimate) PerBillion() (violations float64, ok bool) {
	return e.Probability / e.Grants * 1e9, e.Grants > 0
}

// PlainRuns returns how many plain runs give an interval as narrow: z²(1-p)/(p·ε²), with ε the relative
// error.
func (e Estimate) PlainRuns() float64 {
	epsilon := e.RelativeError()
	return z * z * (1 - e.Probability) / (e.Probability * epsilon * epsilon)
}

const z = 1.959963984540054

// Progress is how far an estimate has come.
type Progress struct{ Levels, Populations, Runs int }

// Probability estimates the probability that a run of the worlds violates the property. An error
// says that there is no distance to a violation, or that a run failed. progress is called now and
// then, by one caller at a time; it may be nil. When ctx ends, the estimate is in doubt.
func Probability(ctx context.Context, worlds Worlds, p checker.Property, o Options, progress func(Progress)) (Estimate, error) {
	if err := o.Validate(); err != nil {
		return Estimate{}, err
	}
	e, err := worlds(nemesis.Stream(o.Seed, "world"))
	if err != nil {
		return Estimate{}, err
	}
	if err := checkDistance(e.Header(seed), p); err != nil {
		return Estimate{}, err
	}
	r := &repetitions{sampler: &sampler{worlds, p, o.Particles, o.Moves}, options: o, estimate: Estimate{Property: p}, progress: progress}
	if err := r.pilot(ctx); err != nil {
		return r.interrupted(ctx, err)
	}
	if err := r.repeat(ctx); err != nil {
		return r.interrupted(ctx, err)
	}
	r.conclude()
	return r.estimate, r.witness(ctx)
}

// repetitions is the populations of an estimate.
type repetitions struct {
	*sampler
	options  Options
	progress func(Progress)

	mu       sync.Mutex
	estimate Estimate
	done     Progress
	tried    int
	accepted int

	shares    [][]float64 // by population and level
	violating []tape      // by population: of a run that violates the property
}

// errBudget says that the limit of runs was reached.
var errBudget = errors.New("the limit of runs was reached")

// told adds runs, and reports an error if there are too many.
func (r *repetitions) told(levels, populations, runs int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done.Levels = max(r.done.Levels, levels)
	r.done.Populations += populations
	r.done.Runs += runs
	r.estimate.Runs = r.done.Runs
	if r.progress != nil {
		r.progress(r.done)
	}
	if r.options.Runs > 0 && r.done.Runs >= r.options.Runs {
		return errBudget
	}
	return nil
}

// interrupted returns an estimate that could not be finished.
func (r *repetitions) interrupted(ctx context.Context, err error) (Estimate, error) {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.doubt("its time was over")
	case ctx.Err() != nil:
		r.doubt("it was interrupted")
	case errors.Is(err, errBudget):
		r.doubt("%v (%d)", err, r.options.Runs)
	default:
		return r.estimate, err
	}
	return r.estimate, nil
}

func (r *repetitions) doubt(format string, args ...any) {
	r.estimate.Doubts = append(r.estimate.Doubts, fmt.Sprintf(format, args...))
}

// pilot chooses the levels.
func (r *repetitions) pilot(ctx context.Context) error {
	p, err := r.newPopulation(ctx, nemesis.Mix(r.options.Seed, 0))
	if err != nil {
		return err
	}
	r.estimate.Grants = p.grants
	made, fits := 0, kernel{}
	for last := 2 * far; last > 0; {
		if err := r.told(len(r.estimate.Levels), 0, p.runs-made); err != nil {
			return err
		}
		made = p.runs
		level, closer := p.nextLevel(kept, last)
		if !closer || len(r.estimate.Levels) == mostLevels {
			r.doubt("the pilot came no closer to a violation than a distance of %.3g, at level %d", last, len(r.estimate.Levels))
			return nil
		}
		if last = level; level > 0 {
			p.tried, p.accepted = [mostReach + 1]int{}, [mostReach + 1]int{}
			if err := p.climb(ctx, level, len(r.estimate.Levels), fits); err != nil {
				return err
			}
			fits = p.fitting(fits)
		}
		r.estimate.Levels = append(r.estimate.Levels, Level{Distance: level, kernel: fits})
	}
	return nil
}

// repeat makes the populations, several at a time.
func (r *repetitions) repeat(ctx context.Context) error {
	if !r.estimate.Reliable() {
		return nil
	}
	n := r.options.Repetitions
	r.shares, r.estimate.Repetitions, r.violating = make([][]float64, n), make([]float64, n), make([]tape, n)
	err := runner.InOrder(ctx, 0, n, func(ctx context.Context, i int) (struct{}, error) {
		return struct{}{}, r.one(ctx, i)
	}, func(struct{}) {})
	return cmp.Or(err, ctx.Err())
}

// one makes a population and takes note of its estimate.
func (r *repetitions) one(ctx context.Context, number int) error {
	p, err := r.newPopulation(ctx, nemesis.Mix(r.options.Seed, 1, uint64(number)))
	if err != nil {
		return err
	}
	estimate, made := 1.0, 0
	shares := make([]float64, len(r.estimate.Levels))
	for i, level := range r.estimate.Levels {
		shares[i] = float64(p.reaching(level.Distance)) / float64(len(p.particles))
		if estimate *= shares[i]; estimate == 0 {
			break
		}
		if i+1 < len(shares) {
			if err := p.climb(ctx, level.Distance, i, level.kernel); err != nil {
				return err
			}
		}
		if err := r.told(0, 0, p.runs-made); err != nil {
			return err
		}
		made = p.runs
	}
	r.mu.Lock()
	r.shares[number], r.estimate.Repetitions[number] = shares, estimate
	r.tried, r.accepted = r.tried+sum(p.tried), r.accepted+sum(p.accepted)
	for _, one := range p.particles {
		if one.distance == 0 {
			r.violating[number] = one.tape
			break
		}
	}
	r.mu.Unlock()
	return r.told(0, 1, p.runs-made)
}

// witness repeats a run that violates the property, of the first population that has one.
func (r *repetitions) witness(ctx context.Context) error {
	for _, t := range r.violating {
		if t != nil {
			result, err := r.result(ctx, t)
			r.estimate.Witness = &result
			return err
		}
	}
	return nil
}

// conclude computes the estimate from those of the populations, and doubts it.
func (r *repetitions) conclude() {
	e := &r.estimate
	if !e.Reliable() {
		return
	}
	if r.tried > 0 {
		e.Acceptance = float64(r.accepted) / float64(r.tried)
	}
	for i := range e.Levels {
		l := &e.Levels[i]
		l.Least = 1
		for _, shares := range r.shares {
			l.Share += shares[i] / float64(len(r.shares))
			l.Least = min(l.Least, shares[i])
		}
		if l.Least == 0 {
			r.doubt("level %d of %d was not reached by every population", i+1, len(e.Levels))
			return
		}
	}
	mean, low, high := interval(e.Repetitions)
	switch {
	case r.tried > 0 && e.Acceptance < leastAcceptance:
		r.doubt("only %.2g of the moves were accepted, so that particles are copies of one another", e.Acceptance)
	case (high-low)/2 > mostError*mean:
		r.doubt("the populations disagree: their estimates go from %.2g to %.2g", slices.Min(e.Repetitions), slices.Max(e.Repetitions))
	default:
		e.Probability, e.Low, e.High = mean, low, min(high, 1)
	}
}

// An estimate is in doubt if fewer moves are accepted, or if its relative error is larger.
const (
	leastAcceptance = 0.01
	mostError       = 1
)

func sum(all [mostReach + 1]int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// interval returns the mean of positive estimates and the 95 % interval of their expectation. The
// estimate of a population is a product, so its logarithm is nearly normal: the interval is Cox's for
// the mean of a log-normal variable (Land, An Evaluation of Approximate Confidence Interval Estimation
// Methods for Lognormal Means, Technometrics 14, 1972), with Student's quantile.
func interval(estimates []float64) (mean, low, high float64) {
	n := float64(len(estimates))
	var logs, squares float64
	for _, v := range estimates {
		mean += v / n
		logs += math.Log(v) / n
	}
	for _, v := range estimates {
		squares += (math.Log(v) - logs) * (math.Log(v) - logs)
	}
	variance := squares / (n - 1)
	half := student(n-1) * math.Sqrt(variance/n+variance*variance/(2*(n-1)))
	middle := logs + variance/2
	return mean, math.Exp(middle - half), math.Exp(middle + half)
}

// student returns the quantile of Student's distribution that leaves 2.5 % above it, for at least 4
// degrees of freedom, to three digits (Abramowitz and Stegun, Handbook of Mathematical Functions,
// 26.7.5).
func student(freedom float64) float64 {
	g1 := (math.Pow(z, 3) + z) / 4
	g2 := (5*math.Pow(z, 5) + 16*math.Pow(z, 3) + 3*z) / 96
	g3 := (3*math.Pow(z, 7) + 19*math.Pow(z, 5) + 17*math.Pow(z, 3) - 15*z) / 384
	return z + g1/freedom + g2/math.Pow(freedom, 2) + g3/math.Pow(freedom, 3)
}
