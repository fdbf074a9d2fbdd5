package hunt_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
)

var findingRuns = flag.Int("finding-runs", 120, "how many random runs of each kind of lock the events of findings are compared with")

// Law: what a finding states holds in its history. Head, cause and advice agree: a violation that is
// called a defect within the assumptions of its lock names no broken assumption and no remedy for one,
// and a cause without a fault has none in its history.
func TestFindingsHold(t *testing.T) {
	kinds, _ := runner.Locks()
	seen := map[checker.Role]int{}
	for _, kind := range kinds {
		space := spaceOf(t, kind)
		err := hunt.Hunt{
			Backend: simulated.Backend(), Space: space, Terms: promises.Unconditional, MaxFaults: 6, Seed: 7, Runs: *findingRuns,
			Each: func(h hunt.Run) bool {
				if len(h.Broken) > 0 {
					checkRun(t, h, seen)
				}
				return true
			},
		}.Run(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
	}
	for _, needed := range []checker.Role{checker.RoleFault, checker.RoleAccess, checker.RoleOverlap, checker.RoleLoss, checker.RoleWait} {
		if seen[needed] == 0 {
			t.Errorf("no finding has an event of the role %q: the runs say little", needed)
		}
	}
	t.Log(seen)
}

// checkRun makes a run again with its history, and compares its findings with it.
func checkRun(t *testing.T, h hunt.Run, seen map[checker.Role]int) {
	t.Helper()
	var log history.Log
	e, err := runner.Prepare(simulated.Backend(), h.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Run(t.Context(), h.Seed, &log)
	if err != nil || result.TraceHash != h.Result.TraceHash {
		t.Fatalf("run %d is not repeated: %v", h.Number, err)
	}
	for _, p := range h.Broken {
		f := result.Report.Finding(p)
		w := witness{log: log, header: e.Header(h.Seed), finding: f}
		fail := func(what string) {
			t.Errorf("%s of lock %s, scenario %s with seed %d: %s\n%s\n%v", p.Title(), h.Scenario.Lock.Kind, h.Scenario.Name, h.Seed, what, f.Story(), h.Scenario.Plan)
		}
		for _, e := range w.events() {
			seen[e.Role]++
			if why := w.contradicts(e); why != "" {
				fail(fmt.Sprintf("%q does not hold: %s", e.Text, why))
			}
		}
		if f.Faultless == w.any(w.isFault) {
			fail(fmt.Sprintf("faultless: %v", f.Faultless))
		}
		for _, c := range f.Causes {
			if (c.Assumption != "") != (f.Causes[0].Assumption != "") {
				fail("an assumption is broken, and none is seen to be")
			}
			if why := w.unshown(c); why != "" {
				fail("the history does not show the cause: " + why)
			}
		}
		told, standing := promises.Told(result.Executed(), f)
		if broken := strings.Contains(told.Story(), "Broken assumption"); standing == promises.Defect && (broken || len(told.Remedies()) > 0) {
			fail(fmt.Sprintf("%q is told of it, and a broken assumption, or %q", standing, told.Remedies()))
		}
	}
}

// witness is the history that a finding is compared with.
type witness struct {
	log     history.Log
	header  history.Header
	finding checker.Finding
}

func (w witness) events() []checker.Event {
	all := slices.Clone(w.finding.Events)
	for _, c := range w.finding.Causes {
		all = append(all, c.Evidence...)
	}
	return all
}

func (w witness) any(is func(*history.Event) bool) bool {
	for i := range w.log {
		if is(&w.log[i]) {
			return true
		}
	}
	return false
}

func (w witness) isFault(e *history.Event) bool {
	return slices.Contains([]history.Kind{history.FaultStart, history.NodeDown, history.Pause, history.Kill}, e.Kind)
}

// at reports whether there is an event at an instant, of a client, if it is given.
func (w witness) at(at history.Time, client int) bool {
	return w.any(func(e *history.Event) bool {
		return (e.Time == at || e.Since == at || e.Sent == at) && (client == 0 || e.Client == client || e.Client == 0)
	})
}

// tokens returns the tokens under which a client asked for the lock.
func (w witness) tokens(client int) (tokens []string) {
	for i := range w.log {
		if e := &w.log[i]; e.Kind == history.Acquire && e.Client == client {
			tokens = append(tokens, e.Token)
		}
	}
	return tokens
}

// change reports whether a node made a change of the key of a client.
func (w witness) change(kind history.Kind, reason string, node, client int, at history.Time) bool {
	own := w.tokens(client)
	return w.any(func(e *history.Event) bool {
		return e.Kind == kind && e.Node == node && e.Time == at && e.Reason == reason && slices.Contains(own, e.Token)
	})
}

// reasons are the reasons in the history for the loss of a key that breaks an assumption.
var reasons = map[checker.Assumption][]string{
	checker.KeepsOrStaysAway: {history.Forgotten}, checker.KeepsUntilExpiry: {history.Evicted},
	checker.KeepsAcknowledged: {history.RolledBack, history.Expired}, checker.ClocksAgree: {history.Expired},
	checker.OnlyHolder: {history.Deleted, history.Expired}, checker.LookAndSet: {history.Overwritten},
}

// contradicts says why an event does not hold, or returns "": a client did something when it accessed
// the lock, and something was done to the world when a fault began, or nothing during the whole time.
func (w witness) contradicts(e checker.Event) string {
	switch {
	case e.From == 0:
	case e.Role == checker.RoleAccess && !w.at(e.From, e.Client):
		return "the client did nothing then"
	case e.Role != checker.RoleFault:
	case w.any(func(f *history.Event) bool { return w.isFault(f) && (f.Time == e.From || f.Time == e.To) }):
	case w.any(func(f *history.Event) bool { return w.isFault(f) && f.Time > e.From && f.Time < e.To }):
		return "another fault was injected then"
	case e.To == 0:
		return "nothing was done then"
	}
	return ""
}

// unshown says which step of a cause the history does not show, or returns "". A lost key is the cause
// of an overlap if its holder is one of the two clients, and lost it before the overlap began.
func (w witness) unshown(c checker.Cause) string {
	p := w.finding.First
	if c.Assumption == "" || p == nil {
		return ""
	}
	for _, e := range c.Evidence {
		for _, n := range e.Nodes {
			switch {
			case n.At != 0:
				if why := w.lost(n, cmp.Or(e.Client, p.First.Client), p.From, c.Assumption); why != "" {
					return why
				}
			case c.Assumption == checker.KeepsOrStaysAway && w.header.Keepers >= 0 && e.From.Sub(w.downBefore(n.Node, e.From)) >= w.header.LongestTTL:
				return fmt.Sprintf("node %d was away for longer than the TTL", n.Node)
			}
		}
	}
	return ""
}

// lost says how the history contradicts that a node lost the key of a client before an overlap began, or returns "".
func (w witness) lost(n checker.NodeTime, client int, overlap history.Time, broken checker.Assumption) string {
	switch {
	case n.At > overlap:
		return fmt.Sprintf("node %d lost client %d's key only after the overlap had begun", n.Node, client)
	case !slices.ContainsFunc(reasons[broken], func(reason string) bool { return w.change(history.KeyGone, reason, n.Node, client, n.At) }):
		return fmt.Sprintf("node %d did not lose client %d's key so", n.Node, client)
	}
	return ""
}

func (w witness) downBefore(node int, up history.Time) (down history.Time) {
	w.any(func(e *history.Event) bool {
		if e.Kind == history.NodeDown && e.Node == node && e.Time <= up {
			down = e.Time
		}
		return false
	})
	return down
}
