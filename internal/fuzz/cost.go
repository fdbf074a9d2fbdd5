package fuzz

import (
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A hunt lives on the number of its runs, and a run costs what its tries cost. Nearly all
// of those are made in vain, by who waits for somebody who holds for long.

// mostTries is about how many a run may make.
const mostTries = 20

// mostEvents is how many events a run may have. Those of the debate have some thousands, and
// one of them 130,000; one that goes on and on costs the hunt all others.
const mostEvents = 1_000_000

// save makes a scenario cheaper until it is cheap, in one way after another: each takes
// away what a run most often shows with less of it too.
func save(s *scenarios.Scenario, ways ...func(*scenarios.Scenario)) {
	for _, less := range ways {
		if tries(*s) <= mostTries {
			return
		}
		less(s)
	}
}

func oneRound(s *scenarios.Scenario) {
	for i := range s.Clients {
		s.Clients[i].Rounds = 1
	}
}

func fewClients(most int) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Clients = s.Clients[:min(len(s.Clients), most)] }
}

// shortWork leaves one client that holds for long.
func shortWork(s *scenarios.Scenario) {
	most := s.Lock.TTL / 10
	for i := range s.Clients[1:] {
		w := &s.Clients[1+i].Work
		w.Min, w.Max = min(w.Min, most), min(w.Max, most)
	}
}

// comeLate lets those who wait begin shortly before the first lets go, or its TTL is over:
// what nodes forgot they have forgotten for who comes then too, and what they let go too
// early is seen.
func comeLate(s *scenarios.Scenario) {
	first := s.Clients[0]
	from := min((first.Start.Max + min(mean(first.Work), s.Lock.TTL)*9/10).Truncate(ms), nemesis.MaxDuration)
	for i := range s.Clients[1:] {
		start := &s.Clients[1+i].Start
		start.Min, start.Max = max(start.Min, from), max(start.Max, from)
	}
}

func slowRetry(s *scenarios.Scenario) {
	r := &s.Lock.Retry
	times := min(time.Duration(tries(*s)/mostTries+1), nemesis.MaxDuration/max(1, r.Max))
	r.Min, r.Max = r.Min*times, r.Max*times
}

// tries estimates how many a run makes if nothing goes wrong.
func tries(s scenarios.Scenario) int {
	var held time.Duration
	sum := 0
	for _, c := range s.Clients {
		sum += c.Rounds
		held += time.Duration(c.Rounds) * heldBy(s, c)
	}
	if familyOf(s.Lock.Kind).keeps == inStore { // who waits is woken
		return sum
	}
	for _, c := range s.Clients[1:] {
		turn := max(1, mean(s.Lock.Retry)+mean(s.Latency.Range)*2) // nothing may take any time
		waits := int(max(0, held-mean(c.Start)) / turn)
		if s.Lock.Tries > 0 {
			waits = min(waits, c.Rounds*s.Lock.Tries)
		}
		sum += waits
	}
	return sum
}

// heldBy is about how long a client holds what it is granted.
func heldBy(s scenarios.Scenario, c scenarios.Client) time.Duration {
	return min(mean(c.Work), s.Lock.TTL*5/4)
}

func mean(r nemesis.Range) time.Duration { return (r.Min + r.Max) / 2 }
