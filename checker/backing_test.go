package checker_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// backingOracle judges backing by brute force: for every instant and node it reads the whole history again. Of the checker it
// shares nothing but the reliance of oracle_test.go.
type backingOracle struct {
	header  history.Header
	events  []history.Event
	end     history.Time
	all     []reliance
	divided map[*testimony]map[int]history.Time // from when on a node has given its vote away, too
}

const forEver = history.Time(never) * 2

// down reports whether a node is down after an instant, and when it last came up.
func (o *backingOracle) down(node int, t history.Time) (down bool, up history.Time) {
	up = -forEver
	for _, e := range o.events {
		if e.Node == node && e.Time <= t && (e.Kind == history.NodeDown || e.Kind == history.NodeUp) {
			if down = e.Kind == history.NodeDown; !down {
				up = e.Time
			}
		}
	}
	return down, up
}

// silent returns until when a node's vote does not count, as known after an instant.
func (o *backingOracle) silent(node int, t history.Time) history.Time {
	down, up := o.down(node, t)
	if down {
		return forEver
	}
	return up + history.Time(o.header.Quarantine)
}

// backs returns until when a node backs a hold, as known after an instant: not at all if that has passed. With planned a key ends
// with its time to live.
func (o *backingOracle) backs(h *testimony, node int, t history.Time, planned bool) history.Time {
	if from, is := o.divided[h][node]; is && from <= t {
		return -forEver
	}
	var last, ends history.Event
	for _, e := range o.events {
		if e.Node != node || e.Token != h.name.token || e.Resource != h.name.resource || e.Time > t {
			continue
		}
		switch e.Kind {
		case history.KeySet:
			last, ends = e, e
		case history.KeyExtended:
			ends = e
		case history.KeyGone:
			last = e
		}
	}
	switch {
	case last.Kind == history.KeySet && last.Time < o.silent(node, last.Time) && o.silent(node, last.Time) < forEver:
		return -forEver // in quarantine
	case last.Kind == history.KeySet && planned && ends.Ends != 0:
		return ends.Ends
	case last.Kind == history.KeySet:
		return forEver
	case last.Kind != history.KeyGone:
		return -forEver
	}
	for i := last.Time; i < t; i++ {
		if o.silent(node, i) <= i {
			return -forEver
		}
	}
	return o.silent(node, t)
}

func (o *backingOracle) quorum(h *testimony, t, until history.Time, planned bool) bool {
	votes := 0
	for node := 1; node <= o.header.Nodes; node++ {
		if o.backs(h, node, t, planned) >= until {
			votes++
		}
	}
	return 2*votes > o.header.Nodes
}

// divide finds the votes that nodes give to two holds, in the order of time.
func (o *backingOracle) divide() {
	for t := range o.end {
		found := map[*testimony][]int{}
		for _, g := range o.all {
			if !g.on[t] || t > 0 && g.on[t-1] {
				continue
			}
			for _, h := range o.all {
				if h.hold == g.hold || h.hold.name.resource != g.hold.name.resource || !h.on[t] {
					continue
				}
				for node := 1; node <= o.header.Nodes; node++ {
					if o.backs(g.hold, node, t, false) > t && o.backs(h.hold, node, t, false) > t {
						found[h.hold] = append(found[h.hold], node)
					}
				}
			}
		}
		for h, nodes := range found {
			for _, node := range nodes {
				if o.divided[h] == nil {
					o.divided[h] = map[int]history.Time{}
				}
				o.divided[h][node] = t
			}
		}
	}
}

func (o *backingOracle) violated() bool {
	o.divide()
	for _, r := range o.all {
		if len(r.hold.granted) == 0 {
			continue
		}
		lost := false
		for t := r.hold.granted[0].Time; t < o.end; t++ {
			lost = lost || !o.quorum(r.hold, t, t+1, false)
			if r.on[t] && (lost || o.short(r.hold, t)) {
				return true
			}
		}
	}
	return false
}

// short reports whether a grant or an extension returns at an instant and relies on the hold for longer than its keys live.
func (o *backingOracle) short(h *testimony, t history.Time) bool {
	relied := history.Time(0)
	for _, e := range slices.Concat(h.granted[:1], h.extended) {
		if e.Time == t {
			relied = e.Ends
		}
	}
	return relied != 0 && !o.quorum(h, t, relied, true)
}

// endlessAndDead reports whether a client dies that may have a hold without an end: nobody relies on that any more.
func endlessAndDead(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Kind == history.Kill && slices.ContainsFunc(events, func(g history.Event) bool {
			return (g.Kind == history.Granted || g.Kind == history.Extended) && g.Client == e.Client && g.Until == 0
		})
	})
}

// TestBackingOracle: the checker and brute force find the same holds backed.
func TestBackingOracle(t *testing.T) {
	broken, all := 0, 0
	repeat(t, 5_000, func(t *rapid.T) {
		header, events := drawTurmoil(t)
		header.Quarantine, header.Allowance = rapid.SampledFrom([]history.Header{{}, {Quarantine: 3}}).Draw(t, "quarantine").Quarantine, 0
		granted := map[string]bool{}
		for i := range events {
			switch e := &events[i]; e.Kind {
			case history.KeySet, history.KeyExtended, history.Extended, history.Granted:
				if granted[e.Token] && e.Kind == history.Granted {
					continue // again, to its owner
				}
				granted[e.Token] = granted[e.Token] || e.Kind == history.Granted
				e.Ends = e.Time + history.Time(rapid.SampledFrom([]int{0, 1, 4, 9, 9}).Draw(t, "ends"))
				if e.Ends == e.Time || e.Until == 0 && (e.Kind == history.Granted || e.Kind == history.Extended) {
					e.Ends = 0
				}
			}
		}
		if endlessAndDead(events) {
			return
		}
		o := &backingOracle{header: header, events: events, divided: map[*testimony]map[int]history.Time{}}
		for _, e := range events {
			o.end = max(o.end, e.Time)
		}
		for _, h := range testimonies(events, 1) {
			r := h.relies(o.end)
			if len(h.granted) == 0 && slices.Contains(r.on, true) {
				return // that it was granted is known only later, and then nothing is judged of the past
			}
			o.all = append(o.all, r)
		}
		f := judge(header, events, checker.Backing).Finding(checker.Backing)
		keyed := slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.KeySet })
		if !keyed || f.Verdict == checker.NotApplicable {
			return
		}
		want := o.violated()
		if (f.Verdict == checker.Violated) != want {
			t.Fatalf("the checker: %v (%s); brute force: violated = %v, in\n%s", f.Verdict, f.Story(), want, listed(events))
		}
		if all++; want {
			broken++
		}
	})
	if !t.Failed() && (broken*20 < all || broken*20 > 19*all) {
		t.Errorf("%d of %d histories violate backing; want between a twentieth and the rest", broken, all)
	}
}

// watchOf returns the history as a watch of the nodes' keys records it: late, without whose changes they are, and after a
// gap only how the keys differ from those recorded.
func watchOf(t *rapid.T, events []history.Event) []history.Event {
	isKey := func(e history.Event) bool {
		return e.Kind == history.KeySet || e.Kind == history.KeyExtended || e.Kind == history.KeyGone
	}
	type name struct{ resource, token string }
	watched := slices.DeleteFunc(slices.Clone(events), isKey)
	end := watched[len(watched)-1]
	watched = watched[:len(watched)-1]
	for node := 1; node <= keyNodes; node++ {
		changes := slices.DeleteFunc(slices.Clone(events), func(e history.Event) bool { return !isKey(e) || e.Node != node })
		is, recorded, names := map[name]history.Event{}, map[name]bool{}, []name{}
		for _, e := range changes {
			names = append(names, name{e.Resource, e.Token})
		}
		since, now := history.Time(0), history.Time(0)
		later := func() history.Time { return now + history.Time(rapid.IntRange(0, 1).Draw(t, "later")) }
		for now = later(); now < end.Time; now = later() + 1 {
			gap := rapid.IntRange(0, 4).Draw(t, "gap") == 0
			if gap {
				since = now
				now = later()
			}
			look := now
			now = min(later(), end.Time)
			record := func(e history.Event) {
				e.Time, recorded[name{e.Resource, e.Token}] = now, e.Kind != history.KeyGone
				if e.Kind == history.KeyGone {
					e.Client, e.Reason = 0, rapid.SampledFrom([]string{e.Reason, e.Reason, ""}).Draw(t, "reason")
				}
				watched = append(watched, e)
			}
			for gap || len(changes) > 0 && changes[0].Time <= look {
				if gap && (len(changes) == 0 || changes[0].Time > since) {
					gap = false
					for _, k := range names {
						switch e, there := is[k]; {
						case there && !recorded[k]:
							record(e)
						case recorded[k] && !there:
							record(history.Event{Kind: history.KeyGone, Node: node, Resource: k.resource, Token: k.token, Reason: history.RolledBack})
						}
					}
					continue
				}
				e := changes[0]
				changes = changes[1:]
				k := name{e.Resource, e.Token}
				if is[k] = e; e.Kind == history.KeyGone {
					delete(is, k)
				}
				if !gap {
					record(e)
				}
			}
			watched = append(watched, history.Event{Kind: history.EntriesSeen, Node: node, Time: now, Sent: look, Since: since})
		}
	}
	slices.SortStableFunc(watched, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	return append(watched, end)
}

// Law: of keys that a watch reports backing is violated only if it is, and does not hold if lease exclusion is violated.
func TestBackingThatIsWatched(t *testing.T) {
	seen, unseen := 0, 0
	repeat(t, 5_000, func(t *rapid.T) {
		header, events := drawTurmoil(t)
		header.Quarantine = rapid.SampledFrom([]time.Duration{0, 12}).Draw(t, "quarantine")
		end := events[len(events)-1]
		end.Time *= 4 // the watch looks more often
		events = events[:len(events)-1]
		for i := range events {
			e := &events[i]
			e.Time *= 4
			if e.Kind == history.KeySet || e.Kind == history.KeyExtended {
				e.Ends = never
			}
			if e.Kind == history.KeySet && rapid.Bool().Draw(t, "evicted") {
				events = append(events, history.Event{Kind: history.KeyGone, Node: e.Node, Resource: e.Resource, Token: e.Token, Reason: history.Evicted,
					Time: min(e.Time+history.Time(rapid.IntRange(0, 20).Draw(t, "after")), end.Time)})
			}
		}
		slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
		if setAndGoneAtOnce(events) {
			return // the truth leaves the order of one instant open, and a watch does not
		}
		events = append(events, end)
		exact := judge(header, events, checker.Backing).Finding(checker.Backing)
		header.Watched = true
		late := watchOf(t, events)
		is := judge(header, late, checker.Backing).Finding(checker.Backing)
		switch lease := judge(header, late, checker.Lease).Finding(checker.Lease); {
		case is.Verdict == checker.Violated && exact.Verdict != checker.Violated:
			t.Fatalf("the watch: %s\nthe truth: %v, %s, in\n%s\nand under the watch\n%s", is.Story(), exact.Verdict, exact.Story(), listed(events), listed(late))
		case lease.Verdict == checker.Violated && is.Verdict != checker.Violated && is.Verdict != checker.Unknown:
			t.Fatalf("%s\nbut backing %v: %s, in\n%s", lease.Story(), is.Verdict, is.Story(), listed(late))
		}
		if exact.Verdict == checker.Violated {
			if is.Verdict == checker.Violated {
				seen++
			} else {
				unseen++
			}
		}
	})
	if !t.Failed() && seen < 10 {
		t.Errorf("the watch shows %d violations, and not %d: too few", seen, unseen)
	}
}

// setAndGoneAtOnce reports whether a node sets a key and loses it in one instant.
func setAndGoneAtOnce(events []history.Event) bool {
	type change struct {
		at              history.Time
		node            int
		resource, token string
	}
	set, gone := map[change]bool{}, map[change]bool{}
	for _, e := range events {
		c := change{e.Time, e.Node, e.Resource, e.Token}
		set[c] = set[c] || e.Kind == history.KeySet || e.Kind == history.KeyExtended
		gone[c] = gone[c] || e.Kind == history.KeyGone
		if set[c] && gone[c] {
			return true
		}
	}
	return false
}
