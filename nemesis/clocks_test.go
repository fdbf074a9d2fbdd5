package nemesis_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/nemesis"
)

var (
	node1   = nemesis.Machine{Node: 1}
	client1 = nemesis.Machine{Client: 1}
	bySlew  = nemesis.Healing{Heal: nemesis.HealSlew}
	byStep  = nemesis.Healing{Heal: nemesis.HealStep}
	unmade  = nemesis.Healing{Heal: nemesis.HealNone}
)

// lasting is a fault from the start of the run to an end, if any.
func lasting(a nemesis.Action, end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: a, Start: nemesis.At(0), End: end}
}

func TestImpossibleClockFaults(t *testing.T) {
	later := nemesis.After(10 * ms)
	cases := map[string]nemesis.Fault{
		"plan[0].end: a jump that ends has to say how it heals":         lasting(&nemesis.ClockJump{Machine: node1, By: ms}, later),
		"plan[0].clock-jump.heal: a jump that is not taken back":        lasting(&nemesis.ClockJump{Machine: node1, By: ms, Healing: unmade}, later),
		`plan[0].clock-jump.heal: unknown value "time"`:                 lasting(&nemesis.ClockJump{Machine: node1, By: ms, Healing: nemesis.Healing{Heal: "time"}}, later),
		"plan[0].end: missing: a clock-jump heals when it ends":         lasting(&nemesis.ClockJump{Machine: node1, By: ms, Healing: byStep}, nil),
		"plan[0].end: missing: a clock-rate heals when it ends":         lasting(&nemesis.ClockRate{Machine: node1, PPM: 1, Healing: unmade}, nil),
		"plan[0].clock-rate.heal_ppm: only a slew has a rate":           lasting(&nemesis.ClockRate{Machine: node1, PPM: 1, Healing: nemesis.Healing{HealPPM: 500}}, later),
		"plan[0].clock-rate.heal_ppm: 100001: want 0 to 100000":         lasting(&nemesis.ClockRate{Machine: node1, PPM: 1, Healing: nemesis.Healing{Heal: nemesis.HealSlew, HealPPM: 100_001}}, later),
		"plan[0].clock-slew.by: a slew by nothing":                      lasting(&nemesis.ClockSlew{Machine: node1, PPM: 500}, nil),
		"plan[0].clock-slew.ppm: 0: want 1 to 100000":                   lasting(&nemesis.ClockSlew{Machine: node1, By: ms}, nil),
		"plan[0].clock-slew.ppm: -500: want 1 to 100000":                lasting(&nemesis.ClockSlew{Machine: node1, By: ms, PPM: -500}, nil),
		"plan[0].clock-slew.node: there is no node 9":                   lasting(&nemesis.ClockSlew{Machine: nemesis.Machine{Node: 9}, By: ms, PPM: 500}, nil),
		"plan[0].end: a slew ends by itself":                            lasting(&nemesis.ClockSlew{Machine: node1, By: ms, PPM: 500}, later),
		"plan[0].clock-strobe.by: a strobe by nothing":                  lasting(&nemesis.ClockStrobe{Machine: node1, Period: ms}, later),
		"plan[0].clock-strobe.period: 99µs: want at least 100µs":        lasting(&nemesis.ClockStrobe{Machine: node1, By: ms, Period: 99 * time.Microsecond}, later),
		"plan[0].clock-strobe.client: there is no client 9":             lasting(&nemesis.ClockStrobe{Machine: nemesis.Machine{Client: 9}, By: ms, Period: ms}, later),
		"plan[0].clock-freeze.client: a node and a client exclude each": lasting(&nemesis.ClockFreeze{Machine: nemesis.Machine{Node: 1, Client: 1}}, later),
		"plan[0].end: missing: a clock-freeze heals when it ends":       lasting(&nemesis.ClockFreeze{Machine: node1, Healing: byStep}, nil),
		"plan[0].suspend.client: 0: want at least 1":                    lasting(&nemesis.Suspend{}, later),
		"plan[0].snapshot.client: there is no client 3":                 lasting(&nemesis.Snapshot{Client: 3}, later),
		"plan[0].end: missing: a snapshot heals when it ends":           lasting(&nemesis.Snapshot{Client: 1, Healing: bySlew}, nil),
	}
	for want, fault := range cases {
		err := setting(fault).Validate()
		var wrong *nemesis.FieldError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Whatever changes the rate of a machine's clocks excludes whatever else does,
// and a client is stopped by one fault at a time.
func TestClockFaultsExcludeEachOther(t *testing.T) {
	rates := []nemesis.Action{
		&nemesis.ClockRate{Machine: client1, PPM: 1},
		&nemesis.ClockSlew{Machine: client1, By: ms, PPM: 500},
		&nemesis.ClockFreeze{Machine: client1},
		&nemesis.Suspend{Client: 1},
		&nemesis.Snapshot{Client: 1},
	}
	stops := []nemesis.Action{&nemesis.Pause{Client: 1}, &nemesis.Suspend{Client: 1}, &nemesis.Snapshot{Client: 1}}
	for _, group := range [][]nemesis.Action{rates, stops} {
		for _, a := range group {
			for _, b := range group {
				second := nemesis.Fault{Action: b, Start: nemesis.At(ms)}
				err := setting(lasting(a, nil), second).Validate()
				if err == nil || !strings.HasPrefix(err.Error(), "plan[1]: overlaps fault 1: both hold the ") {
					t.Errorf("%v, and then %v: %v", a, b, err)
				}
			}
		}
	}
}

// Law: in its time a slew gains what it should: rounded down, as clocks are.
func TestASlewGainsWhatItShould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.Int64Range(-1e9, 1e9).Draw(t, "by")
		ppm := rapid.Int64Range(1, nemesis.MaxSlewPPM).Draw(t, "ppm")
		d := int64(nemesis.SlewTime(time.Duration(by), ppm))
		gained := d * ppm / 1_000_000
		if by < 0 {
			gained = -((d*ppm + 999_999) / 1_000_000)
		}
		if gained != by || d < 0 {
			t.Fatalf("%d ppm gain %d in %d ns, want %d", ppm, gained, d, by)
		}
	})
	for _, by := range []time.Duration{-1 << 63, 1<<63 - 1} {
		if d := nemesis.SlewTime(by, 1); d < 100*365*24*time.Hour {
			t.Errorf("a slew by %d lasts %v", by, d)
		}
	}
}
