package checker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

const (
	livenessTTL   = 3
	grantBound    = 4
	toleranceTrys = 3
)

// sequence is tries for one resource, one after another, as a law makes them up.
type sequence struct {
	scripts []script
	besides []history.Event
}

func (q *sequence) try(client, call, ret int) *script {
	s := script{hold: len(q.scripts) + 1, client: client, resource: "r", call: call, ret: ret, until: never, outcome: history.OK}
	s.warned, s.lost, s.release, s.released, s.killed = never, never, never, never, never
	q.scripts = append(q.scripts, s)
	return &q.scripts[len(q.scripts)-1]
}

func (q *sequence) refused(client, call, ret int) { q.try(client, call, ret).refused = true }

func (q *sequence) held(client, call, ret, release int) {
	s := q.try(client, call, ret)
	s.release, s.released = release, release
}

func (q *sequence) judge(t *rapid.T, p checker.Property) checker.Finding {
	header, events := write(q.scripts, rapid.Uint64().Draw(t, "order of ties"), q.besides...)
	header.LongestTTL = livenessTTL
	header.Bounds = history.Bounds{Grant: grantBound, Tries: toleranceTrys}
	return judge(header, events, p).Finding(p)
}

// drawWaits draws clients that hold a resource in turn, for as long as they like, while
// another is refused again and again. A fault may come and go meanwhile. Nobody waits for
// longer than the bound but, if one is planted, the client that is returned.
func drawWaits(t *rapid.T, planted bool) (q sequence, late int) {
	between := func(from, to int, label string) int { return rapid.IntRange(from, max(from, to)).Draw(t, label) }
	rounds := between(1, 4, "rounds")
	victim := -1
	if planted {
		victim = between(0, rounds-1, "victim")
	}
	start := between(0, 3, "start")
	q.held(9, start, start, start+between(1, 20, "held"))
	for i := range rounds {
		free := q.scripts[len(q.scripts)-1].release
		if between(0, 2, "fault") == 0 {
			began := free + between(0, 1, "began")
			ended := began + between(1, 3, "lasted")
			q.besides = append(q.besides,
				history.Event{Time: history.Time(began), Kind: history.FaultStart, Fault: i + 1},
				history.Event{Time: history.Time(ended), Kind: history.FaultEnd, Fault: i + 1})
			free = ended
		}
		due := free + livenessTTL + grantBound
		granted := between(free, due, "granted")
		called := between(free-2, granted, "call")
		if i == victim { // who waits all the time
			late, granted, called = 1+i%3, due+between(1, 5, "late"), min(called, free)
		}
		for now := free; now < granted && between(0, 3, "refused") > 0; now++ {
			ret := between(now, min(now+2, granted-1), "return")
			if ret <= due {
				q.refused(5+i%2, now, ret)
			}
			now = ret
		}
		q.held(1+i%3, called, granted, granted+between(1, 20, "held"))
	}
	return q, late
}

// TestWaitsWithinTheBoundAreFine: who is granted the lock within the bound has not waited
// for too long, however long others held it and whatever faults came and went.
func TestWaitsWithinTheBoundAreFine(t *testing.T) {
	repeat(t, 3_000, func(t *rapid.T) {
		q, _ := drawWaits(t, false)
		if f := q.judge(t, checker.DeadlockFreedom); f.Verdict != checker.Holds {
			t.Fatalf("nobody waited for longer than the bound, and %v is %v: %s", f.Property, f.Verdict, f.Story())
		}
	})
}

// TestPlantedWaitIsNamed: one wait beyond the bound is one violation, which names who
// waited.
func TestPlantedWaitIsNamed(t *testing.T) {
	repeat(t, 3_000, func(t *rapid.T) {
		q, late := drawWaits(t, true)
		f := q.judge(t, checker.DeadlockFreedom)
		if f.Count != 1 || !strings.Contains(f.Story(), fmt.Sprintf("client %d was granted", late)) {
			t.Fatalf("client %d waited for too long, and %d violations are found, want 1: %s", late, f.Count, f.Story())
		}
	})
}

// drawFew draws tries of two clients while two of five nodes are down, of which no client
// is refused as often in a row as the bound says; but one, if that is planted.
func drawFew(t *rapid.T, planted bool) (q sequence, refused int) {
	for _, node := range []int{4, 5} {
		q.besides = append(q.besides, history.Event{Time: 0, Kind: history.NodeDown, Node: node})
	}
	now := livenessTTL
	next := func() (call, ret int) {
		call = now + rapid.IntRange(0, 2).Draw(t, "gap")
		now = call + rapid.IntRange(1, 2).Draw(t, "took")
		return call, now
	}
	refuse := func(client, times int) {
		for range times {
			call, ret := next()
			q.refused(client, call, ret)
		}
	}
	grant := func(client int) {
		call, ret := next()
		now = ret + rapid.IntRange(1, 3).Draw(t, "held")
		q.held(client, call, ret, now)
	}
	rounds := rapid.IntRange(1, 4).Draw(t, "rounds")
	victim := rapid.IntRange(0, rounds-1).Draw(t, "victim")
	for i := range rounds {
		client, times := 1+i%2, rapid.IntRange(0, toleranceTrys-1).Draw(t, "refused")
		if planted && i == victim {
			times, refused = toleranceTrys, client
		}
		refuse(client, times)
		grant(client)
	}
	return q, refused
}

// TestTriesWithoutAMinority: tries that succeed in time, though nodes are down, are fine,
// and a client that is refused too often in a row is named.
func TestTriesWithoutAMinority(t *testing.T) {
	repeat(t, 3_000, func(t *rapid.T) {
		planted := rapid.Bool().Draw(t, "planted")
		q, refused := drawFew(t, planted)
		f := q.judge(t, checker.FaultTolerance)
		if !planted && f.Verdict != checker.Holds {
			t.Fatalf("every client succeeded within %d tries, and %v is %v: %s", toleranceTrys, f.Property, f.Verdict, f.Story())
		}
		if planted && (f.Count != 1 || !strings.Contains(f.Story(), fmt.Sprintf("client %d was refused", refused))) {
			t.Fatalf("client %d was refused %d times in a row, and %d violations are found, want 1: %s", refused, toleranceTrys, f.Count, f.Story())
		}
	})
}

// drawHandovers draws what clients do with one resource, with no fault: holds, and refused tries.
func drawHandovers(t *rapid.T) (q sequence) {
	for client := range rapid.IntRange(1, 3).Draw(t, "clients") {
		for now := 0; now < 40; {
			call := now + rapid.IntRange(0, 9).Draw(t, "think")
			ret := call + rapid.IntRange(0, 6).Draw(t, "took")
			if now = ret + 1; rapid.Bool().Draw(t, "refused") {
				q.refused(client+1, call, ret)
				continue
			}
			now += rapid.IntRange(0, 9).Draw(t, "held")
			q.held(client+1, call, ret, now)
			now++
		}
	}
	return q
}

// longestFree computes by its definition how long the resource was free while somebody waited. It looks
// at each time between two instants: is nobody's hold under way, and is a try, or are refused tries on
// both sides of it that are no further apart than the bound, with nobody's hold in between? The longest gap
// between tries does not count.
func longestFree(q sequence, bound int) (longest int) {
	free := func(at int) bool { // between at and at+1
		return !slices.ContainsFunc(q.scripts, func(s script) bool { return !s.refused && s.ret <= at && at < s.release })
	}
	grantedAt := func(at int) bool {
		return slices.ContainsFunc(q.scripts, func(s script) bool { return !s.refused && s.ret == at })
	}
	waits := func(at int) bool {
		next := never
		for _, s := range q.scripts {
			if s.call <= at && at < s.ret {
				return true
			}
			if s.call > at {
				next = min(next, s.call)
			}
		}
		for since := at; since >= 0 && free(since); since-- {
			if slices.ContainsFunc(q.scripts, func(s script) bool { return s.refused && s.ret == since }) {
				return next-since <= bound
			}
			if grantedAt(since) {
				return false
			}
		}
		return false
	}
	trying := func(at int) bool {
		return slices.ContainsFunc(q.scripts, func(s script) bool { return s.call <= at && at < s.ret })
	}
	length, gap, gaps := 0, 0, 0
	for at := range 100 {
		if grantedAt(at) {
			length, gap, gaps = 0, 0, 0
		}
		if length++; !free(at) || !waits(at) {
			length, gap, gaps = 0, 0, 0
		} else if trying(at) {
			gap = 0
		} else if gap++; slices.ContainsFunc(q.scripts, func(s script) bool { return s.call == at }) {
			gap = 1
		}
		gaps = max(gaps, gap)
		longest = max(longest, length-gaps)
	}
	return longest
}

// TestLongestFreeFollowsFromItsDefinition: how long a free resource was granted to nobody, and whether
// that was too long, is as the definition says.
func TestLongestFreeFollowsFromItsDefinition(t *testing.T) {
	repeat(t, 5_000, func(t *rapid.T) {
		const bound = 5
		q := drawHandovers(t)
		header, events := write(q.scripts, rapid.Uint64().Draw(t, "order of ties"))
		header.LongestTTL, header.Bounds = 1000, history.Bounds{Grant: 1000, Free: bound}
		report, want := judge(header, events), longestFree(q, bound)
		if got := int(report.Measurements.LongestFree); got != want {
			t.Fatalf("the resource was free for %d while a client waited, and %d is measured", want, got)
		}
		granted := slices.ContainsFunc(q.scripts, func(s script) bool { return !s.refused }) // otherwise the tries may be far apart
		if f := report.Finding(checker.DeadlockFreedom); granted && (f.Verdict == checker.Violated) != (want > bound) {
			t.Fatalf("the resource was free for %d while a client waited, and with a bound of %d %v is %v: %s", want, bound, f.Property, f.Verdict, f.Story())
		}
	})
}
