package checker_test

import (
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

// drawTurmoil draws a history in which something is there to find for every judge, and in
// which much falls together: keys, fences, sections, faults. It may make little sense.
func drawTurmoil(t *rapid.T) (history.Header, []history.Event) {
	scripts := drawScripts(t)
	if rapid.Bool().Draw(t, "tries in a row") {
		scripts = drawTries(t)
	}
	var besides []history.Event
	for i := range scripts {
		besides = append(besides, drawKeys(t, &scripts[i])...)
		besides = append(besides, drawSection(t, &scripts[i])...)
	}
	besides = append(besides, drawFaults(t)...)
	header, events := write(scripts, rapid.Uint64().Draw(t, "one order"), besides...)
	fences := rapid.SliceOfN(rapid.Uint64Range(0, 9), len(scripts), len(scripts)).Draw(t, "fences")
	for i := range events {
		if e := &events[i]; e.Kind == history.Granted {
			e.Fence = fences[int([]rune(e.Token)[0]-'A')-1]
		}
	}
	header.Nodes, header.Keys, header.LongestTTL = keyNodes, true, 2
	header.Bounds = everyBound(2)
	return header, events
}

// drawTries draws tries of one client, most of them one after another.
func drawTries(t *rapid.T) []script {
	scripts := make([]script, rapid.IntRange(2, 6).Draw(t, "tries"))
	now := 3
	for i := range scripts {
		s := &scripts[i]
		*s = script{hold: i + 1, client: 1, resource: "r", call: now + rapid.IntRange(0, 4).Draw(t, "gap"), until: never}
		s.warned, s.lost, s.release, s.released, s.killed = never, never, never, never, never
		s.ret = s.call + rapid.IntRange(0, 2).Draw(t, "took")
		now = s.ret
		if s.refused = rapid.IntRange(0, 3).Draw(t, "refused") > 0; !s.refused {
			s.release = s.ret + rapid.IntRange(0, 3).Draw(t, "held")
			s.released, s.outcome = s.release, history.OK
			now = s.released
		}
	}
	return scripts
}

// drawKeys draws what nodes do with the keys of a hold: mostly nothing that is wrong.
func drawKeys(t *rapid.T, s *script) []history.Event {
	if rapid.Bool().Draw(t, "no keys") {
		return nil
	}
	d := truthful(t, s)
	for n := range keyNodes {
		switch rapid.IntRange(0, 19).Draw(t, "key") {
		case 17:
			d.gone[n] = never
		case 18:
			d.drop(n, history.Deleted, rapid.IntRange(1, 3).Draw(t, "by"), instant(min(d.set[n], horizon)).Draw(t, "gone"))
		case 19:
			d.extended[n] = never
		}
	}
	return d.events(s)
}

// drawSection draws a read and a write under a hold.
func drawSection(t *rapid.T, s *script) []history.Event {
	if s.refused || s.acts() > 0 || rapid.Bool().Draw(t, "no section") {
		return nil
	}
	var events []history.Event
	now := min(s.grantedAt(), s.call+4)
	add := func(kind history.Kind, value int64, o history.Outcome) {
		now += rapid.IntRange(0, 1).Draw(t, "later")
		if now <= s.killed {
			events = append(events, history.Event{
				Time: history.Time(now), Kind: kind, Client: s.client, Resource: s.resource, Token: token(s.hold), Value: value, Outcome: o,
			})
		}
	}
	wrote := int64(rapid.IntRange(0, 1).Draw(t, "wrote"))
	add(history.Read, 0, 0)
	add(history.ReadDone, int64(rapid.IntRange(0, 1).Draw(t, "read")), history.OK)
	add(history.Write, wrote, 0)
	outcome := history.Outcome(rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "outcome"))
	applied := outcome != history.Declined && rapid.Bool().Draw(t, "applied")
	early := rapid.Bool().Draw(t, "before the return")
	if applied && early {
		add(history.Apply, wrote, 0)
	}
	add(history.WriteDone, wrote, outcome)
	if applied && !early && outcome == history.Unknown {
		add(history.Apply, wrote, 0)
	}
	return events
}

// drawFaults draws a few faults, which may end.
func drawFaults(t *rapid.T) []history.Event {
	var events []history.Event
	pairs := [][2]history.Kind{
		{history.NodeDown, history.NodeUp}, {history.NodeDown, history.NodeUp}, {history.LinkDown, history.LinkUp},
		{history.Pause, history.Resume}, {history.FaultStart, history.FaultEnd}, {history.Cancel, 0},
	}
	for number := range rapid.IntRange(0, 2).Draw(t, "faults") {
		kinds := rapid.SampledFrom(pairs).Draw(t, "fault")
		e := history.Event{Client: number + 1, Node: number + 1, Fault: number + 1} // no two of one
		from := rapid.SampledFrom([]int{0, 0, instant(0).Draw(t, "from")}).Draw(t, "early")
		for i, at := range []int{from, sometimes(t, from+1, "end")} {
			if e.Kind, e.Time = kinds[i], history.Time(at); e.Kind != 0 && at < never {
				events = append(events, e)
			}
		}
	}
	return events
}
