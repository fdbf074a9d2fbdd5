package history

import (
	"bytes"
	"encoding/json"
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

// The number of retained texts is bounded, and so is their length, whatever the input.
func TestTextsThatAreKeptAreFew(t *testing.T) {
	kept := texts{}
	if long := strings.Repeat("x", longestText+1); kept.of([]byte(long)) != long || len(kept) > 0 {
		t.Error("a long text is kept")
	}
	for i := range 3 * mostTexts {
		kept.of([]byte{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	if len(kept) > mostTexts {
		t.Errorf("%d texts are kept", len(kept))
	}
}
