package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// Keys of an external lock are recorded under the names of the calls that set them.
func TestAliases(t *testing.T) {
	acquire := func(at history.Time, client int, token string) history.Event {
		return history.Event{Time: at, Kind: history.Acquire, Client: client, Resource: "stock", Token: token}
	}
	set := func(at, sent history.Time, client, node int, name, value string) history.Event {
		return history.Event{Time: at, Kind: history.KeySet, Sent: sent, Client: client, Node: node, Resource: name, Token: value}
	}
	gone := func(at history.Time, client, node int, name, value string) history.Event {
		return history.Event{Time: at, Kind: history.KeyGone, Client: client, Node: node, Resource: name, Token: value, Reason: history.Deleted}
	}
	overwritten := func(at history.Time, client, node int, name, value string) history.Event {
		e := gone(at, client, node, name, value)
		e.Reason = history.Overwritten
		return e
	}
	granted := func(at history.Time, client int, token string) history.Event {
		return history.Event{Time: at, Kind: history.Granted, Client: client, Resource: "stock", Token: token}
	}
	for _, c := range []struct {
		name   string
		events []history.Event
		want   string
	}{
		{
			"a key is that of the call",
			[]history.Event{acquire(1, 1, "1.1"), set(3, 2, 1, 1, "lock:stock", "x"), gone(5, 1, 1, "lock:stock", "x")},
			"1 acquire 1.1, 3 key-set 1.1 on 1, 5 key-gone 1.1 on 1",
		},
		{
			"one that comes late is that of the call in which it was sent",
			[]history.Event{acquire(1, 1, "1.1"), acquire(9, 1, "1.2"), set(10, 2, 1, 1, "k", "x"), set(12, 11, 1, 2, "k", "y")},
			"1 acquire 1.1, 9 acquire 1.2, 10 key-set 1.1 on 1, 12 key-set 1.2 on 2",
		},
		{
			"two of one call on a node are one",
			[]history.Event{acquire(1, 1, "1.1"), set(2, 1, 1, 1, "a", "x"), set(3, 1, 1, 1, "b", "x"), gone(4, 1, 1, "a", "x"), gone(5, 1, 1, "b", "x")},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 5 key-gone 1.1 on 1",
		},
		{
			"an earlier try is none of the hold",
			[]history.Event{
				acquire(1, 1, "1.1"), set(2, 1, 1, 1, "k", "x"), set(5, 4, 1, 2, "k", "y"),
				{Time: 6, Kind: history.Granted, Client: 1, Resource: "stock", Token: "1.1"},
				gone(7, 1, 1, "k", "x"), set(8, 2, 1, 3, "k", "x"), gone(9, 1, 2, "k", "y"),
			},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 5 key-gone 1.1 on 1, 5 key-set 1.1, try 1 on 1, 5 key-set 1.1 on 2, 6 granted 1.1, 7 key-gone 1.1, try 1 on 1, 8 key-set 1.1, try 1 on 3, 9 key-gone 1.1 on 2",
		},
		{
			"an earlier try of several keys on a node is none of the hold, whichever of them are there",
			[]history.Event{
				acquire(1, 1, "1.1"), set(2, 1, 1, 1, "a", "x"), set(3, 1, 1, 1, "b", "x"), set(3, 1, 1, 1, "c", "x"), gone(4, 1, 1, "a", "x"),
				set(6, 5, 1, 1, "a", "y"), gone(7, 1, 1, "b", "x"), gone(7, 1, 1, "c", "x"), gone(8, 1, 1, "a", "y"),
			},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 6 key-gone 1.1 on 1, 6 key-set 1.1, try 1 on 1, 6 key-set 1.1 on 1, 7 key-gone 1.1, try 1 on 1, 8 key-gone 1.1 on 1",
		},
		{
			"a try whose key comes behind that of a later one is an earlier one",
			[]history.Event{acquire(1, 1, "1.1"), set(5, 4, 1, 1, "k", "y"), set(6, 2, 1, 2, "k", "x")},
			"1 acquire 1.1, 5 key-set 1.1 on 1, 6 key-set 1.1, try 1 on 2",
		},
		{
			"one of an earlier try that set no key before, and comes after the grant, is none of the hold",
			[]history.Event{
				acquire(1, 1, "1.1"), set(5, 4, 1, 1, "k", "y"), set(5, 4, 1, 2, "k", "y"), granted(6, 1, "1.1"),
				set(8, 7, 1, 3, "k", "x"), gone(9, 1, 3, "k", "x"),
			},
			"1 acquire 1.1, 5 key-set 1.1 on 1, 5 key-set 1.1 on 2, 6 granted 1.1, 8 key-set 1.1, try 1 on 3, 9 key-gone 1.1, try 1 on 3",
		},
		{
			"nor is one that comes just before the grant, and takes its place",
			[]history.Event{
				acquire(1, 1, "1.1"), set(5, 4, 1, 1, "k", "y"), set(5, 4, 1, 2, "k", "y"), set(6, 5, 1, 3, "k", "x"), granted(7, 1, "1.1"), gone(8, 1, 3, "k", "x"),
			},
			"1 acquire 1.1, 5 key-set 1.1 on 1, 5 key-set 1.1 on 2, 6 key-gone 1.1 on 1, 6 key-gone 1.1 on 2, 6 key-set 1.1, try 1 on 1, 6 key-set 1.1, try 1 on 2, 6 key-set 1.1 on 3, " +
				"7 key-gone 1.1, try 1 on 1, 7 key-gone 1.1, try 1 on 2, 7 key-gone 1.1 on 3, 7 key-set 1.1 on 1, 7 key-set 1.1 on 2, 7 key-set 1.1, try 2 on 3, 7 granted 1.1, 8 key-gone 1.1, try 2 on 3",
		},
		{
			"a hold whose keys are gone when it is granted does not take those of an earlier try",
			[]history.Event{
				acquire(1, 1, "1.1"), set(2, 1, 1, 3, "k", "x"), set(5, 4, 1, 1, "k", "y"), set(5, 4, 1, 2, "k", "y"),
				gone(6, 2, 1, "k", "y"), gone(6, 2, 2, "k", "y"), granted(7, 1, "1.1"), gone(8, 1, 3, "k", "x"),
			},
			"1 acquire 1.1, 2 key-set 1.1 on 3, 5 key-gone 1.1 on 3, 5 key-set 1.1, try 1 on 3, 5 key-set 1.1 on 1, 5 key-set 1.1 on 2, " +
				"6 key-gone 1.1 on 1, 6 key-gone 1.1 on 2, 7 granted 1.1, 8 key-gone 1.1, try 1 on 3",
		},
		{
			"a value that replaces the hold's is the hold's, and so is the old one elsewhere",
			[]history.Event{
				acquire(1, 1, "1.1"), set(2, 1, 1, 1, "k", "x"), set(2, 1, 1, 2, "k", "x"), set(2, 1, 1, 3, "k", "x"), granted(3, 1, "1.1"),
				overwritten(5, 1, 1, "k", "x"), set(5, 4, 1, 1, "k", "y"), overwritten(5, 1, 2, "k", "x"), set(5, 4, 1, 2, "k", "y"),
				gone(7, 1, 1, "k", "y"), gone(7, 1, 3, "k", "x"),
			},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 2 key-set 1.1 on 2, 2 key-set 1.1 on 3, 3 granted 1.1, 5 key-gone 1.1 on 1, 5 key-set 1.1 on 1, 5 key-gone 1.1 on 2, 5 key-set 1.1 on 2, " +
				"7 key-gone 1.1 on 1, 7 key-gone 1.1 on 3",
		},
		{
			"a value that replaces another's is none of that hold",
			[]history.Event{
				acquire(1, 1, "1.1"), set(2, 1, 1, 1, "k", "x"), granted(3, 1, "1.1"), acquire(4, 2, "2.1"),
				overwritten(5, 2, 1, "k", "x"), set(5, 4, 2, 1, "k", "y"),
			},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 3 granted 1.1, 4 acquire 2.1, 5 key-gone 1.1 on 1, 5 key-set 2.1 on 1",
		},
		{
			"what a node takes back is that of whom it was",
			[]history.Event{
				acquire(1, 1, "1.1"), set(2, 1, 1, 1, "k", "x"), gone(3, 1, 1, "k", "x"),
				{Time: 4, Kind: history.KeySet, Node: 1, Resource: "k", Token: "x"},
			},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 3 key-gone 1.1 on 1, 4 key-set 1.1 on 1",
		},
		{
			"what is there without a call is no lock's",
			[]history.Event{set(1, 1, 1, 1, "config", "x"), gone(2, 1, 1, "config", "x"), acquire(3, 1, "1.1")},
			"3 acquire 1.1",
		},
		{
			"a deletion by another is told as such",
			[]history.Event{acquire(1, 1, "1.1"), set(2, 1, 1, 1, "k", "x"), acquire(3, 2, "2.1"), gone(4, 2, 1, "k", "x")},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 3 acquire 2.1, 4 key-gone 1.1 on 1",
		},
		{
			"a key that another value has replaced, which nobody knows, is not extended by it",
			[]history.Event{
				acquire(1, 1, "1.1"), set(2, 1, 1, 1, "k", "x"), gone(3, 1, 1, "k", "x"),
				{Time: 4, Kind: history.KeyExtended, Node: 1, Resource: "k", Token: "y"}, gone(5, 1, 1, "k", "y"),
			},
			"1 acquire 1.1, 2 key-set 1.1 on 1, 3 key-gone 1.1 on 1",
		},
	} {
		checkAliases(t, c.name, false, c.events, c.want)
	}
	// A key that a lock of two callers sets belongs to the one that is granted, whichever was taken for its
	// owner before; and what is done to the key for that lock is done for its owner.
	t.Run("callers share a lock", func(t *testing.T) {
		var log history.Log
		a := newAliases(&log, false, 2)
		for _, e := range []history.Event{
			acquire(1, 1, "1.1"), acquire(1, 2, "2.1"), set(2, 1, 1, 1, "k", "x"), granted(3, 2, "2.1"), gone(5, 1, 1, "k", "x"),
			set(6, 1, 1, 1, "k", "y"), granted(7, 1, "1.1"), acquire(8, 3, "3.1"), gone(9, 3, 1, "k", "y"),
			// Here it has been taken for that of an earlier try.
			acquire(10, 1, "1.2"), acquire(10, 2, "2.2"), set(11, 10, 1, 1, "k", "p"), set(12, 10, 1, 2, "k", "p"), set(13, 10, 1, 3, "k", "q"),
			set(14, 13, 1, 4, "k", "r"), granted(15, 2, "2.2"), gone(16, 1, 1, "k", "p"),
			// Here the lock keeps several keys on a node.
			acquire(20, 1, "1.3"), acquire(20, 2, "2.3"), set(21, 20, 1, 1, "k0", "s"), set(22, 20, 1, 1, "k1", "s"), set(23, 20, 1, 1, "k2", "t"),
			granted(24, 2, "2.3"),
			// Here its own is taken for a further try of a hold, and what was taken for its own is gone.
			acquire(30, 1, "1.4"), set(31, 30, 1, 1, "k", "u"), set(32, 31, 1, 2, "k", "w"), acquire(33, 2, "2.4"), granted(34, 1, "1.4"),
			gone(35, 1, 1, "k", "u"), set(36, 35, 1, 1, "k", "v"), gone(37, 1, 1, "k", "v"), set(38, 37, 1, 1, "k", "u"),
			granted(39, 2, "2.4"),
		} {
			a.Record(&e)
		}
		var got []string
		for _, e := range log {
			if e.Node != 0 {
				got = append(got, fmt.Sprintf("%d %v %s for %d on %d", int64(e.Time), e.Kind, e.Token, e.Client, e.Node))
			}
		}
		want := "2 key-set 1.1 for 1 on 1, 3 key-gone 1.1 for 1 on 1, 3 key-set 2.1 for 2 on 1, 5 key-gone 2.1 for 2 on 1, " +
			"6 key-set 1.1 for 1 on 1, 9 key-gone 1.1 for 3 on 1, " +
			"11 key-set 1.2 for 1 on 1, 12 key-set 1.2 for 1 on 2, 13 key-set 2.2 for 2 on 3, " +
			"14 key-set 1.2 for 1 on 4, 15 key-gone 1.2 for 1 on 1, 15 key-gone 1.2 for 1 on 2, 15 key-gone 2.2 for 2 on 3, " +
			"15 key-set 2.2 for 2 on 1, 15 key-set 2.2 for 2 on 2, 15 key-set 1.2 for 1 on 3, 16 key-gone 2.2 for 2 on 1, " +
			"21 key-set 1.3 for 1 on 1, 23 key-set 2.3 for 2 on 1, " +
			"24 key-gone 1.3 for 1 on 1, 24 key-gone 2.3 for 2 on 1, 24 key-set 2.3 for 2 on 1, 24 key-set 1.3 for 1 on 1, " +
			"31 key-set 1.4 for 1 on 1, 32 key-set 1.4 for 1 on 2, 34 key-gone 1.4 for 1 on 1, 34 key-set 1.4, try 1 for 1 on 1, 35 key-gone 1.4, try 1 for 1 on 1, " +
			"36 key-set 2.4 for 2 on 1, 37 key-gone 2.4 for 2 on 1, 38 key-set 2.4 for 2 on 1"
		if joined := strings.Join(got, ", "); joined != want {
			t.Errorf("%s\nwant\n%s", joined, want)
		}
	})
}

// checkAliases compares what is told of events.
func checkAliases(t *testing.T, name string, late bool, events []history.Event, want string) {
	t.Helper()
	var log history.Log
	a := newAliases(&log, late, 1)
	for i := range events {
		a.Record(&events[i])
	}
	var got []string
	for _, e := range log {
		line := fmt.Sprintf("%d %v %s", int64(e.Time), e.Kind, e.Token)
		if e.Node != 0 {
			line += fmt.Sprintf(" on %d", e.Node)
			if e.Resource != "stock" {
				t.Errorf("%s: a key is told under its own name, %q", name, e.Resource)
			}
		}
		got = append(got, line)
	}
	if joined := strings.Join(got, ", "); joined != want {
		t.Errorf("%s:\n%s\nwant\n%s", name, joined, want)
	}
}

// A watch reports keys after the grant: the hold's value is the one that was first sent last, unless
// more nodes have another; what is first sent later extends it. A key of the hold that was taken for
// another's is not deleted.
func TestAliasesOfLateKeys(t *testing.T) {
	acquire := history.Event{Time: 1, Kind: history.Acquire, Client: 1, Resource: "stock", Token: "1.1"}
	granted := history.Event{Time: 10, Kind: history.Granted, Client: 1, Resource: "stock", Token: "1.1"}
	key := func(at, sent history.Time, node int, kind history.Kind, value, reason string) history.Event {
		e := history.Event{Time: at, Kind: kind, Node: node, Resource: "k", Token: value, Reason: reason}
		if kind == history.KeySet {
			e.Client, e.Sent = 1, sent
		}
		return e
	}
	set := func(at, sent history.Time, node int, value string) history.Event {
		return key(at, sent, node, history.KeySet, value, "")
	}
	gone := func(at history.Time, node int, value string) history.Event {
		return key(at, 0, node, history.KeyGone, value, history.Deleted)
	}
	for _, c := range []struct {
		name   string
		events []history.Event
		want   string
	}{
		{
			"the last try is the hold's",
			[]history.Event{acquire, granted, set(11, 2, 1, "x"), gone(12, 1, "x"), set(13, 6, 1, "y"), set(14, 6, 2, "y")},
			"1 acquire 1.1, 10 granted 1.1, 11 key-set 1.1 on 1, 12 key-gone 1.1 on 1, 13 key-set 1.1 on 1, 14 key-set 1.1 on 2",
		},
		{
			"also if it is reported first",
			[]history.Event{acquire, granted, set(11, 6, 2, "y"), set(12, 2, 1, "x"), gone(13, 1, "x"), set(14, 6, 1, "y")},
			"1 acquire 1.1, 10 granted 1.1, 11 key-set 1.1 on 2, 12 key-set 1.1, try 1 on 1, 13 key-gone 1.1, try 1 on 1, 14 key-set 1.1 on 1",
		},
		{
			"a request of an earlier try that comes late is none of the hold",
			[]history.Event{acquire, granted, set(11, 9, 3, "x"), set(12, 6, 1, "y"), set(13, 6, 2, "y")},
			"1 acquire 1.1, 10 granted 1.1, 11 key-set 1.1 on 3, 12 key-set 1.1, try 1 on 1, " +
				"13 key-set 1.1, try 1 on 2, 13 key-gone 1.1, try 1 on 1, 13 key-gone 1.1, try 1 on 2, 13 key-gone 1.1 on 3, 13 key-set 1.1 on 1, 13 key-set 1.1 on 2, 13 key-set 1.1, try 2 on 3",
		},
		{
			"a value that is first sent after the grant, and replaces the hold's, extends it",
			[]history.Event{
				acquire, granted, set(11, 6, 1, "y"), set(11, 6, 2, "y"),
				key(12, 0, 1, history.KeyGone, "y", history.Overwritten), set(12, 11, 1, "z"), key(13, 0, 2, history.KeyGone, "y", history.Overwritten), set(13, 11, 2, "z"),
			},
			"1 acquire 1.1, 10 granted 1.1, 11 key-set 1.1 on 1, 11 key-set 1.1 on 2, 12 key-gone 1.1 on 1, 12 key-set 1.1 on 1, 13 key-gone 1.1 on 2, 13 key-set 1.1 on 2",
		},
		{
			"what comes back with a node is set by nobody",
			[]history.Event{acquire, granted, set(11, 6, 1, "y"), gone(12, 1, "y"), key(13, 6, 1, history.KeySet, "y", history.RolledBack)},
			"1 acquire 1.1, 10 granted 1.1, 11 key-set 1.1 on 1, 12 key-gone 1.1 on 1, 13 key-set 1.1 on 1",
		},
	} {
		checkAliases(t, c.name, true, c.events, c.want)
	}
	var log history.Log
	a := newAliases(&log, true, 1)
	for _, e := range []history.Event{acquire, granted, set(11, 9, 3, "x"), set(12, 6, 1, "y"), set(13, 6, 2, "y"), gone(14, 2, "y"), key(15, 6, 2, history.KeySet, "y", history.RolledBack)} {
		a.Record(&e)
	}
	for _, e := range log {
		if e.Kind == history.KeyGone && e.Time == 13 && e.Reason != "" {
			t.Errorf("%v: key %s is told as %s, and never was there", e.Time, e.Token, e.Reason)
		}
	}
	if back := log[len(log)-1]; back.Client != 0 || back.Reason != "" {
		t.Errorf("what came back is told as set by client %d, %q", back.Client, back.Reason)
	}
}

// Of several keys that a lock keeps on a node the last end counts, and the last loss. Where it is a guess whose keys a
// watch reports, no end is told, and no reason.
func TestAliasesOfSeveralKeysEndTogether(t *testing.T) {
	set := func(name string, ends history.Time) history.Event {
		return history.Event{Time: 2, Kind: history.KeySet, Sent: 1, Client: 1, Node: 1, Resource: name, Token: "x", Ends: ends}
	}
	extended := set("queue", 15)
	extended.Kind = history.KeyExtended
	events := []history.Event{{Time: 1, Kind: history.Acquire, Client: 1, Resource: "stock", Token: "1.1"}, set("queue", 10), set("stock", 30), set("note", 20), extended, set("counter", 0)}
	for _, name := range []string{"queue", "stock", "note", "counter"} {
		events = append(events, history.Event{Time: 3, Kind: history.KeyGone, Reason: history.Evicted, Node: 1, Resource: name, Token: "x"})
	}
	for _, c := range []struct {
		late  bool
		share int
		want  string
	}{
		{false, 1, "key-set 10, key-extended 30, key-extended 30, key-extended 0, key-gone 0 evicted"},
		{true, 1, "key-set 10, key-extended 30, key-extended 30, key-extended 0, key-gone 0 evicted"},
		{false, 2, "key-set 10, key-extended 30, key-extended 30, key-extended 0, key-gone 0 evicted"},
		{true, 2, "key-set 0, key-extended 0, key-extended 0, key-extended 0, key-gone 0"},
	} {
		var log history.Log
		a := newAliases(&log, c.late, c.share)
		for _, e := range events {
			a.Record(&e)
		}
		var got []string
		for _, e := range log[1:] {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%v %d %s", e.Kind, int64(e.Ends), e.Reason)))
		}
		if joined := strings.Join(got, ", "); joined != c.want {
			t.Errorf("late %v, %d callers: %s, want %s", c.late, c.share, joined, c.want)
		}
	}
}

// Law: a hold has the keys of another resource only if all of its keys are those of one.
func TestKeysOfAnotherResource(t *testing.T) {
	for keys, want := range map[[2]string]string{
		{"k", "k"}: "a", {"a", "b"}: "", {"a session", "b session"}: "", {"a k", "k"}: "a", {"session a", "b"}: "",
	} {
		var log history.Log
		names, at := newAliases(&log, false, 1), history.Time(0)
		record := func(e history.Event) { at++; e.Time, e.Client, e.Sent = at, 1, at-1; names.Record(&e) }
		for i, resource := range []string{"a", "b"} {
			record(history.Event{Kind: history.Acquire, Resource: resource, Token: resource})
			for _, key := range strings.Fields(keys[i]) {
				record(history.Event{Kind: history.KeySet, Node: 1, Resource: key, Token: resource + "'s"})
			}
			record(history.Event{Kind: history.Granted, Resource: resource, Token: resource})
			record(history.Event{Kind: history.Released, Resource: resource, Token: resource})
		}
		if got := log[len(log)-1].Name; got != want {
			t.Errorf("%q: the last hold has the keys of %q, not %q", keys, got, want)
		}
	}
}
