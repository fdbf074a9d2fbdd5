package program

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMessagesAreParsed(t *testing.T) {
	for line, said := range map[string]string{
		`{"type": "ready", "version": 1}`: "",
		`{"type": "ready", "version": 1, "now_ms": 12.5, "tells_lost": true, "extends": true}`: "",
		`{"type": "granted", "id": 1, "until_ms": 3.25, "fence": 7}`:                           "",
		`{"type": "granted", "id": 1, "weight": 2}`:                                            "",
		`{"type": "extended", "id": 1, "weight": 2}`:                                           `extended has no field "weight"`,
		`{"type": "refused", "id": 1, "error": "taken"}`:                                       "",
		`{"type": "lost", "id": 1}`:                                                            "",
		`{"type": "granted"}`:                                                                  "granted without id",
		`{"type": "ready"}`:                                                                    "ready without version",
		`{"type": "granted", "id": 1, "until": 3}`:                                             `unknown field "until"`,
		`{"type": "released", "id": 1, "fence": 3}`:                                            `released has no field "fence"`,
		`{"type": "acquired", "id": 1}`:                                                        `unknown type "acquired": want one of ["ready"`,
		`{"type": "granted", "id": "1"}`:                                                       "cannot unmarshal string into Go struct field FromProgram.id",
		`{"type": "granted", "id": 1, "fence": -1}`:                                            "cannot unmarshal number -1",
		`{"type": "refused", "id": 1} {"type": "refused", "id": 2}`:                            "want a JSON object in each line",
		`null`:    "want a JSON object in each line",
		`[1]`:     "want a JSON object in each line",
		`granted`: "want a JSON object in each line",
		``:        "want a JSON object in each line",
	} {
		_, err := parse([]byte(line))
		switch {
		case said == "" && err != nil:
			t.Errorf("%s: %v", line, err)
		case said != "" && (err == nil || !strings.Contains(err.Error(), said)):
			t.Errorf("%s: %v, want %s", line, err, said)
		}
	}
}

// Law: no line makes the parser panic, and what it accepts has a type that a program can send.
func TestAnyLineIsParsedOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := parse([]byte(rapid.String().Draw(t, "line")))
		if err == nil && fields[m.Type] == nil {
			t.Fatalf("accepted the type %q", m.Type)
		}
	})
}

// Law: of what a program writes to its standard error the beginning and the end are kept, and no
// more than a bound.
func TestStandardErrorIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept headAndTail
		var all strings.Builder
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3*keptEnd), 1, 8).Draw(t, "writes") {
			text := strings.Repeat("abcdefg\n", n/8+1)[:n]
			all.WriteString(text)
			if written, err := kept.Write([]byte(text)); written != n || err != nil {
				t.Fatal(written, err)
			}
		}
		text, whole := string(kept.bytes()), all.String()
		switch {
		case len(whole) <= 2*keptEnd:
			if text != whole {
				t.Fatalf("%d bytes kept of %d", len(text), len(whole))
			}
		case len(text) > 2*keptEnd+100 || !strings.HasPrefix(text, whole[:keptEnd]) || !strings.HasSuffix(text, whole[len(whole)-keptEnd:]):
			t.Fatalf("%d bytes kept of %d", len(text), len(whole))
		}
	})
}

// Law: an answer counts only if it answers the open call, and a loss only if there is such a hold.
func TestCallsMatchAnswers(t *testing.T) {
	var c calls
	lost := c.begin(1)
	if c.answer(FromProgram{Type: Granted, ID: 1}) == nil {
		t.Error("an answer to nothing counts")
	}
	answered := c.add(ToProgram{Type: Acquire, ID: 1})
	for _, m := range []FromProgram{{Type: Granted, ID: 2}, {Type: Released, ID: 1}, {Type: Extended, ID: 1}} {
		if c.answer(m) == nil {
			t.Errorf("%+v answers acquire 1", m)
		}
	}
	if c.lost(FromProgram{Type: Lost, ID: 1}) == nil || c.lost(FromProgram{Type: Lost, ID: 2}) == nil {
		t.Error("a loss of what is not held counts")
	}
	if err := c.answer(FromProgram{Type: Granted, ID: 1}); err != nil || (<-answered).Type != Granted {
		t.Error(err)
	}
	if err := c.lost(FromProgram{Type: Lost, ID: 1}); err != nil {
		t.Error(err)
	}
	select {
	case <-lost:
	default:
		t.Error("the loss was not delivered")
	}
	if c.lost(FromProgram{Type: Lost, ID: 1}) == nil {
		t.Error("a second loss counts")
	}
	c.add(ToProgram{Type: Release, ID: 1})
	if err := c.answer(FromProgram{Type: NotHeld, ID: 1}); err != nil {
		t.Error(err)
	}
	if err := c.lost(FromProgram{Type: Lost, ID: 1}); err != nil {
		t.Errorf("a loss that crosses the release: %v", err)
	}
	c.begin(2)
	if before, err := c.belatedLosses(), c.lost(FromProgram{Type: Lost, ID: 1}); err != nil || before != 0 || c.belatedLosses() != 1 {
		t.Errorf("a loss after the next call: %v, %d of these, %d before", err, c.belatedLosses(), before)
	}
}
