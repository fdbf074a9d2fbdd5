package fuzz_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/scenarios"
)

func TestLoad(t *testing.T) {
	terms, err := load(t, "restart_delay: 3s\nclock_rate_ppm: 0\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checker.Properties() {
		a, promised := terms(scenarios.Scenario{})[p]
		if !promised || a.RestartDelay != 3*time.Second || a.ClockRatePPM == nil || *a.ClockRatePPM != 0 || a.NodeClockStep != nil {
			t.Errorf("%s: promised %v under %+v", p, promised, a)
		}
	}
	terms, err = load(t, "properties: {contract: {}, lease: {away: 2}}")
	if err != nil {
		t.Fatal(err)
	}
	if got := terms(scenarios.Scenario{}); len(got) != 2 || *got[checker.Lease].Away != 2 {
		t.Errorf("two properties are promised, not %v", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "the file is empty",
		"restart-delay: 1s":               "line 1: unknown field restart-delay: want without, no_pauses, faults_end, nothing_forgotten, restart_delay,",
		"away: 1\naway: 2":                "line 2: away stands on line 1 already",
		"restart_delay: 1":                "line 1: restart_delay: 1 is not a duration: want a number with its unit",
		"\nrestart_delay: -1s":            "line 2: restart_delay: -1s is negative",
		"clock_rate_ppm: -1":              "line 1: clock_rate_ppm: -1 is negative",
		"node_clock_step: -1ms":           "line 1: node_clock_step: -1ms is negative",
		"without:\n- crash\n- earthquake": "line 3: without[1]: unknown kind of fault \"earthquake\": there is [crash",
		"properties:\n  mutual: {}":       `line 2: properties: unknown property "mutual": want one of lease,`,
		"properties:\n  lease: {}\n  section: {away: -2}": "line 3: properties.section.away: -2 is negative",
		"properties:\n  lease: {pauses: false}":           "line 2: properties.lease: unknown field pauses",
		"\nproperties: {}":                                "line 2: properties: there is none: name those",
		"away: 1\nproperties: {lease: {}}":                "line 2: properties: they stand alone",
		"restart_delay: 1s\n---\nrestart_delay: 2s":       "line 3: a second document: a file holds one set of assumptions",
		"[lease]": "line 1: there is a list: want a mapping",
		"fence_checked: maybe\nclock_goes_on: 2.5":        `line 1: fence_checked: "maybe" is not true or false; line 2: clock_goes_on: 2.5 is not true or false`,
		"restart_delay: 300000h":                          "line 1: restart_delay: 300000h0m0s: want at most 262800h0m0s, which is 30 years",
		"properties: {lease: {node_clock_step: 300000h}}": "line 1: properties.lease.node_clock_step: 300000h0m0s: want at most",
	} {
		_, err := load(t, text)
		if err == nil || !strings.Contains(err.Error(), "assumed.yaml: "+want) {
			t.Errorf("of\n%s\nis said %v, want %s", text, err, want)
		}
	}
	if _, err := fuzz.LoadTerms("nowhere.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
