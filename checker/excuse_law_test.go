package checker_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Of the five nodes of these histories three keep the lock. Client 8 never asks for it.
const (
	keepers  = 3
	outsider = 8
)

// stranger is a fault that cannot make anybody wait for a lock, and what the history shows of it when it
// begins and when it ends.
type stranger struct {
	start, begun, ended history.Event
}

var strangers = []stranger{
	{start: history.Event{Name: "guard-latency"}},
	{history.Event{Name: "partition"}, history.Event{Kind: history.LinkDown, Client: outsider, Node: 1}, history.Event{Kind: history.LinkUp, Client: outsider, Node: 1}},
	{history.Event{Name: "latency"}, history.Event{Kind: history.LinkDown, Client: 5, Node: keepers + 1}, history.Event{Kind: history.LinkUp, Client: 5, Node: keepers + 1}},
	{history.Event{Name: "pause"}, history.Event{Kind: history.Pause, Client: outsider}, history.Event{Kind: history.Resume, Client: outsider}},
	{history.Event{Name: "crash"}, history.Event{Kind: history.NodeDown, Node: keepers + 2}, history.Event{Kind: history.NodeUp, Node: keepers + 2}},
	{start: history.Event{Name: "clock-rate", Node: keepers + 1}},
	{start: history.Event{Name: "clock-freeze", Client: outsider}},
}

// events places the fault in time, with a number of its own.
func (s stranger) events(number int, from, to history.Time) (all []history.Event) {
	add := func(e history.Event, kind history.Kind, at history.Time) {
		if kind != 0 {
			e.Kind, e.Time, e.Fault = kind, at, number
			all = append(all, e)
		}
	}
	add(s.start, history.FaultStart, from)
	add(s.begun, s.begun.Kind, from)
	add(s.ended, s.ended.Kind, to)
	add(history.Event{}, history.FaultEnd, to)
	return all
}

// besidesWaits compares what deadlock freedom finds of drawn waits before and after change, which draws
// further events beside them.
func besidesWaits(t *testing.T, setting history.Header, change func(t *rapid.T, besides []history.Event) []history.Event, same func(before, after checker.Finding) bool) {
	repeat(t, 3_000, func(t *rapid.T) {
		q, _ := drawWaits(t, rapid.Bool().Draw(t, "planted"))
		seed := rapid.Uint64().Draw(t, "order of ties")
		finding := func(besides []history.Event) checker.Finding {
			header, events := write(q.scripts, seed, besides...)
			header.LongestTTL, header.Keepers, header.Keys = livenessTTL, setting.Keepers, setting.Keys
			header.Bounds = history.Bounds{Grant: grantBound}
			return judge(header, events, checker.DeadlockFreedom).Finding(checker.DeadlockFreedom)
		}
		for i := range q.besides { // a fault of unknown kind may have been one of a clock
			if q.besides[i].Kind == history.FaultStart {
				q.besides[i].Name = "duplicate"
			}
		}
		before, after := finding(q.besides), finding(change(t, slices.Clone(q.besides)))
		if before.Verdict != after.Verdict || !same(before, after) {
			t.Fatalf("%v, %d violations (%s); with more events %v, %d (%s)", before.Verdict, before.Count, before.Story(), after.Verdict, after.Count, after.Story())
		}
	})
}

// Law: a fault that cannot have made anybody wait, wherever it begins and however late it ends, neither
// excuses a wait that was too long nor hides one.
func TestFaultsOfOthersExcuseNoWait(t *testing.T) {
	besidesWaits(t, history.Header{Keepers: keepers}, func(t *rapid.T, with []history.Event) []history.Event {
		drawn := rapid.Permutation(strangers).Draw(t, "faults")
		for i, s := range drawn[:rapid.IntRange(1, len(drawn)).Draw(t, "how many")] {
			from := history.Time(rapid.IntRange(0, 60).Draw(t, "from"))
			with = append(with, s.events(100+i, from, from+history.Time(rapid.IntRange(0, 60).Draw(t, "lasts")))...)
		}
		return with
	}, func(before, after checker.Finding) bool {
		return before.Count == after.Count && (before.Count == 0 || before.Where.From == after.Where.From)
	})
}

// Law: keys that outlive their TTL on nodes with right clocks neither excuse a wait that was too long nor
// hide one, however late they expire.
func TestKeysThatOutliveTheirTTLExcuseNoWait(t *testing.T) {
	besidesWaits(t, history.Header{Keys: true}, func(t *rapid.T, with []history.Event) []history.Event {
		for node := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			set := history.Time(rapid.IntRange(0, 60).Draw(t, "set"))
			e := history.Event{Time: set, Kind: history.KeySet, Client: 9, Node: node + 1, Resource: "r", Token: "stale"}
			if rapid.Bool().Draw(t, "endless") {
				e.Detail = history.NoExpiry
			}
			gone := history.Event{Time: set + history.Time(rapid.IntRange(livenessTTL, 60).Draw(t, "lives")), Kind: history.KeyGone, Node: node + 1, Resource: "r", Token: "stale", Reason: history.Expired}
			with = append(with, e, gone)
		}
		return with
	}, func(before, after checker.Finding) bool { return before.Count <= after.Count })
}
