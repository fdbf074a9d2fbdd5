package external

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Exercised is what runs have tried of a lock.
type Exercised struct {
	Grants     int
	Extensions int // by the holder, that the lock has granted
	BeyondTTL  int // holds that were longer than the TTL, by what the lock claims
	Losses     int // notices of a loss
	Ended      int // contexts of callers that a fault has ended
	Shared     int // grants to callers that share a lock
	Named      int // grants of resources whose names a lock may confuse
	Clocks     int // runs in which the lock has read the clock of its client
	Belated    int // notices of a loss after the release and the client's next call

	SharedValue string // which calls have sent the same value for a key, so that nobody knows whose it is

	Permits int // of each resource
	Beside  int // grants beside other holds of the resource
	Full    int // calls of Lock while no permit was free

	Refusals         int    // calls of Lock that have failed
	Refusal          string // the last error of Lock
	FailedExtensions int    // calls of Extend that have failed
	ExtensionError   string // the last error of Extend
	EndlessLost      int    // holds without an end whose loss was reported

	Waits map[int]Waits // by client: calls that have failed although no fault took place
}

// Waits are calls of Lock of a client, or of a caller, that have failed although no fault took place.
type Waits struct {
	Refused int
	Idle    int           // of these: calls that waited for longer than a TTL, in which nobody was granted the lock
	InRow   int           // the most in a row, while others were granted the lock
	For     time.Duration // from the first call of that row
}

// with returns the calls of several runs.
func (w Waits) with(more Waits) Waits {
	if more.InRow > w.InRow {
		w.InRow, w.For = more.InRow, more.For
	}
	w.Refused += more.Refused
	w.Idle += more.Idle
	return w
}

// refused adds a call.
func (e *Exercised) refused(r checker.Refusal, at history.Time, ttl time.Duration) {
	w := Waits{Refused: 1, InRow: r.InRow, For: at.Sub(r.Since)}
	if r.Passed == 0 && r.Waited > ttl {
		w.Idle = 1
	}
	if e.Waits == nil {
		e.Waits = map[int]Waits{}
	}
	e.Waits[r.Client] = e.Waits[r.Client].with(w)
}

// starving is how many calls of a client fail in a row, at least, of which a warning is given; and all of them
// last for longer than a call may.
const starving = 3

// warnings says who waits in vain, which no promise covers unless the lock promises fairness. A call may last
// for so long.
func (e *Exercised) warnings(patience time.Duration, where string) (list []string) {
	all, idle, worst := 0, 0, 0
	for _, client := range slices.Sorted(maps.Keys(e.Waits)) {
		w := e.Waits[client]
		all, idle = all+w.Refused, idle+w.Idle
		if w.InRow >= starving && w.For > patience && (worst == 0 || w.InRow > e.Waits[worst].InRow) {
			worst = client
		}
	}
	if w := e.Waits[worst]; worst != 0 {
		list = append(list, fmt.Sprintf("in %s, client %d was refused %d times in a row, for %s, while others were granted the lock: %d of %s without a fault were of its calls",
			where, worst, w.InRow, textfmt.FourDigits(w.For), w.Refused, textfmt.Count(all, "refusal")))
	}
	if e.Belated > 0 {
		list = append(list, fmt.Sprintf("in %s, %s came after the release and the client's next call: does the renewal of a hold go on after its release?", where, textfmt.Count(e.Belated, "loss notice")))
	}
	if idle > 0 {
		list = append(list, fmt.Sprintf("in %s, %s gave up after more than a TTL in which nobody was granted the lock, while no fault went on", where, textfmt.Count(idle, "call")))
	}
	return list
}

// upkeepWarnings says which holds were not kept, though nothing was done to them.
func (e *Exercised) upkeepWarnings(where string) (list []string) {
	if e.FailedExtensions > 0 {
		list = append(list, fmt.Sprintf("in %s, %s of Extend failed without a fault, the last one with: %s", where, textfmt.Count(e.FailedExtensions, "call"), e.ExtensionError))
	}
	if e.EndlessLost > 0 {
		list = append(list, fmt.Sprintf("in %s, the lock reported the loss of %s without an end, without a fault", where, textfmt.Count(e.EndlessLost, "hold")))
	}
	return list
}

// Reader returns a reader of a run that adds what the run tries: see [runner.Experiment.WithReader].
func (e *Exercised) Reader() func(*timeline.Timeline) {
	return func(t *timeline.Timeline) {
		e.Permits = t.Header.Permits()
		t.Listen(exercise{e})
		checker.ReadRefusals(t, func(r checker.Refusal) { e.refused(r, t.Now, t.Header.LongestTTL) })
	}
}

// exercise is a [timeline.Observer].
type exercise struct{ *Exercised }

// Wants implements [timeline.Observer].
func (exercise) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Extended, history.ExtendFailed, history.Release, history.Lost, history.Cancel)
}

// Observe implements [timeline.Observer].
func (x exercise) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.Acquire:
		if f.Hold != nil && taken(f.Hold) == x.Permits {
			x.Full++
		}
	case history.Granted, timeline.Reentered:
		x.Grants++
		if f.Hold != nil && taken(f.Hold) > 0 {
			x.Beside++
		}
		if f.Resource != resource {
			x.Named++
		}
	case history.Cancel:
		x.Ended++
	case history.Refused:
		x.Refusals++
		x.Refusal = f.Reason
	case history.Extended:
		x.Extensions++
	case history.ExtendFailed:
		x.FailedExtensions++
		x.ExtensionError = f.Reason
	case history.Release:
		if f.Hold != nil && !f.Hold.Lost {
			x.ended(f.Hold, f.Time)
		}
	case history.Lost:
		if f.Hold != nil && !f.Hold.ReleaseCalled {
			x.Losses++
			if x.ended(f.Hold, f.Time); f.Hold.Endless() {
				x.EndlessLost++
			}
		}
	}
}

// taken returns how many permits other holds of the resource take.
func taken(but *timeline.Hold) (permits int) {
	for _, h := range but.Resource.Holds {
		if h != but && h.Leased() {
			permits += h.Weight
		}
	}
	return permits
}

// ended counts a hold if it was longer than the TTL.
func (x exercise) ended(h *timeline.Hold, at history.Time) {
	if h.Expired() {
		at = min(at, h.Expiry())
	}
	if at.Sub(h.GrantedAt) > h.TTL {
		x.BeyondTTL++
	}
}

// Add adds what other runs have tried.
func (e *Exercised) Add(more Exercised) {
	e.Grants += more.Grants
	e.Extensions += more.Extensions
	e.BeyondTTL += more.BeyondTTL
	e.Losses += more.Losses
	e.Ended += more.Ended
	e.Shared += more.Shared
	e.Named += more.Named
	e.Clocks += more.Clocks
	e.Belated += more.Belated
	e.SharedValue = cmp.Or(e.SharedValue, more.SharedValue)
	e.Permits = max(e.Permits, more.Permits)
	e.Beside += more.Beside
	e.Full += more.Full
	e.Refusals += more.Refusals
	e.Refusal = cmp.Or(more.Refusal, e.Refusal)
	e.FailedExtensions += more.FailedExtensions
	e.ExtensionError = cmp.Or(more.ExtensionError, e.ExtensionError)
	e.EndlessLost += more.EndlessLost
	for client, w := range more.Waits {
		if e.Waits == nil {
			e.Waits = map[int]Waits{}
		}
		e.Waits[client] = e.Waits[client].with(w)
	}
}

// Summary is what all storms of a lock have shown of it. A test that passes shows it in one line.
type Summary struct {
	Exercised
	storms, runs int
	generated    bool                          // some storm has generated faults
	idle         []string                      // storms none of whose faults took place
	unpromised   []string                      // storms in which no promise covers the faults
	open         []string                      // storms that are undecided
	blind        []string                      // storms in which it is not known whose the keys are
	unasked      map[checker.Property][]string // storms that violate what is not promised, without an excuse

	Warnings []string // what no promise covers, and who uses the lock should know
}

// Add adds a storm all of whose runs are made, of calls that may last for so long. open says that it is
// undecided.
func (s *Summary) Add(o *Outcome, patience time.Duration, open bool) {
	s.Exercised.Add(o.Exercised)
	s.Warnings = append(s.Warnings, o.warnings(patience, o.Scenario.Name)...)
	if o.faultless() && o.NothingDone() == "" {
		s.Warnings = append(s.Warnings, o.upkeepWarnings(o.Scenario.Name)...)
	}
	s.storms++
	s.runs += o.Runs
	name := o.Scenario.Name
	s.generated = s.generated || o.Scenario.Generate != nil
	if len(o.Scenario.Plan) > 0 && o.Faultless+o.Slipped == o.Runs && o.Runs > o.Slipped {
		s.idle = append(s.idle, name)
	}
	if o.Unpromised() {
		s.unpromised = append(s.unpromised, name)
	}
	if open {
		s.open = append(s.open, name)
	}
	if o.blind {
		s.blind = append(s.blind, name)
	}
	for p, is := range o.unasked {
		if is {
			if s.unasked == nil {
				s.unasked = map[checker.Property][]string{}
			}
			s.unasked[p] = append(s.unasked[p], name)
		}
	}
}

// Runs returns how many runs were added.
func (s *Summary) Runs() int { return s.runs }

// String says in one line what was tried, and what was not.
func (s *Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s of %s", textfmt.Count(s.Grants, "grant"), textfmt.Count(s.runs, "run"), textfmt.Count(s.storms, "storm"))
	var missing []string
	type part struct {
		n         int
		one, many string
	}
	parts := []part{{s.Extensions, "call of Extend", "calls of Extend"}, {s.BeyondTTL, "hold beyond the TTL", "holds beyond the TTL"}, {s.Losses, "notice of a loss", "notices of a loss"}, {s.Ended, "ended context", "ended contexts"},
		{s.Shared, "grant to callers that share a lock", "grants to callers that share a lock"}, {s.Named, "grant of a confusing name", "grants of confusing names"},
		{s.Clocks, "run with client clocks", "runs with client clocks"}}
	if s.Permits > 1 {
		parts = append(parts, part{s.Beside, "grant beside other holds", "grants beside other holds"}, part{s.Full, "call while no permit was free", "calls while no permit was free"})
	}
	for _, part := range parts {
		switch part.n {
		case 0:
			missing = append(missing, part.many)
		case 1:
			fmt.Fprintf(&b, ", 1 %s", part.one)
		default:
			fmt.Fprintf(&b, ", %d %s", part.n, part.many)
		}
	}
	if !s.generated {
		missing = append(missing, "generated faults")
	}
	if len(s.idle) > 0 {
		missing = append(missing, "the faults of "+textfmt.List(s.idle))
	}
	blind := s.blind
	if len(blind) == s.storms {
		blind = []string{"all storms"}
	}
	var unasked []string
	for _, p := range checker.Properties() {
		in := s.unasked[p]
		if len(in) > 2 {
			in = []string{in[0], textfmt.Count(len(in)-1, "more storm")}
		}
		if len(in) > 0 {
			unasked = append(unasked, fmt.Sprintf("%s in %s", p.Code(), strings.Join(in, " and ")))
		}
	}
	why := cmp.Or(s.SharedValue, "do calls share a token, or keep a hash?")
	for _, list := range []struct {
		what  string
		names []string
	}{{"violated, but not promised", unasked}, {"not exercised", missing}, {"no promise covers", s.unpromised}, {"undecided", s.open}, {"B, L3 and a part of C not judged, for lack of known keys (" + why + ")", blind}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "; %s: %s", list.what, strings.Join(list.names, ", "))
		}
	}
	if n := len(s.Warnings); n > 0 {
		fmt.Fprintf(&b, "; warning: %s", s.Warnings[0])
		if n > 1 {
			fmt.Fprintf(&b, " (and %s)", textfmt.Count(n-1, "more warning"))
		}
	}
	return b.String()
}
