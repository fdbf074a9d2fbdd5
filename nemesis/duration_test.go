package nemesis_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Durations that are too long are rejected in every field, and the longest allowed ones work: "for
// ever" must not overflow to "at once".
func TestDurationsAreBounded(t *testing.T) {
	node := nemesis.Machine{Node: 1}
	upTo := func(d time.Duration) nemesis.Distribution {
		return nemesis.Distribution{Range: nemesis.Range{Max: d}}
	}
	of := func(a nemesis.Action) nemesis.Setting { return setting(nemesis.Fault{Action: a}) }
	cases := map[string]func(d time.Duration) nemesis.Setting{
		"horizon":     func(d time.Duration) nemesis.Setting { s := setting(); s.Horizon = d; return s },
		"latency.max": func(d time.Duration) nemesis.Setting { s := setting(); s.Latency = upTo(d); return s },
		"links[0].latency.max": func(d time.Duration) nemesis.Setting {
			s := setting()
			s.Links = []nemesis.LinkLatency{{Latency: upTo(d)}}
			return s
		},
		"latency.samples[1]": func(d time.Duration) nemesis.Setting {
			s := setting()
			s.Latency.Samples = []time.Duration{0, d}
			return s
		},
		"plan[0].start.at": func(d time.Duration) nemesis.Setting { return setting(crash(1, nemesis.At(d), nil)) },
		"plan[0].start.plus": func(d time.Duration) nemesis.Setting {
			return setting(crash(1, nemesis.When(1, env.StepGranted, d), nil))
		},
		"plan[0].end.after":           func(d time.Duration) nemesis.Setting { return setting(crash(1, nemesis.At(0), nemesis.After(d))) },
		"plan[0].crash.restart_delay": func(d time.Duration) nemesis.Setting { return of(&nemesis.Crash{Node: 1, RestartDelay: d}) },
		"plan[0].clock-jump.by":       func(d time.Duration) nemesis.Setting { return of(&nemesis.ClockJump{Machine: node, By: d}) },
		"plan[0].latency.add.max":     func(d time.Duration) nemesis.Setting { return of(&nemesis.Latency{Add: upTo(d)}) },
		"plan[0].latency.add.pareto.scale": func(d time.Duration) nemesis.Setting {
			add := upTo(ms)
			add.Pareto = &nemesis.Pareto{Scale: d, Alpha: 1}
			return of(&nemesis.Latency{Add: add})
		},
	}
	for path, setting := range cases {
		if err := setting(nemesis.MaxDuration).Validate(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, d := range []time.Duration{nemesis.MaxDuration + 1, math.MaxInt64, math.MinInt64} {
			err := setting(d).Validate()
			var wrong *nemesis.FieldError
			if !errors.As(err, &wrong) || wrong.Path != path {
				t.Errorf("%s: %v: got %v", path, d, err)
			} else if d > 0 && !strings.HasSuffix(err.Error(), "want at most 262800h0m0s, which is 30 years") {
				t.Errorf("%s: %v: got %v", path, d, err)
			}
		}
	}
}
