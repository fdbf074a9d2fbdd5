package fuzz

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Assumptions are what is taken for granted of a world. Each field that is set rules
// something out; the zero value rules out nothing.
type Assumptions struct {
	// Without are the kinds of faults that do not happen.
	Without []nemesis.Kind `yaml:"without,flow,omitempty"`

	// NoPauses says that no client stands still: no pause, suspend or snapshot.
	NoPauses bool `yaml:"no_pauses,omitempty"`

	// FaultsEnd says that no fault lasts for ever, but one after which a node or a client
	// is gone or unreachable for good. An end at a client's step may never come. A client
	// that is cut off for good from nodes that another reaches is not gone: it may go on
	// trying where it cannot succeed, and hold up who could.
	FaultsEnd bool `yaml:"faults_end,omitempty"`

	// NothingForgotten says that no node comes back without something that it had
	// acknowledged, however long it was away.
	NothingForgotten bool `yaml:"nothing_forgotten,omitempty"`

	// RestartDelay is how long a node at least stays away that comes back without
	// something that it had acknowledged: after a crash, a loss of power or a shutdown,
	// as its persistence says; from an old snapshot, of its file or of its machine's
	// memory; or as its replica, after a failover. 0: nothing is assumed of it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`

	// ClockRatePPM is how much too fast or too slow, in parts per million, the clocks
	// run at most that count: those of nodes, and of each client's machine those that
	// the lock reads, for its validity or its tokens, or sleeps on. What a rate, a slew
	// and a healing by a slew do to one machine adds up. A clock that is stopped runs
	// 1000000 too slow. Nothing: nothing is assumed of them.
	ClockRatePPM *int64 `yaml:"clock_rate_ppm,omitempty" want:"0.."`

	// NodeClockStep is how far the steps of one node's wall clock, either way, can
	// take it at most. Nothing: nothing is assumed of them.
	NodeClockStep *time.Duration `yaml:"node_clock_step,omitempty" want:"0s.."`

	// ClientClockStep is the same of a client's wall clock.
	ClientClockStep *time.Duration `yaml:"client_clock_step,omitempty" want:"0s.."`

	// ClockGoesOn says that the clock that the lock reads never stands still with its
	// machine: no snapshot and, where that is the monotonic one, no suspend.
	ClockGoesOn bool `yaml:"clock_goes_on,omitempty"`

	// Away is how many nodes at most are down, stand still, answer with errors or are
	// behind a link that some fault is at work on, at a time. Nothing: nothing is
	// assumed of it.
	Away *int `yaml:"away,omitempty" want:"0.."`

	// FenceChecked says that the guarded resource checks fences on reads and writes.
	FenceChecked bool `yaml:"fence_checked,omitempty"`
}

// Validate returns a [nemesis.FieldError] for the first value that cannot be.
func (a Assumptions) Validate() error {
	known, _ := nemesis.Kinds()
	for i, k := range a.Without {
		if !slices.Contains(known, k) {
			return &nemesis.FieldError{Path: fmt.Sprintf("without[%d]", i), Err: fmt.Errorf("unknown kind of fault %q: there is %v", k, known)}
		}
	}
	return nemesis.Bounded(&a)
}

// some reports whether anything is assumed.
func (a Assumptions) some() bool { return !reflect.ValueOf(a).IsZero() }

// Outside returns what of a scenario, its plan included, the assumptions rule out
// first, as a [nemesis.FieldError]; nil: it is inside them. What depends on when a
// client comes to a step is outside as soon as it can be.
func (a Assumptions) Outside(s scenarios.Scenario) error {
	if a.FenceChecked && s.Guard != guard.Fenced {
		return &nemesis.FieldError{Path: "guard", Err: errors.New("fences are assumed to be checked on reads and writes")}
	}
	if i, err := a.refused(s); err != nil {
		return &nemesis.FieldError{Path: fmt.Sprintf("plan[%d]", i), Err: err}
	}
	return nil
}

// Admits reports whether one fault may happen in a scenario, whose plan does not
// matter. Faults that are admitted one by one can be outside together.
func (a Assumptions) Admits(f nemesis.Fault, s scenarios.Scenario) bool {
	s.Plan = nemesis.Plan{f}
	return a.Outside(s) == nil
}

// Keep returns the scenario without the faults of its plan that the assumptions rule
// out, each beside those before it.
func (a Assumptions) Keep(s scenarios.Scenario) scenarios.Scenario {
	plan := s.Plan
	s.Plan = nil
	for _, f := range plan {
		with := s
		with.Plan = append(slices.Clip(s.Plan), f)
		if _, err := a.refused(with); err == nil {
			s = with
		}
	}
	return s
}

// refused returns the first fault of a plan that the assumptions rule out, beside those
// before it, and why.
func (a Assumptions) refused(s scenarios.Scenario) (fault int, why error) {
	clocks := tamperings{}
	for i := range s.Plan {
		f := &s.Plan[i]
		clocks.add(f, s)
		for _, err := range []error{a.kind(f.Action.Kind()), a.ends(f, s), a.goesOn(f.Action, s), a.clocks(clocks, f), a.away(s, i)} {
			if err != nil {
				return i, err
			}
		}
	}
	for i := range s.Plan { // the delay may be counted on a clock that a later fault steps
		if err := a.restart(&s.Plan[i], s, clocks); err != nil {
			return i, err
		}
	}
	return 0, nil
}

func (a Assumptions) kind(k nemesis.Kind) error {
	switch {
	case slices.Contains(a.Without, k):
		return fmt.Errorf("%s is assumed not to happen", k)
	case a.NoPauses && slices.Contains([]nemesis.Kind{"pause", "suspend", "snapshot"}, k):
		return fmt.Errorf("no client is assumed to stand still, as by %s", k)
	}
	return nil
}

// ends says that a fault may last for ever, if that is assumed not to be.
func (a Assumptions) ends(f *nemesis.Fault, s scenarios.Scenario) error {
	if _, known := lasts(f); !a.FaultsEnd || known {
		return nil
	}
	switch k := f.Action.Kind(); k {
	case "latency", "loss", "reset", "bandwidth", "guard-latency", "node-error", "clock-rate", "clock-strobe", "clock-freeze":
		return fmt.Errorf("faults are assumed to end, and this %s may last for ever", k)
	case "partition", "split":
		over, way := f.Action.(nemesis.Traffic).Over(s.World())
		if way != nemesis.Both {
			return fmt.Errorf("faults are assumed to end, and %s may be cut off for ever while what goes the other way arrives", way)
		}
		if !alike(over, s) {
			return errors.New("faults are assumed to end, and a client may be cut off for ever from nodes that another reaches")
		}
	}
	return nil
}

// alike reports whether a cut takes the same nodes from all clients, but for those from
// which it takes all.
func alike(cut []nemesis.Links, s scenarios.Scenario) bool {
	left := map[string]bool{}
	for client := 1; client <= len(s.Clients); client++ {
		var reached []int
		for node := 1; node <= s.Nodes; node++ {
			if !slices.ContainsFunc(cut, func(l nemesis.Links) bool { return l.Covers(client, node) }) {
				reached = append(reached, node)
			}
		}
		if len(reached) > 0 {
			left[fmt.Sprint(reached)] = true
		}
	}
	return len(left) <= 1
}

// Left names the assumptions that a scenario, its plan included, is outside of, each by
// itself and as in a file, in the order of the fields. Two runs that leave the same have
// the same excuse, whatever else their plans say.
func (a Assumptions) Left(s scenarios.Scenario) (names []string) {
	all := reflect.ValueOf(a)
	for i := range all.NumField() {
		var one Assumptions
		reflect.ValueOf(&one).Elem().Field(i).Set(all.Field(i))
		if one.Outside(s) != nil {
			name, _, _ := strings.Cut(all.Type().Field(i).Tag.Get("yaml"), ",")
			names = append(names, name)
		}
	}
	return names
}

// Limited returns the assumptions of the terms that rule something out, in the order of
// the properties that rest on them.
func (t Terms) Limited() (limited []Assumptions) {
	for _, p := range checker.Properties() {
		if a := t[p]; a.some() {
			limited = append(limited, a)
		}
	}
	return limited
}

// Edge returns where the assumptions draw the line for one value of a fault, beside the
// faults of the scenario's plan: the last size of it that they admit, and the first that
// they rule out, with the sign that the value has. value is a pointer that
// [nemesis.Fault.EachValue] has given for this fault; a *int64 counts in ones, a
// *[time.Duration] in microseconds. There is no line, and ok is false, for values of other
// types, for what is 0, and where all sizes up to the largest that matters are alike.
//
// The line is found by trying, so that it is that of whatever judges the fault: a limit of
// the assumption, less what other faults use up of it, or what follows from several.
func (a Assumptions) Edge(s scenarios.Scenario, f *nemesis.Fault, value any) (inside, outside int64, ok bool) {
	v, ok := sizeOf(value, s)
	if !ok {
		return 0, 0, false
	}
	defer v.set(v.was)
	plan := slices.Clip(s.Plan)
	admits := func(size int64) bool {
		v.set(size)
		s.Plan = append(plan, *f)
		return a.Outside(s) == nil
	}
	low, high := v.unit, v.largest
	small := admits(low)
	if small == admits(high) {
		return 0, 0, false
	}
	for high-low > v.unit {
		if middle := low + (high-low)/2/v.unit*v.unit; admits(middle) == small {
			low = middle
		} else {
			high = middle
		}
	}
	if small {
		return v.signed(low), v.signed(high), true
	}
	return v.signed(high), v.signed(low), true
}

// size is a value of a fault that can be larger or smaller.
type size struct {
	set           func(size int64) // without its sign
	was           int64
	negative      bool
	unit, largest int64
}

func (v size) signed(size int64) int64 {
	if v.negative {
		return -size
	}
	return size
}

// longestThatMatters is how many of the longest TTL a duration is looked at: what lasts
// for longer has outlasted everything.
const longestThatMatters = 16

func sizeOf(value any, s scenarios.Scenario) (v size, ok bool) {
	switch at := value.(type) {
	case *int64:
		v = size{was: *at, unit: 1, largest: nemesis.MaxPPM}
		v.set = func(size int64) { *at = v.signed(size) }
	case *time.Duration:
		longest := (longestThatMatters * max(s.LongestTTL(), s.Lock.Quarantine)).Truncate(time.Microsecond)
		v = size{was: int64(*at), unit: int64(time.Microsecond), largest: int64(longest)}
		v.set = func(size int64) { *at = time.Duration(v.signed(size)) }
	}
	v.negative, v.was = v.was < 0, max(v.was, -v.was)
	return v, v.was != 0
}
