package watch

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/conform"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Tally counts the outcomes of many runs. Its methods may be called concurrently.
type Tally struct {
	mu sync.Mutex

	Runs   int            // within the assumptions of lease exclusion
	Steps  map[string]int // of these runs, by kind
	Beyond int            // other runs
	Broken map[string]int // how many of those break an assumption, by its name in assumptions.dfy
	Found  []Found        // runs within the assumptions with a mismatch, by their numbers
}

// Found is the first mismatch of a run.
type Found struct {
	Run      int
	Scenario string
	conform.Mismatch
}

// Within reports whether the plan of a scenario keeps the assumptions under which its lock promises lease
// exclusion, and so those of the specification. Tokens made of times are outside of it: two tries of a client
// within a microsecond have the same. So is a node that can come back with what it had lost before (A4Own).
func Within(s scenarios.Scenario) bool {
	a, promised := promises.Of(s)[checker.Lease]
	return promised && a.Outside(s) == nil && s.Lock.Tokens != "time" && !losesTwice(s.World().Plan)
}

// losesTwice reports whether a node comes back as it was some time before, and another fault takes it down.
func losesTwice(plan nemesis.Plan) bool {
	for _, n := range plan.NodesThat(nemesis.ReturnsOld) {
		down := 0
		for _, f := range plan {
			if o := f.Action.Effects(nemesis.Setting{}).Outage; o.Node == n {
				down++
			}
		}
		if down > 1 {
			return true
		}
	}
	return false
}

// Watch returns an experiment whose runs are tallied under a number. That a node forgets a counter is a mismatch
// only where the lock promises fences.
func (t *Tally) Watch(number int, e runner.Experiment) runner.Experiment {
	s := e.Scenario()
	within := Within(s)
	a, promised := promises.Of(s)[checker.Fence]
	remembers := promised && a.Outside(s) == nil
	return Experiment(e, func(o conform.Outcome) {
		if within && !remembers {
			o.Mismatches = slices.DeleteFunc(o.Mismatches, conform.Mismatch.Forgets)
		}
		t.add(number, s.Name, within, o)
	})
}

func (t *Tally) add(number int, scenario string, within bool, o conform.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin()
	if !within {
		t.Beyond++
		for _, name := range o.Assumptions() {
			t.Broken[name]++
		}
		return
	}
	t.Runs++
	for kind, n := range o.Steps {
		t.Steps[kind] += n
	}
	if len(o.Mismatches) > 0 {
		t.Found = append(t.Found, Found{number, scenario, o.Mismatches[0]})
		slices.SortStableFunc(t.Found, func(a, b Found) int { return cmp.Compare(a.Run, b.Run) })
	}
}

// Add adds the counts of another tally.
func (t *Tally) Add(of *Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin()
	t.Runs, t.Beyond, t.Found = t.Runs+of.Runs, t.Beyond+of.Beyond, append(t.Found, of.Found...)
	for kind, n := range of.Steps {
		t.Steps[kind] += n
	}
	for name, n := range of.Broken {
		t.Broken[name] += n
	}
}

func (t *Tally) begin() {
	if t.Steps == nil {
		t.Steps, t.Broken = map[string]int{}, map[string]int{}
	}
}

// First returns the first mismatch of the runs up to a number, or nil.
func (t *Tally) First(number int) *Found {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.Found) == 0 || t.Found[0].Run > number {
		return nil
	}
	return &t.Found[0]
}

// Kinds returns the kinds of steps in the order of their names.
func (t *Tally) Kinds() []string { return slices.Sorted(maps.Keys(t.Steps)) }
