package history

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// oneWay reports what the two readers of a line make of it, where they differ.
func oneWay(line []byte) (difference string) {
	s := &scanner{texts: newTexts()}
	var fast, slow Event
	if !s.event(line, &fast) {
		return ""
	}
	switch err := strict(line, &slow); {
	case err != nil:
		return "the scanner reads what is wrong: " + err.Error()
	case fast != slow:
		return "the scanner reads it otherwise"
	}
	// Again: texts come from what is kept by now.
	var again Event
	if !s.event(line, &again) || again != slow {
		return "the scanner reads it otherwise the second time"
	}
	return ""
}

// pieces are what lines are made of, and what they are spoiled with.
var pieces = []string{
	"{", "}", "[", "]", ":", ",", `"`, `\`, " ", "\t", "\r", "\n", "\x00", "\x1f", "\x7f", "\xff", "é", "\u2028", `\u0065`, `\n`,
	"0", "1", "-1", "-", "-0", "01", "+1", "1.0", "1e3", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "99999999999999999999",
	"null", "true", `""`, `"x"`, `"end"`, `"granted"`, `"ok"`, `"OK"`, `"t"`, `"T"`, `"kind"`, `"client"`, `"token"`, `"fence"`, `"outcome"`, `"detail"`, `"k"`, `"colour"`,
	`"t":1`, `"kind":"end"`, `"client":2`, `"token":"a"`, `"fence":3`, `"outcome":"ok"`, `"detail":"so"`, `"reason":"\"no\""`,
}

func drawLine(t *rapid.T) []byte {
	line := `{"t":5,"kind":"granted","client":1,"resource":"invoice-7","token":"e48510a4","until":-7,"fence":9,"outcome":"ok","reason":"é"}`
	if rapid.Bool().Draw(t, "of pieces") {
		line = "{" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces[len(pieces)-8:]), 0, 6).Draw(t, "fields"), ",") + "}"
	}
	for range rapid.IntRange(0, 3).Draw(t, "spoiled") {
		from := rapid.IntRange(0, len(line)).Draw(t, "from")
		to := rapid.IntRange(from, min(len(line), from+8)).Draw(t, "to")
		line = line[:from] + rapid.SampledFrom(pieces).Draw(t, "piece") + line[to:]
	}
	return []byte(line)
}

// Law: what the scanner reads, encoding/json and its checks read in the same way.
func TestScannerReadsNothingInAnotherWay(t *testing.T) {
	read, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 50 {
			line := drawLine(t)
			if difference := oneWay(line); difference != "" {
				t.Fatalf("%q: %s", line, difference)
			}
			s := &scanner{texts: newTexts()}
			if s.event(line, &Event{}) {
				read++
			} else {
				left++
			}
		}
	})
	if total := read + left; read < total/20 || left < total/20 {
		t.Errorf("%d lines read, %d left: the law says little", read, left)
	}
}

// The number of retained texts is bounded, whatever the input.
func TestTextsThatAreKeptAreFew(t *testing.T) {
	kept := newTexts()
	for range 1000 {
		if text, ok := kept.of([]byte(strings.Repeat("x", longestKept+1))); !ok || len(text) != longestKept+1 {
			t.Fatal("not read")
		}
	}
	for _, text := range kept.kept {
		if text != "" {
			t.Fatalf("a text of %d bytes is kept", len(text))
		}
	}
}
