package runner

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/choice"
)

// Branch is a point of a run from which on the random numbers come from another seed.
type Branch struct {
	Event int    `json:"event"` // the number of events before the branch
	Seed  uint64 `json:"seed"`
}

// Course is how a run departs from its seed. With the zero value it does not.
type Course struct {
	// Choices replace those of the seed; nil: they do not.
	Choices *Choices `json:"choices,omitempty"`

	// Branches are in the order of their events. If there are choices, a branch draws them from its event on.
	Branches []Branch `json:"branches,omitempty"`
}

// Straight reports whether the run follows its seed.
func (c Course) Straight() bool { return c.Choices == nil && len(c.Branches) == 0 }

// Choices are the ways that a run takes at points with few ways, as in an exploration: each message has one
// of a few latencies, and simultaneous events have an order. The run takes way 0 except at the turns.
type Choices struct {
	choice.Grain
	Turns []Turn `json:"turns,omitempty"` // in the order of their points
}

// Turn is a point ([choice.Point.Index]) at which a run takes another way than way 0.
type Turn struct {
	Point int `json:"point"`
	Way   int `json:"way"`
}

// WithCourse returns the experiment with runs that follow a course. Its backend must be [Backend.Drivable].
func (e Experiment) WithCourse(c Course) Experiment {
	e.course = c
	return e
}

// WithDriver returns the experiment with a driver that makes the choices of its next run, with the grain of its
// course.
func (e Experiment) WithDriver(d choice.Driver) Experiment {
	e.driver = d
	return e
}

// drive lets the experiment's driver, or else the follower of its course, make the choices in a world. It
// returns the follower.
func (e Experiment) drive(w World) (*follower, error) {
	if e.driver == nil && e.course.Straight() {
		return new(follower), nil
	}
	f := e.course.follower()
	driven, ok := w.(Driven)
	if !ok {
		return f, fmt.Errorf("runs on the %s backend cannot take a course", e.backend.Name)
	}
	grain := choice.Grain{}
	if e.course.Choices != nil {
		grain = e.course.Choices.Grain
	}
	if e.driver != nil {
		driven.Drive(grain, e.driver)
	} else {
		driven.Drive(grain, f)
	}
	return f, nil
}

// follower is the driver of a run that follows a course.
type follower struct {
	turns    []Turn   // not reached yet
	branches []Branch // not reached yet
	branched bool     // a branch was reached
	branch   Branch   // the last one reached

	drawn        map[uint64]int // how many numbers of each stream were drawn
	beforeBranch map[uint64]int // drawn when the branch was reached

	deviations []string // the turns that were taken
}

// Driver returns the driver of a run that follows the course.
func (c Course) Driver() choice.Driver { return c.follower() }

func (c Course) follower() *follower {
	f := &follower{branches: c.Branches, drawn: map[uint64]int{}}
	if c.Choices != nil {
		f.turns = c.Choices.Turns
	}
	return f
}

// Choose implements [choice.Driver]. If points have few ways, a branch begins between two events. A branch
// replaces only numbers that were not drawn before it: a clone may draw after the branch what its original drew
// earlier.
func (f *follower) Choose(w choice.World, at choice.Point, n uint64) uint64 {
	for (n == 0 || at.Kind == choice.Next) && len(f.branches) > 0 && w.Events() >= f.branches[0].Event {
		f.branch, f.branches, f.branched, f.beforeBranch = f.branches[0], f.branches[1:], true, maps.Clone(f.drawn)
	}
	branched := f.branched
	switch {
	case at.Kind == choice.Next:
		return 0
	case n == 0:
		f.drawn[at.Stream] = max(f.drawn[at.Stream], at.Number)
		branched = branched && at.Number > f.beforeBranch[at.Stream]
	case !branched && len(f.turns) > 0 && f.turns[0].Point == at.Index:
		way := min(uint64(f.turns[0].Way), n-1)
		f.turns, f.deviations = f.turns[1:], append(f.deviations, at.Text(w, way, n))
		return way
	}
	if branched {
		return choice.Drawn(f.branch.Seed, at, n)
	}
	return at.Own
}

// choicesText returns choices as in "l2d2-17-1+40-1": latencies, draws, and the point and way of each turn. An o
// after the draws stands for every order.
func choicesText(c *Choices) string {
	order := ""
	if c.EveryOrder {
		order = orderMark
	}
	text, between := fmt.Sprintf("l%dd%d%s", c.Latencies, c.Draws, order), "-"
	for _, t := range c.Turns {
		text += fmt.Sprintf("%s%d-%d", between, t.Point, t.Way)
		between = "+"
	}
	return text
}

const orderMark = "o"

var choicesForm = regexp.MustCompile(`^l([0-9]{1,9})d([0-9]{1,9})(o?)(?:-(.*))?$`)

func parseChoices(text string) (*Choices, error) {
	wrong := fmt.Errorf("has the choices %q: want those such as l2d2-17-1+40-1", text)
	parts := choicesForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, wrong
	}
	c := &Choices{Grain: choice.Grain{EveryOrder: parts[3] != ""}}
	c.Latencies, _ = strconv.Atoi(parts[1])
	c.Draws, _ = strconv.Atoi(parts[2])
	switch {
	case c.Latencies < 1:
		return nil, wrong
	case parts[4] == "":
		return c, nil
	}
	for one := range strings.SplitSeq(parts[4], "+") {
		point, way, _ := strings.Cut(one, "-")
		t := Turn{}
		var err error
		if t.Point, err = strconv.Atoi(point); err == nil {
			t.Way, err = strconv.Atoi(way)
		}
		if n := len(c.Turns); err != nil || t.Point < 0 || t.Way < 1 || n > 0 && t.Point <= c.Turns[n-1].Point {
			return nil, wrong
		}
		c.Turns = append(c.Turns, t)
	}
	return c, nil
}

// branchText returns branches as in "b120-7+300-1": the event and seed of each.
func branchText(branches []Branch) string {
	all := make([]string, len(branches))
	for i, b := range branches {
		all[i] = fmt.Sprintf("%d-%d", b.Event, b.Seed)
	}
	return branchMark + strings.Join(all, "+")
}

const branchMark = "b"

func parseBranches(text string) (branches []Branch, err error) {
	list, _ := strings.CutPrefix(text, branchMark)
	for one := range strings.SplitSeq(list, "+") {
		event, seed, _ := strings.Cut(one, "-")
		b := Branch{}
		if b.Event, err = strconv.Atoi(event); err == nil {
			b.Seed, err = strconv.ParseUint(seed, 10, 64)
		}
		if n := len(branches); err != nil || b.Event < 0 || n > 0 && b.Event < branches[n-1].Event {
			return nil, fmt.Errorf("has the branches %q: want events in their order, each with a seed, as in b120-7+300-1", text)
		}
		branches = append(branches, b)
	}
	return branches, nil
}
