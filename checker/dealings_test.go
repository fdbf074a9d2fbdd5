package checker_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

const (
	keyNodes     = 3
	cleanupBound = 3
)

// dealings is what each of three nodes does with the key of a hold, and when.
type dealings struct {
	set, extended, gone [keyNodes]int
	reason              [keyNodes]string
	by                  [keyNodes]int // who deleted it
}

// truthful draws dealings that back all that the calls of the hold have returned, and
// leave nothing behind.
func truthful(t *rapid.T, s *script) dealings {
	var d dealings
	within := func(from, to int) int { return rapid.IntRange(from, max(from, to)).Draw(t, "node") }
	spare := rapid.IntRange(0, keyNodes-1).Draw(t, "spare node")
	for n := range keyNodes {
		d.extended[n], d.gone[n] = never, never
		d.set[n] = within(s.call, min(s.ret, s.acted(), s.call+2))
		if s.refused && n != spare {
			d.set[n] = never
			continue
		}
		for _, e := range s.extends {
			if e.granted && (n != spare || rapid.Bool().Draw(t, "all")) {
				d.extended[n] = within(e.call, e.ret)
			}
		}
		switch {
		case s.refused:
			d.drop(n, history.Deleted, s.client, within(s.ret, s.ret+cleanupBound))
		case s.released == never:
		case s.outcome == history.Declined:
			d.drop(n, history.Expired, 0, s.release)
		case s.outcome == history.OK && n != spare:
			d.drop(n, history.Deleted, s.client, within(s.release, s.released))
		default:
			d.drop(n, history.Deleted, s.client, within(s.release, s.released+cleanupBound))
		}
	}
	return d
}

func (d *dealings) drop(node int, reason string, by, at int) {
	d.gone[node], d.reason[node], d.by[node] = at, reason, by
}

// events writes down what the nodes do.
func (d *dealings) events(s *script) []history.Event {
	var events []history.Event
	for n := range keyNodes {
		add := func(at int, e history.Event) {
			if at < never {
				e.Time, e.Node, e.Resource, e.Token = history.Time(at), n+1, s.resource, token(s.hold)
				events = append(events, e)
			}
		}
		add(d.set[n], history.Event{Kind: history.KeySet, Client: s.client, Sent: history.Time(s.call)})
		add(d.extended[n], history.Event{Kind: history.KeyExtended, Client: s.client})
		add(d.gone[n], history.Event{Kind: history.KeyGone, Client: d.by[n], Reason: d.reason[n]})
	}
	return events
}

// ledgered is a legal history with what the nodes did, in which a law can plant what it
// wants to be found.
type ledgered struct {
	turns    []turn
	dealings []dealings
	fences   map[int]uint64 // by hold
	edits    []edit
}

// edit changes what an event of a hold says.
type edit struct {
	kind   history.Kind
	hold   int
	change func(*history.Event)
}

// drawLedgered draws one that keeps every property: the fences grow in the order of the
// grants, and the nodes do what the calls say.
func drawLedgered(t *rapid.T) *ledgered {
	l := &ledgered{turns: drawTurns(t), fences: map[int]uint64{}}
	for i := range l.turns {
		l.dealings = append(l.dealings, truthful(t, &l.turns[i].script))
	}
	fence := uint64(0)
	for _, i := range l.grants() {
		fence += uint64(rapid.IntRange(2, 9).Draw(t, "fence"))
		l.fences[l.turns[i].hold] = fence
	}
	return l
}

// grants lists the turns whose acquire returned with the lock, in that order.
func (l *ledgered) grants() []int {
	return l.those(func(s *turn) bool { return s.ret < never && !s.refused })
}

// those lists turns in the order in which they were granted, or refused.
func (l *ledgered) those(which func(*turn) bool) []int {
	var list []int
	for i := range l.turns {
		if which(&l.turns[i]) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int { return l.turns[i].ret - l.turns[j].ret })
	return list
}

// write puts it together.
func (l *ledgered) write(seed uint64) (history.Header, []history.Event) {
	var besides []history.Event
	for i := range l.turns {
		besides = append(besides, l.dealings[i].events(&l.turns[i].script)...)
	}
	besides = append(besides, history.Event{Time: 110, Kind: history.FaultStart, Fault: 1}) // so that it goes on for long enough
	header, events := write(scriptsOf(l.turns), seed, besides...)
	for i := range events {
		e := &events[i]
		for hold, fence := range l.fences {
			if e.Kind == history.Granted && e.Token == token(hold) {
				e.Fence = fence
			}
		}
		for _, edit := range l.edits {
			if e.Kind == edit.kind && e.Token == token(edit.hold) {
				edit.change(e)
			}
		}
	}
	header.Nodes, header.Keys = keyNodes, true
	header.Bounds = history.Bounds{Release: 100, Cleanup: cleanupBound}
	return header, events
}
