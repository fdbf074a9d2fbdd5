package external

import (
	"fmt"
	"strings"

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

	Permits int // of each resource
	Beside  int // grants beside other holds of the resource
	Full    int // calls of Lock while no permit was free

	Refusals int    // calls of Lock that have failed
	Refusal  string // the last error of Lock
}

// Reader returns a reader of a run that adds what the run tries: see [runner.Experiment.WithReader].
func (e *Exercised) Reader() func(*timeline.Timeline) {
	return func(t *timeline.Timeline) {
		e.Permits = t.Header.Permits()
		t.Listen(exercise{e})
	}
}

// exercise is a [timeline.Observer].
type exercise struct{ *Exercised }

// Wants implements [timeline.Observer].
func (exercise) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Extended, history.Release, history.Lost, history.Cancel)
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
	case history.Release:
		if f.Hold != nil && !f.Hold.Lost {
			x.ended(f.Hold, f.Time)
		}
	case history.Lost:
		if f.Hold != nil && !f.Hold.ReleaseCalled {
			x.Losses++
			x.ended(f.Hold, f.Time)
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
	e.Permits = max(e.Permits, more.Permits)
	e.Beside += more.Beside
	e.Full += more.Full
	e.Refusals += more.Refusals
	if more.Refusal != "" {
		e.Refusal = more.Refusal
	}
}

// Summary is what all storms of a lock have shown of it. A test that passes shows it in one line.
type Summary struct {
	Exercised
	storms, runs int
	generated    bool     // some storm has generated faults
	idle         []string // storms none of whose faults took place
	unpromised   []string // storms in which no promise covers the faults
	open         []string // storms that are undecided
}

// Add adds a storm all of whose runs are made. open says that it is undecided.
func (s *Summary) Add(o *Outcome, open bool) {
	s.Exercised.Add(o.Exercised)
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
	parts := []part{{s.Extensions, "extension", "extensions"}, {s.BeyondTTL, "hold beyond the TTL", "holds beyond the TTL"}, {s.Losses, "notice of a loss", "notices of a loss"}, {s.Ended, "ended context", "ended contexts"},
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
	for _, list := range []struct {
		what  string
		names []string
	}{{"not exercised", missing}, {"no promise covers", s.unpromised}, {"undecided", s.open}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "; %s: %s", list.what, strings.Join(list.names, ", "))
		}
	}
	return b.String()
}
