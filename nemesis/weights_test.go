package nemesis

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Law: written weights can be read, by name and as a code.
func TestWeightsThatAreWrittenAreRead(t *testing.T) {
	names, _ := Kinds()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t)
		for _, text := range []string{w.String(), w.Code()} {
			got, err := ParseWeights(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range names {
				if got.of(k) != w.of(k) {
					t.Fatalf("%s: %s has weight %d, want %d", text, k, got.of(k), w.of(k))
				}
			}
		}
	})
}

func TestImpossibleWeights(t *testing.T) {
	w := Weights{"crash": 1, "pause": 2}
	code := w.Code()
	cases := map[string]string{
		"":               "no kind of fault is named: want all, or kinds as in crash,partition:3",
		"burn":           `burn: unknown kind of fault "burn": there is [crash `,
		"crash,":         `: unknown kind of fault ""`,
		"crash:x":        `"crash:x": want a kind of fault, a colon and a number`,
		"crash:-1":       "crash: weight -1: want 0 to 9",
		"crash,crash:2":  "crash is named twice",
		"crash:0,kill:0": "every weight is 0",
		"7":              `"7": want a number of kinds`,
		"01000":          `"01000" was written by a program with other kinds of faults`,
		"990001":         `"990001" was written by a program with other kinds of faults`,
		"00":             `"00": want a number of kinds`,
		"0x0001":         `"0x0001": want a number of kinds`,
		code[:5]:         "its last part is not the weights of ",
		code[:5] + ".":   "its last part is not the weights of ",
		code + "0":       "its last part is not the weights of ",
	}
	for text, want := range cases {
		if _, err := ParseWeights(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// The name of a kind is neither a code nor a list.
func TestNamesOfKinds(t *testing.T) {
	names, _ := Kinds()
	for _, k := range names {
		if k == AllKinds || strings.Trim(string(k), "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("%q cannot stand in a list of weights", k)
		}
	}
}
