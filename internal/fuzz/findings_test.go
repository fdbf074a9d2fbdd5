package fuzz_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

var findingRuns = flag.Int("finding-runs", 120, "how many random runs of each kind of lock the statements of findings are compared with")

// Law: what a finding states holds in its history. Head, cause and advice agree: a violation that is
// called a defect within the assumptions of its lock names no broken assumption and no remedy for one,
// and a cause without a fault has none in its history.
func TestFindingsHold(t *testing.T) {
	kinds, _ := runner.Locks()
	seen := map[checker.StatementKind]int{}
	for _, kind := range kinds {
		space := spaceOf(t, kind)
		err := fuzz.Hunt{
			Backend: simulated.Backend(), Space: space, Terms: promises.Unconditional, MaxFaults: 6, Seed: 7, Runs: *findingRuns,
			Each: func(h fuzz.Run) bool {
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
	for _, needed := range []checker.StatementKind{checker.KeyLost, checker.Overlap, checker.FaultInjected, checker.KeyLeft} {
		if seen[needed] == 0 {
			t.Errorf("no finding states %q: the runs say little", needed)
		}
	}
	t.Log(seen)
}

// checkRun makes a run again with its history, and compares its findings with it.
func checkRun(t *testing.T, h fuzz.Run, seen map[checker.StatementKind]int) {
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
		for _, s := range w.statements() {
			seen[s.Kind]++
			if why := w.contradicts(s); why != "" {
				fail(fmt.Sprintf("%q does not hold: %s", s, why))
			}
		}
		for _, c := range f.Causes {
			if c.Faultless && w.any(w.isFault) {
				fail("a fault took place")
			}
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

func (w witness) statements() []checker.Statement {
	all := slices.Concat(w.finding.Events, w.finding.Meanwhile)
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

// at reports whether there is an event of one of the kinds at an instant, of a client, if it is given.
func (w witness) at(at history.Time, client int, kinds ...history.Kind) bool {
	return w.any(func(e *history.Event) bool {
		return e.Time == at && slices.Contains(kinds, e.Kind) && (client == 0 || e.Client == client || e.Client == 0)
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

// keeping returns the nodes that keep a key of a token at the end of an instant.
func (w witness) keeping(resource, token string, at history.Time) map[int]bool {
	keeps := map[int]bool{}
	for i := range w.log {
		switch e := &w.log[i]; {
		case e.Time > at || e.Token != token || e.Resource != resource:
		case e.Kind == history.KeySet:
			keeps[e.Node] = true
		case e.Kind == history.KeyGone:
			delete(keeps, e.Node)
		}
	}
	return keeps
}

// lost reports whether a node lost the key of a token between two instants.
func (w witness) lost(resource, token string, from, to history.Time) bool {
	return w.any(func(e *history.Event) bool {
		return e.Kind == history.KeyGone && e.Resource == resource && e.Token == token && e.Time >= from && e.Time <= to
	})
}

// reasons are the reasons in the history of what a finding calls so.
var reasons = map[string]string{
	"forgotten": history.Forgotten, "evicted": history.Evicted, "rolled-back": history.RolledBack, "earlier-expiry": history.Expired,
	"deleted": history.Deleted, "overwritten": history.Overwritten, "expired-for": history.Expired, "expired": history.Expired,
}

// contradicts says why a statement does not hold, or returns "".
func (w witness) contradicts(s checker.Statement) string {
	switch s.Kind {
	case checker.FaultInjected:
		if !w.any(func(e *history.Event) bool { return w.isFault(e) && e.Time == s.At }) {
			return "nothing was done then"
		}
	case checker.NoFault:
		if w.any(w.isFault) {
			return "a fault took place"
		}
	case checker.NoFaultThen:
		if p := w.finding.Where; w.any(func(e *history.Event) bool { return w.isFault(e) && e.Time >= p.From && e.Time <= p.To }) {
			return "a fault began then"
		}
	case checker.HoldBegan:
		return w.began(s)
	case checker.HoldEnded, checker.Overlap:
		return w.ended(s.End)
	case checker.LateExtension:
		if !w.at(s.At, s.Client, history.Extended) {
			return "no extension returned then"
		}
	case checker.FencedGrant, checker.FencedAfter:
		if !w.any(func(e *history.Event) bool {
			return e.Kind == history.Granted && e.Time == s.At && e.Token == s.Token && e.Fence == s.Fence
		}) {
			return "it was not granted with this fence"
		}
	case checker.Accessed:
		if !w.any(func(e *history.Event) bool {
			return e.Kind == history.Write && e.Time == s.At && e.Client == s.Client && e.Value == s.Wrote
		}) {
			return "it did not write this then"
		}
	case checker.KeyLeft:
		if s.Node != 0 && !w.keeping(s.Resource, s.Token, s.At)[s.Node] {
			return "the node did not keep it"
		}
	case checker.NeverExpires:
		if w.any(func(e *history.Event) bool {
			return e.Node == s.Node && e.Token == s.Token && (e.Kind == history.KeyExtended || e.Kind == history.KeySet && e.Detail != history.NoExpiry)
		}) {
			return "it got one"
		}
	case checker.CallSlow, checker.CallOpen:
		if !w.at(s.Call, s.Client, history.Acquire, history.Extend, history.Release) {
			return "it made no call then"
		}
	case checker.KeyDeleted:
		if s.Node != 0 && !w.change(history.KeyGone, history.Deleted, s.Node, s.Client, s.At) {
			return "the node did not delete it then"
		}
	case checker.Unbacked, checker.ReleaseDenied:
		return w.backing(s)
	case checker.DeletedInstead:
		if !w.change(history.KeyGone, history.Deleted, s.Node, s.Other, s.At) {
			return "the node did not delete it then"
		}
	case checker.ExtendedInstead:
		if !w.change(history.KeyExtended, "", s.Node, s.Other, s.At) {
			return "the node did not extend it then"
		}
	case checker.ValidityEnded:
		if !w.any(func(e *history.Event) bool {
			return e.Kind == history.Lapse && e.Client == s.Client && (e.Time == s.At || e.Since == s.At)
		}) {
			return "its clock did not come to it then"
		}
	case checker.StoodStill, checker.StoodBefore:
		if !w.at(s.From, s.Client, history.Pause) {
			return "it was not stopped then"
		}
	case checker.WriteLate, checker.WriteOpen:
		if !w.at(s.At, s.Client, history.Write) {
			return "it did not write then"
		}
	case checker.KeyLost:
		return w.keyLost(s)
	case checker.NotRenewed:
		return w.notRenewed(s)
	case checker.FewVotes:
		return w.fewVotes(s)
	case checker.GrantedBoth:
		if p := w.finding.First; s.Client != 0 && p != nil && w.lost(p.First.Resource, p.First.Token, p.First.Call, p.From) {
			return "a node had lost it"
		}
	case checker.TwoKeys:
		return w.twoKeys(s)
	case checker.KeyLived, checker.KeyEarly:
		if !w.any(func(e *history.Event) bool {
			return e.Kind == history.KeyGone && e.Reason == history.Expired && slices.Contains(w.tokens(s.Client), e.Token)
		}) {
			return "no key of its expired"
		}
	case checker.ClocksAhead, checker.LeaderAhead, checker.ClockBehind:
		if !w.any(func(e *history.Event) bool {
			node := e.Node == s.Node && s.Node != 0 || slices.ContainsFunc(s.Nodes, func(n checker.NodeTime) bool { return n.Node == e.Node })
			return e.Kind == history.FaultStart && (node || e.Client == s.Client && s.Client != 0)
		}) {
			return "no fault made this clock wrong"
		}
	case checker.CameBackEmpty, checker.CameBackWithout:
		if !w.any(func(e *history.Event) bool {
			return e.Kind == history.NodeUp && e.Node == s.Node && e.Time == s.At && e.Detail == s.Detail
		}) {
			return "it did not come back so"
		}
	case checker.EntryGone:
		if own := w.tokens(s.Client); !w.any(func(e *history.Event) bool {
			return (e.Kind == history.EntryGone || e.Kind == history.EntryDeleted) && e.Time == s.At && slices.Contains(own, e.Token)
		}) {
			return "it was not gone then"
		}
	case checker.Leads, checker.LeadsWithout:
		if !w.any(func(e *history.Event) bool {
			return e.Time == s.At && (e.Kind == history.Leader || e.Kind == history.EntryGone)
		}) {
			return "the leader did not change then"
		}
	case checker.SentTwice:
		sets := 0
		w.any(func(e *history.Event) bool {
			if e.Kind == history.KeySet && e.Node == s.Node && e.Client == s.Client && e.Sent == s.At {
				sets++
			}
			return false
		})
		if sets < 2 {
			return fmt.Sprintf("the request set it %d times", sets)
		}
	case checker.DiedHolding:
		if !w.at(s.At, s.Client, history.Kill) || !w.at(s.From, s.Client, history.Granted) {
			return "it was not granted, or did not die, then"
		}
	case checker.TryOutlived:
		if !w.at(s.Call, s.Client, history.Acquire) || s.For <= s.TTL {
			return "it did not take longer than its TTL"
		}
	}
	return ""
}

func (w witness) began(s checker.Statement) string {
	kinds := map[string][]history.Kind{
		"granted": {history.Granted}, "extended": {history.Extended, history.Granted},
		"acted": {history.Extend, history.Write, history.Apply},
	}[s.Detail]
	if !w.at(s.At, s.Client, kinds...) {
		return "it did not begin then"
	}
	return ""
}

func (w witness) ended(end *checker.End) string {
	if end == nil || w.any(func(e *history.Event) bool {
		at := e.Time == end.At || e.Since == end.At
		return at && e.Kind.String() == end.By && (e.Client == end.Client || e.Kind == history.End)
	}) {
		return ""
	}
	return "it did not end so"
}

// backing compares what nodes did between a call and its return.
func (w witness) backing(s checker.Statement) string {
	if s.Share == nil {
		return ""
	}
	did := map[int]bool{}
	for i := range w.log {
		e := &w.log[i]
		done := e.Kind == history.KeyGone && e.Reason == history.Deleted
		if s.Detail == "extend" {
			done = e.Kind == history.KeyExtended || e.Kind == history.KeySet
		}
		if done && e.Token == s.Token && e.Client == s.Client && e.Time >= s.Call && e.Time <= s.At {
			did[e.Node] = true
		}
	}
	if len(did) < s.Share.Nodes || s.Kind == checker.Unbacked && len(did) > s.Share.Nodes && s.Share.OfNodes == w.header.Nodes {
		return fmt.Sprintf("%d nodes did", len(did))
	}
	return ""
}

// keyLost compares the loss of keys with the history: they were there, and were lost so and then.
func (w witness) keyLost(s checker.Statement) string {
	for _, n := range s.Nodes {
		told := reasons[s.Detail]
		own := s.Detail == "by-itself" && (w.change(history.KeyGone, history.Deleted, n.Node, s.Client, n.At) || w.change(history.KeyGone, history.Overwritten, n.Node, s.Client, n.At))
		if !own && !w.change(history.KeyGone, told, n.Node, s.Client, n.At) {
			return fmt.Sprintf("node %d did not lose it so", n.Node)
		}
	}
	return ""
}

// notRenewed compares the end of a TTL with the history: the other's key came after it.
func (w witness) notRenewed(s checker.Statement) string {
	theirs := w.tokens(s.Other)
	for _, n := range s.Nodes {
		if !w.any(func(e *history.Event) bool {
			return e.Kind == history.KeySet && e.Node == n.Node && e.Time >= n.At && slices.Contains(theirs, e.Token)
		}) {
			return fmt.Sprintf("node %d did not set client %d's key after that", n.Node, s.Other)
		}
	}
	return ""
}

// fewVotes counts the votes of a grant.
func (w witness) fewVotes(s checker.Statement) string {
	p := w.finding.First
	if p == nil {
		return ""
	}
	granted := p.First
	if s.Other == p.Second.Client {
		granted = p.Second
	}
	electorate := w.header.Electorate()
	votes := 0
	for node := range w.keeping(granted.Resource, granted.Token, granted.Granted) {
		if electorate.Voters&(1<<(node-1)) != 0 {
			votes++
		}
	}
	// A key that was gone in the very instant of the grant was there when it was granted.
	if gone := w.lost(granted.Resource, granted.Token, granted.Granted, granted.Granted); votes != s.Share.Nodes && !gone {
		return fmt.Sprintf("%d nodes had its key", votes)
	}
	if s.Client != s.Other && !s.More && w.lost(p.First.Resource, p.First.Token, p.First.Call, p.From) {
		return "a node had lost the other's"
	}
	return ""
}

func (w witness) twoKeys(s checker.Statement) string {
	p := w.finding.First
	if p == nil {
		return ""
	}
	for _, n := range s.Nodes {
		for _, g := range []checker.Grant{p.First, p.Second} {
			if !w.any(func(e *history.Event) bool { return e.Kind == history.KeySet && e.Node == n.Node && e.Token == g.Token }) {
				return fmt.Sprintf("node %d never had client %d's", n.Node, g.Client)
			}
		}
	}
	return ""
}

// unshown says which step of a cause the history does not show, or returns "". A lost key is the cause
// of an overlap if the other client's key was set on that node after it, for the grant, and before the
// TTL of the lost key was over.
func (w witness) unshown(c checker.Cause) string {
	p := w.finding.First
	if c.Assumption == "" || p == nil {
		return ""
	}
	for _, s := range c.Evidence {
		switch s.Kind {
		case checker.KeyLost:
			for _, n := range s.Nodes {
				if why := w.counted(n, p, s.Detail); why != "" {
					return why
				}
			}
		case checker.CameBackEmpty:
			if w.header.Keepers >= 0 && s.At.Sub(w.downBefore(s.Node, s.At)) >= w.header.LongestTTL {
				return fmt.Sprintf("node %d was away for longer than the TTL", s.Node)
			}
		}
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

func (w witness) counted(lost checker.NodeTime, p *checker.Pair, how string) string {
	holder, other := p.First, p.Second
	over, vote := history.Time(0), history.Time(-1)
	ttl := time.Duration(0)
	for i := range w.log {
		e := &w.log[i]
		if e.Token == holder.Token && e.Client == holder.Client {
			ttl = max(ttl, e.TTL)
		}
		if e.Node != lost.Node || e.Resource != holder.Resource {
			continue
		}
		if e.Token == holder.Token && (e.Kind == history.KeySet || e.Kind == history.KeyExtended) && e.Time <= lost.At {
			over = e.Time.Add(ttl)
		}
		// Clones have the same tokens.
		if theirs := e.Client == other.Client || other.Token != holder.Token; theirs && e.Token == other.Token && e.Kind == history.KeySet && e.Time >= lost.At && vote < 0 {
			vote = e.Time
		}
	}
	switch {
	case over == 0:
		return fmt.Sprintf("node %d did not have the key", lost.Node)
	case vote < 0:
		return fmt.Sprintf("node %d did not set client %d's key after that", lost.Node, other.Client)
	case vote >= over && ttl > 0 && reasons[how] != history.Expired:
		return fmt.Sprintf("the TTL was over at %v, before node %d set client %d's key at %v", over, lost.Node, other.Client, vote)
	}
	return ""
}
