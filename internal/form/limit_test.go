package form_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
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
	good := limits{Number: 64, Share: 10, Duration: 0, Long: []time.Duration{0, time.Millisecond}, Numbers: []int{1}, Items: []string{"", ""}, Word: "blue"}
	if err := form.Check(&good); err != nil {
		t.Error(err)
	}
	zero := time.Duration(0)
	cases := map[string]func(l *limits){
		"number: 0: want 1 to 64":                             func(l *limits) { l.Number = 0 },
		"number: 65: want 1 to 64":                            func(l *limits) { l.Number = 65 },
		"share: 0: want more than 0, at most 10":              func(l *limits) { l.Share = 0 },
		"share: NaN: want more than 0, at most 10":            func(l *limits) { l.Share = math.NaN() },
		"duration: -1ms is negative":                          func(l *limits) { l.Duration = -time.Millisecond },
		"maybe: 0s: want more than 0s, at most 1m":            func(l *limits) { l.Maybe = &zero },
		"long[1]: -1ms is negative":                           func(l *limits) { l.Long = []time.Duration{0, -time.Millisecond} },
		"numbers[2]: 0: want at least 1":                      func(l *limits) { l.Numbers = []int{2, 1, 0} },
		"items: none in the list: want at least 2":            func(l *limits) { l.Items = nil },
		"items: 1 in the list: want at least 2":               func(l *limits) { l.Items = []string{"x"} },
		`word: unknown value "pink": want red, green or blue`: func(l *limits) { l.Word = "pink" },
	}
	for want, spoil := range cases {
		l := good
		spoil(&l)
		if err := form.Check(&l); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
