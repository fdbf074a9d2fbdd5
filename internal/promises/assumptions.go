package promises

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Assumptions restrict the world of a lock. Each field that is set excludes something; the
// zero value excludes nothing.
type Assumptions struct {
	// Without lists the kinds of faults that do not happen.
	Without []nemesis.Kind `yaml:"without,flow,omitempty"`

	// NoPauses says that no client is stopped: no pause, suspend or snapshot.
	NoPauses bool `yaml:"no_pauses,omitempty"`

	// FaultsEnd says that no fault lasts for ever, except one after which a node or a client
	// is gone or unreachable for good, and except slow accesses to the guarded resource, which
	// hold up nothing that a lock does. A fault that ends at a client's step may last for ever,
	// unless it strikes once.
	// A client that is cut off for good from nodes that another reaches is not gone: it may
	// keep trying in vain, and block others.
	FaultsEnd bool `yaml:"faults_end,omitempty"`

	// NothingForgotten says that no node returns without something that it had acknowledged,
	// however long it was away.
	NothingForgotten bool `yaml:"nothing_forgotten,omitempty"`

	// RestartDelay is how long a node stays away at least if it returns without something that
	// it had acknowledged: after a crash, a loss of power or a shutdown, depending on its
	// persistence; from an old snapshot of its file or of its machine's memory; or as its
	// replica, after a failover. 0: nothing is assumed.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`

	// ClockRatePPM bounds the rate error, in parts per million, of the clocks that matter:
	// those of nodes, and on each client's machine those that the lock reads for its validity
	// or its tokens, or sleeps on. The effects of a rate, a slew and a healing by a slew on
	// one machine add up. A stopped clock is 1000000 too slow. Omitted: nothing is assumed.
	ClockRatePPM *int64 `yaml:"clock_rate_ppm,omitempty" want:"0.."`

	// NodeClockStep bounds how far the steps of one node's wall clock take it, in either
	// direction. Omitted: nothing is assumed.
	NodeClockStep *time.Duration `yaml:"node_clock_step,omitempty" want:"0s.."`

	// ClientClockStep is the same for a client's wall clock.
	ClientClockStep *time.Duration `yaml:"client_clock_step,omitempty" want:"0s.."`

	// ClockGoesOn says that the clock that the lock reads never stops with its machine: no
	// snapshot and, if that is the monotonic clock, no suspend.
	ClockGoesOn bool `yaml:"clock_goes_on,omitempty"`

	// Away is how many nodes at most are down, stopped, reply with errors or are behind a
	// faulty link at a time. Omitted: nothing is assumed.
	Away *int `yaml:"away,omitempty" want:"0.."`

	// FenceChecked says that the guarded resource checks fences on reads and writes.
	FenceChecked bool `yaml:"fence_checked,omitempty"`
}

// Validate returns a [nemesis.FieldError] for the first invalid value.
func (a Assumptions) Validate() error {
	for i, k := range a.Without {
		if !k.Known() {
			return &nemesis.FieldError{Path: fmt.Sprintf("without[%d]", i), Err: nemesis.UnknownKind(k)}
		}
	}
	return form.Check(&a)
}

// restricts reports whether anything is assumed.
func (a Assumptions) restricts() bool { return !reflect.ValueOf(a).IsZero() }

// Outside returns a [nemesis.FieldError] for the first part of a scenario, including its plan,
// that the assumptions exclude, or nil. If that depends on when a client takes a step, it is
// excluded if it is possible. Its path numbers the faults as they are carried out.
func (a Assumptions) Outside(s scenarios.Scenario) error {
	if a.FenceChecked && s.Guard != guard.Fenced {
		return &nemesis.FieldError{Path: "guard", Err: errors.New("fences are not checked on reads and writes, against the assumption fence_checked")}
	}
	if i, err := a.firstExcluded(s); err != nil {
		return &nemesis.FieldError{Path: fmt.Sprintf("plan[%d]", i), Err: err}
	}
	return nil
}

// Admits reports whether one fault may happen in a scenario, whose plan is ignored. Faults
// that are admitted one by one can be excluded together.
func (a Assumptions) Admits(f nemesis.Fault, s scenarios.Scenario) bool {
	s.Plan = nemesis.Plan{f}
	return a.Outside(s) == nil
}

// Keep returns the scenario without the faults of its plan that the assumptions exclude, each
// judged together with those before it.
func (a Assumptions) Keep(s scenarios.Scenario) scenarios.Scenario {
	plan := s.Plan
	s.Plan = nil
	for _, f := range plan {
		with := s
		with.Plan = append(slices.Clip(s.Plan), f)
		if _, err := a.firstExcluded(with); err == nil {
			s = with
		}
	}
	return s
}

// firstExcluded returns the first fault of a plan, as it is carried out, that the assumptions exclude,
// together with those before it, and why.
func (a Assumptions) firstExcluded(s scenarios.Scenario) (fault int, why error) {
	s.Setting = s.World()
	clocks := clockErrors{}
	for i := range s.Plan {
		f := &s.Plan[i]
		clocks.add(f, s)
		for _, err := range []error{a.checkKind(f.Action), a.checkEnds(f, s), a.checkClockRuns(f.Action, s), a.checkClocks(clocks, f), a.checkAway(s, i)} {
			if err != nil {
				return i, err
			}
		}
	}
	for i := range s.Plan { // a later fault may step the clock that counts the delay
		if err := a.checkRestart(&s.Plan[i], s, clocks); err != nil {
			return i, err
		}
	}
	return 0, nil
}

func (a Assumptions) checkKind(action nemesis.Action) error {
	switch k := action.Kind(); {
	case slices.Contains(a.Without, k):
		return fmt.Errorf("%s, which is assumed not to happen (without)", k)
	case a.NoPauses && action.Effects(nemesis.Setting{}).Does.Any(nemesis.StopsClient):
		return fmt.Errorf("%s stops a client, against the assumption no_pauses", k)
	}
	return nil
}

// checkEnds returns an error if a fault may last for ever and that is excluded.
func (a Assumptions) checkEnds(f *nemesis.Fault, s scenarios.Scenario) error {
	if _, known := knownDuration(f); !a.FaultsEnd || known {
		return nil
	}
	switch do := effects(f.Action, s).Does; {
	case do.Any(nemesis.StrikesOnce): // it is over when it has struck, and does nothing before
	case do.Any(nemesis.Delays | nemesis.Loses | nemesis.Resets | nemesis.Narrows | nemesis.ReturnsErrors | nemesis.WandersClock):
		return fmt.Errorf("this %s may last for ever, against the assumption faults_end", f.Action.Kind())
	case do.Any(nemesis.CutsLinks):
		over, way := f.Action.(nemesis.Traffic).Over(s.Setting)
		if way != nemesis.Both {
			return fmt.Errorf("%s may be cut off for ever while the other direction works, against the assumption faults_end", way)
		}
		if !sameForAll(over, s) {
			return errors.New("a client may be cut off for ever from nodes that another reaches, against the assumption faults_end")
		}
	}
	return nil
}

// sameForAll reports whether a cut takes the same nodes from all clients, except those from
// which it takes all.
func sameForAll(cut []nemesis.Links, s scenarios.Scenario) bool {
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

// BrokenBy returns the names of the assumptions that a scenario, including its plan, breaks,
// each by itself, named and ordered as in a file.
func (a Assumptions) BrokenBy(s scenarios.Scenario) (names []string) {
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

// Restricting returns the assumptions of the terms that exclude something, in the order of
// their properties.
func (t Terms) Restricting() (limited []Assumptions) {
	for _, p := range checker.Properties() {
		if a := t[p]; a.restricts() {
			limited = append(limited, a)
		}
	}
	return limited
}

// Boundary returns the limit that the assumptions set for one value of a fault, given the
// faults of the scenario's plan: the last size that is inside and the first that is outside,
// with the sign of the value. value is a pointer that [nemesis.Fault.EachValue] has returned
// for this fault; a *int64 counts in ones, a *[time.Duration] in microseconds. ok is false for
// values of other types, for 0, and if all sizes up to the largest that matters are alike.
//
// The limit is found by bisection, so it includes what other faults use up of it and what
// several assumptions imply together.
func (a Assumptions) Boundary(s scenarios.Scenario, f *nemesis.Fault, value any) (inside, outside int64, ok bool) {
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

// size is the size of a fault's value.
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

// longestThatMatters is the longest duration that is tried, in longest TTLs. A longer fault
// outlasts everything.
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
