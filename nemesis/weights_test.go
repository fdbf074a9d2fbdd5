package nemesis

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Law: written weights can be read.
func TestWeightsThatAreWrittenAreRead(t *testing.T) {
	names, _ := Kinds()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t)
		got, err := ParseWeights(w.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range names {
			if got.Of(k) != w.Of(k) {
				t.Fatalf("%v: %s has weight %d, want %d", w, k, got.Of(k), w.Of(k))
			}
		}
	})
}

func TestImpossibleWeights(t *testing.T) {
	cases := map[string]string{
		"":               "no kind of fault is named: want all, or kinds as in crash,partition:3",
		"burn":           `unknown kind of fault "burn"; none of 33 resembles it`,
		"crash,":         `unknown kind of fault ""`,
		"latency=50":     `unknown kind of fault "latency=50"; the nearest of 33: latency`,
		"crash:x":        `"crash:x": want a kind of fault, a colon and a number`,
		"crash:-1":       "crash: weight -1: want 0 to 9",
		"crash,crash:2":  "crash is named twice",
		"crash:0,kill:0": "every weight is 0",
	}
	for text, want := range cases {
		if _, err := ParseWeights(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// The name of a kind is not a list, and begins with no digit as a replay string's code of weights does.
func TestNamesOfKinds(t *testing.T) {
	names, _ := Kinds()
	for _, k := range names {
		if k == AllKinds || strings.Trim(string(k), "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("%q cannot stand in a list of weights", k)
		}
	}
}
