package form_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

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
	OrWord   int             `yaml:"or_word" want:"1.. or all"`
}

func TestLimits(t *testing.T) {
	good := limits{Number: 64, Share: 10, Duration: 0, Long: []time.Duration{0, time.Millisecond}, Numbers: []int{1}, Items: []string{"", ""}, Word: "blue", OrWord: 1}
	if err := form.Check(&good); err != nil {
		t.Error(err)
	}
	byWord := good
	if byWord.OrWord = form.WordValue; form.Check(&byWord) != nil {
		t.Error(form.Check(&byWord))
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
		"or_word: 0: want at least 1, or all":                 func(l *limits) { l.OrWord = 0 },
	}
	for want, spoil := range cases {
		l := good
		spoil(&l)
		if err := form.Check(&l); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A word in place of a number is read and printed; the number that it is in Go cannot be written.
func TestWordInPlaceOfANumber(t *testing.T) {
	type counted struct {
		Of int `yaml:"of" want:"1.. or all"`
	}
	for _, text := range []string{"of: all\n", "of: 3\n"} {
		var v counted
		if err := form.Decode([]byte(text), "test", &v); err != nil || (v.Of == form.WordValue) != (text == "of: all\n") {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
		var n yaml.Node
		if err := n.Encode(v); err != nil {
			t.Fatal(err)
		}
		form.PutWords(&n, reflect.TypeFor[counted]())
		if again, err := yaml.Marshal(&n); err != nil || string(again) != text {
			t.Errorf("%s: printed as %s, %v", text, again, err)
		}
	}
	for text, want := range map[string]string{
		"of: every":       `line 1: of: "every" is neither a whole number nor all`,
		"of: -2147483648": "line 1: of: -2147483648: want at least 1, or all",
		"of: 1.5":         "line 1: of: 1.5 is not a whole number",
		"of: [all]":       "line 1: of: there is a list: want a whole number",
		"of:":             "line 1: of: there is no value: want a whole number",
	} {
		if err := form.Decode([]byte(text), "test", new(counted)); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
