package main

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

func TestCompareRates(t *testing.T) {
	for _, c := range []struct {
		here, there runner.Rate
		want        rateAgreement
	}{
		{runner.Rate{K: 0, N: 3}, runner.Rate{K: 0, N: 50}, consistent},
		{runner.Rate{K: 0, N: 3}, runner.Rate{K: 20, N: 50}, consistent}, // three runs may well miss it
		{runner.Rate{K: 0, N: 3}, runner.Rate{K: 50, N: 50}, inconsistent},
		{runner.Rate{K: 1, N: 3}, runner.Rate{K: 0, N: 50}, onlyHere},
		{runner.Rate{K: 3, N: 3}, runner.Rate{K: 2, N: 50}, inconsistent},
	} {
		if got := compareRates(c.here, c.there); got != c.want {
			t.Errorf("%v beside %v: %v, want %v", c.here, c.there, got, c.want)
		}
	}
}

// A drawn plan may show on one side alone what the lock is known to violate. Nothing else may.
func TestDrawnPlansShowByChance(t *testing.T) {
	find := func(trial string) (l scenarios.Contender, found scenarios.Trial) {
		for _, c := range scenarios.Contenders() {
			if c.Name == "expiring-key" {
				l = c
			}
		}
		for _, each := range scenarios.Trials() {
			if each.Name == trial {
				found = each
			}
		}
		return l, found
	}
	few, many := [2]runner.Rate{{K: 1, N: 1}, {K: 0, N: 50}}, [2]runner.Rate{{K: 4, N: 4}, {K: 0, N: 50}}
	for _, c := range []struct {
		trial    string
		property checker.Property
		rates    [2]runner.Rate
		want     bool
	}{
		{"storm", checker.Section, few, true},
		{"storm", checker.Section, many, false},
		{"storm", checker.Effect, few, false},
		{"crash", checker.Section, few, false},
	} {
		lock, trial := find(c.trial)
		if got := (pair{Lock: lock, Trial: trial, Property: c.property, Rates: c.rates}).byChance(); got != c.want {
			t.Errorf("%s, %s, %v: by chance: %v", c.trial, c.property, c.rates, got)
		}
	}
}
