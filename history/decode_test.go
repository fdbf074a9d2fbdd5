package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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

// Law: what the decoder reads, encoding/json reads in the same way.
func TestDecoderReadsNothingInAnotherWay(t *testing.T) {
	read, rejected := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := newDecoder(nil)
		for range 50 {
			line := drawLine(t)
			d.event = Event{}
			if d.decode(line, d.fields) != nil {
				rejected++
				continue
			}
			read++
			var want Event
			strict := json.NewDecoder(bytes.NewReader(line))
			strict.DisallowUnknownFields()
			if err := strict.Decode(&want); err != nil || d.event != want {
				t.Fatalf("%q: read as %+v, and by encoding/json as %+v, %v", line, d.event, want, err)
			}
		}
	})
	if total := read + rejected; read < total/20 || rejected < total/20 {
		t.Errorf("%d lines read, %d rejected: the law says little", read, rejected)
	}
}

// Law: a text is the same whatever was read before, and a long one is not retained.
func TestTextsAreNotConfused(t *testing.T) {
	read, retained := new(texts), 0
	for range 2 {
		for i := range 3 * len(read) {
			want := fmt.Sprint(i) + strings.Repeat("x", i%3*longestText/2)
			if got := read.of(fmt.Appendf(nil, "%q", want)); got != want {
				t.Fatalf("read as %q: want %q", got, want)
			}
		}
	}
	for _, text := range read {
		retained = max(retained, len(text.quoted))
	}
	if retained == 0 || retained > longestText {
		t.Errorf("the longest retained text has %d bytes: want at most %d", retained, longestText)
	}
}
