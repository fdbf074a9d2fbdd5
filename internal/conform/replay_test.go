package conform

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

const ms = time.Millisecond

// script is a run written by hand, of 3 nodes and right clocks. TTL is 100 ms, the allowance 2 ms.
type script struct {
	recorder *Recorder
	now      history.Time
	sends    int
	outcome  *Outcome
}

func newScript() *script {
	s := &script{}
	s.recorder = New(Lock{Clock: env.Monotonic, Allowance: func(time.Duration) time.Duration { return 2 * ms }}, func(o Outcome) { s.outcome = &o })
	s.recorder.Start(history.Header{Nodes: 3, Clients: 2}, s)
	return s
}

func (s *script) Ground() history.Time                   { return s.now }
func (s *script) ClientClock(int, env.Clock) env.Instant { return env.Instant(s.now) }
func (s *script) NodeClock(int) env.Instant              { return env.Instant(s.now) }
func (s *script) at(d time.Duration)                     { s.now = history.Time(d) }
func (s *script) event(e history.Event)                  { e.Time = s.now; s.recorder.Record(&e) }
func (s *script) client(c int, k history.Kind, token string) {
	s.event(history.Event{Kind: k, Client: c, Token: token, Resource: "r", TTL: 100 * ms})
}

func (s *script) send(c int, op env.Op, token string) int {
	s.sends++
	s.recorder.Sent(c, s.sends, env.Command{Op: op, Key: "r", Token: token, TTL: 100 * ms})
	return s.sends
}

// executes lets a node carry out a command, and the client receive its reply.
func (s *script) executes(node, send int, k history.Kind, reason string) {
	s.recorder.Executes(node, send)
	s.recorder.Replied(send, env.Reply{Node: node, Answer: env.Yes})
	s.unheard(node, send, k, reason)
}

// unheard is the effect of a command to which no reply arrives.
func (s *script) unheard(node, send int, k history.Kind, reason string) {
	c := s.recorder.sends[send]
	s.event(history.Event{Kind: k, Client: c.client, Node: node, Resource: "r", Token: c.command.Token, Ends: s.now.Add(100 * ms), Reason: reason})
}

// begin begins a try, and returns its SET.
func (s *script) begin(c int, token string) int {
	s.client(c, history.Acquire, token)
	s.event(history.Event{Kind: history.Step, Name: history.BeforeSend, Client: c, Token: token, Resource: "r"})
	return s.send(c, env.OpSet, token)
}

func (s *script) granted(c int, k history.Kind, token string, until time.Duration) {
	s.event(history.Event{Kind: k, Client: c, Token: token, Resource: "r", TTL: 100 * ms, Until: int64(until), Ends: history.Time(until), Now: int64(s.now)})
}

func (s *script) end() Outcome {
	s.event(history.Event{Kind: history.End})
	return *s.outcome
}

// Each script is one run of a hold that is extended and released, with one step that is different.
func TestReplay(t *testing.T) {
	const none = ""
	for name, c := range map[string]struct {
		change func(s *script, step string, do func()) // is called in place of a step
		want   string                                  // the first mismatch: "Step: guard"; "": none
	}{
		"as it should be": {nil, none},
		"no quorum": {func(s *script, step string, do func()) {
			if step != "set 2" {
				do()
			}
		}, "Grant: HasQuorum"},
		"a grant after the end": {func(s *script, step string, do func()) {
			if step == "grant" {
				s.at(99 * ms)
			}
			do()
		}, "Grant: A6Check"},
		"a claim that the allowance does not leave": {func(s *script, step string, do func()) {
			if step == "grant" {
				s.granted(1, history.Granted, "a", 99*ms)
			} else {
				do()
			}
		}, "Send: DriftFactor"},
		"a token again": {func(s *script, step string, do func()) {
			if step == "extend" {
				s.client(2, history.Acquire, "a")
			}
			do()
		}, "Begin: A2Fresh"},
		"a SET of nobody's": {func(s *script, step string, do func()) {
			if step == "extend" {
				s.send(2, env.OpSet, "b")
			}
			do()
		}, "no step of the specification: no counterpart"},
		"a delete of a hold that goes on": {func(s *script, step string, do func()) {
			if step == "extend" {
				s.executes(1, s.send(1, env.OpDelete, "a"), history.KeyGone, history.Deleted)
			}
			do()
		}, "Delete: A2GivenUp"},
		"a delete of another's key": {func(s *script, step string, do func()) {
			if step == "extend" {
				s.begin(2, "b")
				s.client(2, history.Refused, "b")
				s.recorder.Executes(1, s.send(2, env.OpRemove, "b"))
				s.event(history.Event{Kind: history.KeyGone, Client: 2, Node: 1, Resource: "r", Token: "a", Reason: history.Deleted})
			}
			do()
		}, "Delete: A2Compares"},
		"an eviction": {func(s *script, step string, do func()) {
			if step == "extend" {
				s.event(history.Event{Kind: history.KeyGone, Node: 1, Resource: "r", Token: "a", Reason: history.Evicted})
			}
			do()
		}, "Drop: A3Expired"},
		"a second key": {func(s *script, step string, do func()) {
			if step == "extend" {
				s.executes(1, s.begin(2, "b"), history.KeySet, "")
			}
			do()
		}, "Set: A3Absent"},
		"an extension of no key": {func(s *script, step string, do func()) {
			do()
			if step == "extended 2" {
				s.executes(3, s.sends, history.KeySet, "")
			}
		}, "Extend: n in s.key"},
		"an extension of a key that a copy of the SET has set again": {func(s *script, step string, do func()) {
			do()
			if step == "set 2" {
				s.event(history.Event{Kind: history.KeyGone, Node: 2, Resource: "r", Token: "a", Reason: history.Forgotten})
				s.executes(2, s.sends, history.KeySet, "")
			}
		}, "Grant: A4Extends"},
		"an older version that it never had": {func(s *script, step string, do func()) {
			if step == "extend" {
				s.recorder.Restored(2, "r", "z", 77, s.now.Add(time.Second))
			}
			do()
		}, "Revert: A4Own"},
		"a key that lasts too short": {func(s *script, step string, do func()) {
			if step == "release" {
				s.event(history.Event{Kind: history.KeyGone, Node: 1, Resource: "r", Token: "a", Reason: history.Expired})
			}
			do()
		}, "Send: A5"},
	} {
		s := newScript()
		do := func(step string, f func()) {
			s.now += history.Time(ms)
			if c.change == nil {
				f()
			} else {
				c.change(s, step, f)
			}
		}
		set := s.begin(1, "a")
		do("set 1", func() { s.executes(1, set, history.KeySet, "") })
		do("set 2", func() { s.executes(2, set, history.KeySet, "") })
		do("grant", func() { s.granted(1, history.Granted, "a", 98*ms) })
		s.at(40 * ms)
		do("extend", func() {
			s.event(history.Event{Kind: history.Extend, Client: 1, Token: "a", Resource: "r", TTL: 100 * ms, Until: int64(s.now.Add(98 * ms))})
		})
		read, extend := s.now, s.send(1, env.OpExtend, "a")
		do("extended 1", func() { s.executes(1, extend, history.KeyExtended, "") })
		do("extended 2", func() { s.executes(2, extend, history.KeyExtended, "") })
		do("granted again", func() { s.granted(1, history.Extended, "a", time.Duration(read.Add(98*ms))) })
		do("release", func() { s.client(1, history.Release, "a") })
		s.recorder.Executes(1, s.send(1, env.OpDelete, "a"))
		o := s.end()
		got := ""
		if len(o.Mismatches) > 0 {
			got = o.Mismatches[0].Step + ": " + o.Mismatches[0].Wrong[0]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %v", name, got, c.want, o.Mismatches)
		}
		if name == "as it should be" && (o.Steps["Set"] != 2 || o.Steps["Extend"] != 2 || o.Steps["Grant"] != 2 || o.Steps["GiveUp"] != 1) {
			t.Errorf("%v", o.Steps)
		}
	}
}

// A grant that is reported late, after its end, is one of the instant at which the lock looked at its clock; and
// the lapse of its end comes just before it.
func TestLateReport(t *testing.T) {
	s := newScript()
	set := s.begin(1, "a")
	s.executes(1, set, history.KeySet, "")
	s.executes(2, set, history.KeySet, "")
	s.granted(1, history.Granted, "a", 98*ms)
	s.at(40 * ms)
	s.event(history.Event{Kind: history.Extend, Client: 1, Token: "a", Resource: "r", TTL: 100 * ms, Until: int64(138 * ms)})
	extend := s.send(1, env.OpExtend, "a")
	s.executes(1, extend, history.KeyExtended, "")
	s.executes(2, extend, history.KeyExtended, "")
	s.event(history.Event{Kind: history.Pause, Client: 1})
	looked := s.now
	s.at(98 * ms)
	s.client(1, history.Lapse, "a")
	s.at(500 * ms)
	s.event(history.Event{Kind: history.Resume, Client: 1})
	s.event(history.Event{Kind: history.Lapse, Client: 1, Token: "a", Resource: "r", Since: history.Time(138 * ms)})
	s.event(history.Event{Kind: history.Extended, Client: 1, Token: "a", Resource: "r", TTL: 100 * ms, Until: int64(138 * ms), Ends: history.Time(138 * ms), Now: int64(looked)})
	if o := s.end(); len(o.Mismatches) > 0 || o.Steps["Grant"] != 2 {
		t.Errorf("%v %v", o.Steps, o.Mismatches)
	}
}

// The votes of nodes that may not vote make no quorum, and the mismatch names what they break.
func TestWithheldVotes(t *testing.T) {
	s := newScript()
	other := s.begin(2, "b")
	s.at(ms)
	for node := 2; node <= 3; node++ {
		s.executes(node, other, history.KeySet, "")
		s.event(history.Event{Kind: history.KeyGone, Node: node, Resource: "r", Token: "b", Reason: history.Forgotten})
	}
	s.at(2 * ms)
	set := s.begin(1, "a")
	s.executes(2, set, history.KeySet, "")
	s.executes(3, set, history.KeySet, "")
	s.granted(1, history.Granted, "a", 100*ms)
	o := s.end()
	if len(o.Mismatches) == 0 || o.Mismatches[0].Wrong[0] != "A4Quiet" || !slices.Equal(o.Assumptions(), []string{"A4Quiet"}) {
		t.Errorf("%v", o.Mismatches)
	}
	if text := o.Mismatches[0].String(); !strings.HasPrefix(text, "2ms: granted of client 1: Grant: A4Quiet") {
		t.Error(text)
	}
}

// A draw of a fence, with one step that is different.
func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *script, step string, do func()) // as in TestReplay
		want   string
	}{
		"as it should be": {func(_ *script, _ string, do func()) { do() }, ""},
		"before a quorum": {func(_ *script, step string, do func()) {
			if step != "set 2" {
				do()
			}
		}, "BeginDraw: HasQuorum"},
		"without reading": {func(_ *script, step string, do func()) {
			if step != "count" && step != "read 1" && step != "read 2" {
				do()
			}
		}, "no step of the specification: no counterpart"},
		"of one node's number": {func(_ *script, step string, do func()) {
			if step != "read 2" {
				do()
			}
		}, "Choose: HasQuorum"},
		"no higher than what was read": {func(s *script, step string, do func()) {
			if step == "count" {
				s.recorder.Counted(2, "r:fence", 7)
			}
			do()
		}, "Choose: number > s.draws[d].highest"},
		"raised on one node": {func(_ *script, step string, do func()) {
			if step != "raise 2" {
				do()
			}
		}, "EndDraw: HasQuorum"},
		"another fence": {func(s *script, step string, do func()) {
			if step == "grant" {
				s.event(history.Event{Kind: history.Granted, Client: 1, Token: "a", Resource: "r", Until: int64(98 * ms), Ends: history.Time(98 * ms), Now: int64(s.now), Fence: 2})
			} else {
				do()
			}
		}, "EndDraw: the fence is the number drawn"},
		"a node that forgets": {func(s *script, step string, do func()) {
			if do(); step == "grant" {
				s.recorder.Counted(1, "r:fence", 0)
			}
		}, "Change: F1"},
		"a request that comes late": {func(s *script, step string, do func()) {
			if do(); step == "grant" {
				s.recorder.Executes(3, s.sends)
				s.recorder.Counted(3, "r:fence", 1)
			}
		}, ""},
	} {
		s := newScript()
		fence := func(op env.Op, number uint64) {
			s.sends++
			s.recorder.Sent(1, s.sends, env.Command{Op: op, Key: "r:fence", Token: "a", Count: number})
		}
		do := func(step string, f func()) {
			s.now += history.Time(ms)
			c.change(s, step, f)
		}
		set := s.begin(1, "a")
		do("set 1", func() { s.executes(1, set, history.KeySet, "") })
		do("set 2", func() { s.executes(2, set, history.KeySet, "") })
		s.event(history.Event{Kind: history.Step, Name: afterCheck, Client: 1, Token: "a", Resource: "r"})
		do("count", func() { fence(env.OpCount, 0) })
		for node := 1; node <= 2; node++ {
			do([]string{"", "read 1", "read 2"}[node], func() {
				s.recorder.Executes(node, s.sends)
				number := uint64(0)
				if name == "no higher than what was read" && node == 2 {
					number = 7
				}
				s.recorder.Replied(s.sends, env.Reply{Node: node, Answer: env.Yes, Count: number})
			})
		}
		do("raise", func() { fence(env.OpRaise, 1) })
		for node := 1; node <= 2; node++ {
			do([]string{"", "raise 1", "raise 2"}[node], func() {
				s.recorder.Executes(node, s.sends)
				s.recorder.Counted(node, "r:fence", 1)
				s.recorder.Replied(s.sends, env.Reply{Node: node, Answer: env.Yes, Count: 1})
			})
		}
		do("grant", func() {
			s.event(history.Event{Kind: history.Granted, Client: 1, Token: "a", Resource: "r", Until: int64(98 * ms), Ends: history.Time(98 * ms), Now: int64(s.now), Fence: 1})
		})
		o := s.end()
		got := ""
		if len(o.Mismatches) > 0 {
			got = o.Mismatches[0].Step + ": " + o.Mismatches[0].Wrong[0]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %v", name, got, c.want, o.Mismatches)
		}
		if name == "as it should be" && (o.Steps["BeginDraw"] != 1 || o.Steps["Count"] != 2 || o.Steps["Choose"] != 1 || o.Steps["Raise"] != 2 || o.Steps["EndDraw"] != 1) {
			t.Errorf("%v", o.Steps)
		}
	}
}

// Law: what a node loses that nobody has seen it never did: with appendfsync always, a power loss before the sync.
// What somebody has seen is lost.
func TestLossOfWhatNobodyHasSeen(t *testing.T) {
	for _, seen := range []bool{false, true} {
		s := newScript()
		first := s.begin(1, "a")
		s.at(ms)
		s.recorder.Executes(1, first)
		if seen {
			s.recorder.Replied(first, env.Reply{Node: 1, Answer: env.Yes})
		}
		s.unheard(1, first, history.KeySet, "")
		s.at(2 * ms)
		s.event(history.Event{Kind: history.NodeDown, Node: 1})
		s.event(history.Event{Kind: history.KeyGone, Node: 1, Resource: "r", Token: "a", Reason: history.RolledBack})
		s.at(3 * ms)
		s.event(history.Event{Kind: history.NodeUp, Node: 1})
		s.client(1, history.Refused, "a")
		second := s.begin(2, "b")
		s.executes(1, second, history.KeySet, "")
		s.executes(2, second, history.KeySet, "")
		s.at(4 * ms)
		s.granted(2, history.Granted, "b", 101*ms)
		o := s.end()
		if lost := o.Steps[string(empty)] > 0; lost != seen || (len(o.Mismatches) > 0) != seen {
			t.Errorf("seen %t: %v, %v", seen, o.Steps, o.Mismatches)
		}
	}
}

// An extension that asks one node after another goes on when it is granted, and the next one may have begun.
func TestExtensionsThatOverlap(t *testing.T) {
	s := newScript()
	first := s.begin(1, "a")
	for node := 1; node <= 3; node++ {
		s.executes(node, first, history.KeySet, "")
	}
	s.granted(1, history.Granted, "a", 98*ms)
	s.at(10 * ms)
	s.client(1, history.Extend, "a")
	for node := 1; node <= 2; node++ {
		s.executes(node, s.send(1, env.OpExtend, "a"), history.KeyExtended, "")
	}
	s.granted(1, history.Extended, "a", 108*ms)
	s.at(20 * ms)
	const longer = 50 * ms
	s.event(history.Event{Kind: history.Extend, Client: 1, Token: "a", Resource: "r", TTL: 100*ms + longer})
	s.executes(3, s.send(1, env.OpExtend, "a"), history.KeyExtended, "") // of the extension before
	for node := 1; node <= 2; node++ {
		s.sends++
		s.recorder.Sent(1, s.sends, env.Command{Op: env.OpExtend, Key: "r", Token: "a", TTL: 100*ms + longer})
		s.recorder.Executes(node, s.sends)
		s.recorder.Replied(s.sends, env.Reply{Node: node, Answer: env.Yes})
		s.event(history.Event{Kind: history.KeyExtended, Client: 1, Node: node, Resource: "r", Token: "a", Ends: s.now.Add(100*ms + longer)})
	}
	until := 118*ms + longer
	s.event(history.Event{Kind: history.Extended, Client: 1, Token: "a", Resource: "r", TTL: 100*ms + longer, Until: int64(until), Ends: history.Time(until), Now: int64(s.now)})
	s.at(30 * ms)
	s.client(1, history.Release, "a")
	if o := s.end(); len(o.Mismatches) > 0 || o.Steps["Extend"] != 5 {
		t.Errorf("%v, %v", o.Steps, o.Mismatches)
	}
}

// LateExtension does not hold of an extension whose votes rest on keys from before another's hold. Here a file
// brings such a key back.
func TestLateExtension(t *testing.T) {
	for _, c := range []struct {
		name string
		hold bool // another holds the lock between
		late bool // one vote of the extension rests on a later key
		want bool
	}{
		{"nobody between", false, false, true},
		{"another between", true, false, false},
		{"another between, and a vote for a later key", true, true, true},
	} {
		s := newMachine(history.Header{Nodes: 3}.Electorate(), 10)
		acquire := func(token string, nodes ...int) (try, round) {
			h, _ := s.Begin(token)
			i, _ := s.Send(h, s.now, 10, 100)
			for _, n := range nodes {
				delete(s.key, n)
				s.Set(i, n, s.now+100, true)
			}
			return h, i
		}
		a, _ := acquire("a", 1, 2)
		before := stored{2, s.key[2]}
		s.Tick(20)
		if c.hold {
			b, _ := acquire("b", 2, 3)
			s.Tick(5)
			s.GiveUp(b)
		}
		s.Revert(before, s.now)
		i, _ := s.Send(a, s.now, 10, 100)
		s.Extend(i, 1, s.now+100, true)
		if c.late {
			s.Tick(1)
			delete(s.key, 2)
			s.Set(i, 2, s.now+100, true)
		} else {
			s.Extend(i, 2, s.now+100, true)
		}
		if !s.Holds(i) || s.LateExtension() != c.want {
			t.Errorf("%s: holds %t, LateExtension %t, want %t", c.name, s.Holds(i), s.LateExtension(), c.want)
		}
	}
}
