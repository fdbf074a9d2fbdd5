package main

import (
	"fmt"
	"strings"
	"testing"
)

// A ratio is that of two figures of the same round, whatever has been made of them before.
func TestRatioIsOfTheSameRound(t *testing.T) {
	var said strings.Builder
	for _, round := range [][2]float64{{200, 100}, {20, 10}, {2000, 1000}, {2, 1}, {20000, 10000}, {40, 20}} {
		for i, lock := range []string{"lockstorm", "floor"} {
			fmt.Fprintf(&said, "BenchmarkAcquireRelease/net=direct/clients=1/lock=%s 1 %v p50-us\n", lock, round[i])
		}
	}
	of, to := line{"direct", "1", "lockstorm"}, line{"direct", "1", "floor"}
	rounds, err := read(strings.NewReader(said.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rounds.cell(of, "p50-us"), "120 (2–20000)"; got != want {
		t.Errorf("cell %s, want %s", got, want)
	}
	if got, want := shown(rounds.ratio("p50-us", of, to)), "2 (2–2)"; got != want {
		t.Errorf("ratio %s, want %s", got, want)
	}
}

// Every round measures what is held to a target as often, so that pairs belong together.
func TestRoundMeasuresPairs(t *testing.T) {
	count := map[string]int{}
	for _, pattern := range round() {
		count[pattern]++
	}
	for _, pattern := range compared() {
		if count[pattern] != more {
			t.Errorf("%s: %d times, want %d", pattern, count[pattern], more)
		}
	}
	if got := len(compared()); got != 5 {
		t.Errorf("%d lines of one client are held to a target, want 5: %v", got, compared())
	}
}
