package nemesis_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// limits has a field for each form of a limit.
type limits struct {
	Number   int             `yaml:"number" want:"1..64"`
	Share    float64         `yaml:"share" want:">0..10"`
	Duration time.Duration   `yaml:"duration" want:"0s.."`
	Maybe    *time.Duration  `yaml:"maybe" want:">0s..1m"`
	Long     []time.Duration `yaml:"long" want:"0s.."`
	Numbers  []int           `yaml:"numbers" want:"1.."`
	Items    []string        `yaml:"items" want:"2.. items"`
	Word     string          `yaml:"word" want:"red|green|blue"`
}

func TestLimits(t *testing.T) {
	good := limits{Number: 64, Share: 10, Duration: 0, Long: []time.Duration{0, ms}, Numbers: []int{1}, Items: []string{"", ""}, Word: "blue"}
	if err := nemesis.Bounded(&good); err != nil {
		t.Error(err)
	}
	zero := time.Duration(0)
	cases := map[string]func(l *limits){
		"number: 0: want 1 to 64":                             func(l *limits) { l.Number = 0 },
		"number: 65: want 1 to 64":                            func(l *limits) { l.Number = 65 },
		"share: 0: want more than 0, at most 10":              func(l *limits) { l.Share = 0 },
		"share: NaN: want more than 0, at most 10":            func(l *limits) { l.Share = math.NaN() },
		"duration: -1ms is negative":                          func(l *limits) { l.Duration = -ms },
		"maybe: 0s: want more than 0s, at most 1m":            func(l *limits) { l.Maybe = &zero },
		"long[1]: -1ms is negative":                           func(l *limits) { l.Long = []time.Duration{0, -ms} },
		"numbers[2]: 0: want at least 1":                      func(l *limits) { l.Numbers = []int{2, 1, 0} },
		"items: none in the list: want at least 2":            func(l *limits) { l.Items = nil },
		"items: 1 in the list: want at least 2":               func(l *limits) { l.Items = []string{"x"} },
		`word: unknown value "pink": want red, green or blue`: func(l *limits) { l.Word = "pink" },
	}
	for want, spoil := range cases {
		l := good
		spoil(&l)
		if err := nemesis.Bounded(&l); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// The limits in tags are the constants that the rest of the package counts on.
func TestLimitsAreTheConstants(t *testing.T) {
	cases := []struct {
		of    any
		field string
		want  string
	}{
		{nemesis.Setting{}, "Nodes", fmt.Sprintf("1 to %d", env.MaxNodes)},
		{nemesis.Generator{}, "Most", fmt.Sprintf("1 to %d", nemesis.MostFaults)},
		{nemesis.ClockRate{}, "PPM", fmt.Sprintf("%d to %d", -nemesis.MaxPPM, nemesis.MaxPPM)},
		{nemesis.ClockSlew{}, "PPM", fmt.Sprintf("1 to %d", nemesis.MaxSlewPPM)},
		{nemesis.Healing{}, "HealPPM", fmt.Sprintf("0 to %d", nemesis.MaxSlewPPM)},
		{nemesis.ClockStrobe{}, "Period", fmt.Sprintf("at least %v", nemesis.MinStrobePeriod)},
		{nemesis.Loss{}, "RTO", fmt.Sprintf("0s to %.0fs", nemesis.MaxRTO.Seconds())},
	}
	for _, c := range cases {
		field, _ := reflect.TypeOf(c.of).FieldByName(c.field)
		if got := nemesis.LimitOf(field).String(); got != c.want {
			t.Errorf("%T.%s: the tag says %s, the constant %s", c.of, c.field, got, c.want)
		}
	}
}
