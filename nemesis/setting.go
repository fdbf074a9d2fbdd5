package nemesis

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
)

// Setting is the world that a plan is made for.
type Setting struct {
	// Nodes is the number of independent nodes, 1 to [env.MaxNodes].
	Nodes int `yaml:"nodes"`

	// Persistence is what every node keeps when it crashes.
	Persistence Persistence `yaml:"persistence"`

	// Clients is the number of lock users. In a file it is the length of the
	// list of clients.
	Clients int `yaml:"-"`

	// Latency is how long a message takes one way, where the backend makes
	// the network; real networks bring their own.
	Latency Distribution `yaml:"latency"`

	// Guard is the guarded resource's way with fences.
	Guard guard.Mode `yaml:"guard,omitempty"`

	// Horizon is the longest that the run may last, on the ground clock.
	Horizon time.Duration `yaml:"horizon"`

	Plan Plan `yaml:"plan,omitempty"`
}

// Persistence is what a node still has after a crash.
type Persistence string

// The modes of persistence.
const (
	Nothing Persistence = "none"       // it comes back empty
	Always  Persistence = "aof-always" // it has every write that it acknowledged
)

// Keeps says of a node that comes back what it still has, for a story.
func (p Persistence) Keeps() string {
	if p == Nothing {
		return "without its keys"
	}
	return "with its keys"
}

// Range is a uniform distribution of durations, both ends included.
type Range struct {
	Min time.Duration `yaml:"min"`
	Max time.Duration `yaml:"max"`
}

func (r Range) String() string {
	if r.Min == r.Max {
		return r.Min.String()
	}
	return fmt.Sprintf("%v to %v", r.Min, r.Max)
}

// Validate names the first of the bounds that cannot be.
func (r Range) Validate() error {
	switch {
	case r.Min < 0:
		return field("min", fmt.Errorf("%v is negative", r.Min))
	case r.Max < r.Min:
		return field("max", fmt.Errorf("%v is below min, %v", r.Max, r.Min))
	}
	return nil
}

// Validate returns a [FieldError] for the first value that cannot be.
func (s Setting) Validate() error {
	switch {
	case s.Nodes < 1 || s.Nodes > env.MaxNodes:
		return field("nodes", fmt.Errorf("%d: want 1 to %d", s.Nodes, env.MaxNodes))
	case s.Persistence != Nothing && s.Persistence != Always:
		return field("persistence", fmt.Errorf("unknown persistence %q: want %s or %s", s.Persistence, Nothing, Always))
	case s.Clients < 1:
		return field("clients", errors.New("at least one is needed"))
	case s.Horizon <= 0:
		return field("horizon", fmt.Errorf("%v: a run needs time", s.Horizon))
	}
	if err := s.Latency.Validate(); err != nil {
		return field("latency", err)
	}
	if err := s.Guard.Validate(); err != nil {
		return field("guard", err)
	}
	return field("plan", s.Plan.validate(s))
}

// someOf checks a list of numbers out of 1 to n; an empty list means all.
func someOf(what string, list []int, n int) error {
	seen := map[int]bool{}
	for i, v := range list {
		if err := oneOf(what, v, n); err != nil {
			return field(fmt.Sprintf("[%d]", i), err)
		}
		if seen[v] {
			return field(fmt.Sprintf("[%d]", i), fmt.Errorf("%s %d is named twice", what, v))
		}
		seen[v] = true
	}
	return nil
}

func oneOf(what string, v, n int) error {
	if v < 1 || v > n {
		return fmt.Errorf("there is no %s %d: they are numbered 1 to %d", what, v, n)
	}
	return nil
}

// Each returns the numbers in the list, or 1 to n for an empty list.
func Each(list []int, n int) []int {
	if len(list) > 0 {
		return list
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}
