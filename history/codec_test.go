package history_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

var header = history.Header{Format: history.Format, Version: history.Version, Nodes: 5, Clients: 3}

func decode(text string) (history.Log, error) {
	r, err := history.NewReader(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var log history.Log
	for {
		e, err := r.Next()
		if err == io.EOF {
			return log, nil
		}
		if err != nil {
			return log, err
		}
		log.Record(e)
	}
}

func encode(log history.Log) string {
	var b bytes.Buffer
	w := history.NewWriter(&b, header)
	for i := range log {
		w.Record(&log[i])
	}
	if err := w.Flush(); err != nil {
		panic(err)
	}
	return b.String()
}

func drawLog(t *rapid.T) history.Log {
	var log history.Log
	now := history.Time(0)
	for range rapid.IntRange(0, 20).Draw(t, "n") {
		now += history.Time(rapid.Int64Range(0, 1e9).Draw(t, "later"))
		log = append(log, history.Event{
			Time:     now,
			Kind:     history.Kind(rapid.IntRange(1, int(history.End)-1).Draw(t, "kind")),
			Client:   rapid.IntRange(0, header.Clients).Draw(t, "client"),
			Node:     rapid.IntRange(0, header.Nodes).Draw(t, "node"),
			Resource: rapid.String().Draw(t, "resource"),
			Token:    rapid.StringMatching(`[0-9a-f]{0,40}`).Draw(t, "token"),
			Until:    rapid.Int64().Draw(t, "until"),
			Fence:    rapid.Uint64().Draw(t, "fence"),
			Outcome:  history.Outcome(rapid.IntRange(0, int(history.Unknown)).Draw(t, "outcome")),
			Reason:   rapid.String().Draw(t, "reason"),
		})
	}
	return append(log, history.Event{Time: now, Kind: history.End})
}

// Law: what is written is read.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		got, err := decode(encode(log))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, valid(log)) {
			t.Fatalf("wrote %+v\nread %+v", log, got)
		}
	})
}

// valid replaces what is not UTF-8, as JSON does.
func valid(log history.Log) history.Log {
	for i := range log {
		log[i].Resource = strings.ToValidUTF8(log[i].Resource, "\ufffd")
		log[i].Reason = strings.ToValidUTF8(log[i].Reason, "\ufffd")
	}
	return log
}

// Law: a history that is cut off anywhere is refused.
func TestACutHistoryIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := encode(drawLog(t))
		cut := rapid.IntRange(0, len(text)-2).Draw(t, "cut") // the last line break may be missing
		if _, err := decode(text[:cut]); err == nil {
			t.Fatalf("accepted %q", text[:cut])
		}
	})
}

func TestBadHistories(t *testing.T) {
	good := `{"format":"lockstorm-history","version":1,"nodes":5,"clients":3}` + "\n"
	cases := map[string]string{
		"":              "the history is empty",
		"hello\n":       "line 1: not a history",
		`{"version":1}`: "line 1: not a history",
		`{"format":"lockstorm-history","version":7}`:                                               "line 1: this history has format version 7; this program reads version 1",
		`{"format":"lockstorm-history","version":1,"nodes":-5,"clients":1}`:                        "line 1: -5 nodes: want 1 to 64",
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":-1}`:                        "line 1: -1 clients: want 1 to 100000",
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"bounds":{"tries":-1}}`:   "line 1: the bound of tries, -1, is negative",
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"bounds":{"cleanup":-1}}`: "line 1: the bound of cleanup, -1ns, is negative",
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"keepers":6}`:             "line 1: 6 keepers of 5 nodes: want -1 (none) to 5",
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"keepers":-2}`:            "line 1: -2 keepers of 5 nodes",
		`{"format":"lockstorm-history","version":1,"nodes":3,"clients":1,"votes":[1,1]}`:           "line 1: votes of 2 nodes, and 0 keepers: want those of all 3",
		`{"format":"lockstorm-history","version":1,"nodes":1,"clients":1,"votes":[1],"keepers":1}`: "line 1: votes of 1 nodes, and 1 keepers",
		`{"format":"lockstorm-history","version":1,"nodes":2,"clients":1,"votes":[0,0]}`:           "line 1: no node has a vote",
		`{"format":"lockstorm-history","version":1,"nodes":2,"clients":1,"votes":[3,-1]}`:          "line 1: node 2 has -1 votes: want 0 to 1000000",
		`{"x":"` + strings.Repeat("x", 2<<20):                                                      "line 1: bufio.Scanner: token too long",
		good:                                                                                       "cut off",
		good + "{":                                                                                 "line 2: malformed",
		good + `{"t":1,"kind":"step"}` + "\n" + `{"t":0,"kind":"step"}`:                            "line 3: step at 0s comes after an event at 1ns",
		good + `{"t":1,"kind":"sing"}`:                                                             `line 2: malformed: unknown event kind "sing"`,
		good + `{"t":1,"kind":"step","colour":"red"}`:                                              `line 2: malformed: json: unknown field "colour"`,
		good + `{"t":1}`: "line 2: an event without a kind",
		good + `{"t":1,"kind":"step","client":4}`:                                  "line 2: client 4 of 3",
		good + `{"t":1,"kind":"node-up","node":6}`:                                 "line 2: node 6 of 5",
		good + `{"t":1,"kind":"end"}` + "\n" + `{"t":1,"kind":"end"}`:              "line 3: an event after the end",
		good + `{"t":1,"kind":"end"} {}`:                                           "line 2: malformed: more than one value",
		good + `{"t":1,"kind":"end","detail":"` + strings.Repeat("x", 2<<20) + `"`: "line 2: bufio.Scanner: token too long",
	}
	for text, want := range cases {
		_, err := decode(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want %q", text, err, want)
		}
	}
}

func TestTruncatedIsASentinel(t *testing.T) {
	text := encode(history.Log{{Kind: history.Step}})
	if _, err := decode(text); !errors.Is(err, history.ErrTruncated) {
		t.Errorf("got %v", err)
	}
}

// No input makes the reader panic.
func FuzzReader(f *testing.F) {
	f.Add(encode(history.Log{{Time: 1, Kind: history.Acquire, Client: 1, Token: "a"}, {Time: 2, Kind: history.End}}))
	f.Fuzz(func(_ *testing.T, text string) { _, _ = decode(text) })
}
