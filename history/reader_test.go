package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
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
		if errors.Is(err, io.EOF) {
			return log, nil
		}
		if err != nil {
			return log, err
		}
		log.Record(e)
	}
}

func encode(log history.Log) string { return historytest.Text(header, log) }

// drawEvent draws every field, so that one that is new is not forgotten.
func drawEvent(t *rapid.T) history.Event {
	var e history.Event
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if name != "Time" && name != "Kind" && rapid.Bool().Draw(t, "no "+name) {
			continue
		}
		switch {
		case name == "Kind":
			field.SetUint(rapid.Uint64Range(1, uint64(history.EntriesSeen)).Draw(t, name))
		case name == "Outcome":
			field.SetUint(rapid.Uint64Range(0, uint64(history.Unknown)).Draw(t, name))
		case field.Kind() == reflect.String:
			field.SetString(rapid.OneOf(rapid.StringMatching(`[a-z0-9 -]{0,300}`), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, name))
		case field.CanUint():
			field.SetUint(rapid.Uint64().Draw(t, name))
		default:
			field.SetInt(rapid.Int64().Draw(t, name))
		}
	}
	return e
}

// drawLog draws events in an order that a history can have.
func drawLog(t *rapid.T) history.Log {
	var log history.Log
	now := history.Time(0)
	for range rapid.IntRange(0, 20).Draw(t, "n") {
		now += history.Time(rapid.Int64Range(0, 1e9).Draw(t, "later"))
		e := drawEvent(t)
		if e.Kind == history.End {
			e.Kind = history.Step
		}
		e.Time = now
		e.Client = rapid.IntRange(0, header.Clients).Draw(t, "client")
		e.Node = rapid.IntRange(0, header.Nodes).Draw(t, "node")
		e.Weight = rapid.IntRange(0, header.Permits()).Draw(t, "weight")
		if e.Kind <= history.WriteDone { // which cannot be without them
			e.Client, e.Resource, e.Token = max(e.Client, 1), "r"+e.Resource, "t"+e.Token
		}
		if e.Kind >= history.Pause && e.Kind <= history.Cancel {
			e.Client = max(e.Client, 1)
		}
		if e.Kind >= history.NodeDown && e.Kind <= history.KeyGone {
			e.Node = max(e.Node, 1)
		}
		log = append(log, e)
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

// valid replaces each byte that is no UTF-8, as JSON does.
func valid(log history.Log) history.Log {
	for i := range log {
		for _, text := range []*string{&log[i].Resource, &log[i].Token, &log[i].Name, &log[i].Reason, &log[i].Detail} {
			*text = string([]rune(*text))
		}
	}
	return log
}

// Law: the writer writes what encoding/json does.
func TestWriterWritesWhatEncodingJSONDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		want, got := viaEncodingJSON(&e), encode(history.Log{e})
		_, got, _ = strings.Cut(got, "\n")
		if got != want {
			t.Fatalf("wrote %s\nwant  %s", got, want)
		}
	})
}

func viaEncodingJSON(e *history.Event) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		panic(err)
	}
	return b.String()
}

func TestWriterRefusesAnEventWithoutAKind(t *testing.T) {
	w := history.NewWriter(io.Discard, header)
	w.Record(&history.Event{})
	if err := w.Flush(); err == nil {
		t.Error("no error")
	}
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

const MB = 1 << 20

// The error for a bad history names the line and the mistake.
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
		`{"x":"` + strings.Repeat("x", 2<<20):                                                      "line 1: longer than 1 MiB",
		good:                                                                                       "cut off",
		`{"format":"lockstorm-history","version":1,"nodes":2,"clients":1,"capacity":1000001}`:      "line 1: a capacity of 1000001: want 0 to 1000000",
		good + `{"t":1,"kind":"granted","client":1,"resource":"r","token":"a","weight":2}`:         "line 2: weight 2 of a capacity of 1",
		good + "{": "line 2: the history is cut off within this line",
		good + `{"t":1,"kind":"step"}` + "\n" + `{"t":0,"kind":"step"}`: "line 3: step at 0s comes after an event at 1ns",
		good + `{"t":1,"kind":"sing"}`:                                  `line 2: malformed: unknown event kind "sing"`,
		good + `{"t":1,"kind":"step","colour":"red"}`:                   `line 2: malformed: unknown field "colour"`,
		good + `{"t":1}`: "line 2: an event without a kind",
		good + `{"t":1,"kind":"step","client":4}`:                                  "line 2: client 4 of 3",
		good + `{"t":1,"kind":"acquire","resource":"r","token":"a"}`:               "line 2: acquire without a client",
		good + `{"t":1,"kind":"key-set","resource":"r","token":"a"}`:               "line 2: key-set without a node",
		good + `{"t":1,"kind":"pause"}`:                                            "line 2: pause without a client",
		good + `{"t":1,"kind":"granted","client":1,"token":"a"}`:                   "line 2: granted without a resource",
		good + `{"t":1,"kind":"lapse","client":1,"resource":"r"}`:                  "line 2: lapse without a token",
		good + `{"t":1,"kind":"node-up","node":6}`:                                 "line 2: node 6 of 5",
		good + `{"t":1,"kind":"end"}` + "\n" + `{"t":1,"kind":"end"}`:              "line 3: an event after the end",
		good + `{"t":1,"kind":"end"} {}`:                                           "line 2: malformed: more than one value",
		good + `{"t":1,"kind":"end","detail":"` + strings.Repeat("x", 2<<20) + `"`: "line 2: longer than 1 MiB",
		"\n" + good:     "line 1: not a history",
		"\ufeff" + good: "line 1: not a history: it begins with a byte order mark",
		"\xff\xfe{\x00": "line 1: not a history: it begins with a byte order mark",
		`{"format":"lockstorm-history","version":0}`:                                        "line 1: the header has no version; this program reads version 1",
		`{"format":"lockstorm-history","version":2,"nodes":"new"}`:                          "line 1: this history has format version 2; this program reads version 1",
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"nodes":3}`:        `line 1: malformed: field "nodes" stands twice`,
		`{"format":"lockstorm-history","version":1,"Nodes":5,"clients":1}`:                  `line 1: malformed: unknown field "Nodes"`,
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"keys":1}`:         `line 1: malformed: field "keys" is 1: want true or false`,
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"votes":1}`:        `line 1: malformed: field "votes" is 1: want a list`,
		`{"format":"lockstorm-history","version":1,"nodes":5,"clients":1,"bounds":{"a":1}}`: `line 1: malformed: unknown field "a"`,
		`{"format":"lockstorm-history","version":1,"bounds":{"tries":1,"tries":2}}`:         `line 1: malformed: field "tries" stands twice`,
		`{"format":"lockstorm-history","version":1,"nodes":5`:                               "line 1: not a history",
		good + "\n":                                                                    "line 2: malformed: an empty line",
		good + " \r\n":                                                                 "line 2: malformed: an empty line",
		good + "\x00\x00\n":                                                            "line 2: malformed: invalid character '\\x00'",
		good + "hello\n":                                                               "line 2: malformed: invalid character 'h'",
		good + "[]\n":                                                                  "line 2: malformed: not an object",
		good + "null\n":                                                                "line 2: malformed: not an object",
		good + `{"t":1,"kind":"`:                                                       `line 2: the history is cut off within this line: copy the whole file, or delete the line and append {"t":T,"kind":"end"} with the last time T`,
		good + `{"t":1,"kind":"end"}}` + "\n":                                          "line 2: malformed: more than one value",
		good + `{"t":1,"kind":"end"}x` + "\n":                                          "line 2: malformed: more than one value",
		good + `{"t":1,"kind":"end"},` + "\n":                                          "line 2: malformed: more than one value",
		good + `{"t":1,"t":2,"kind":"end"}` + "\n":                                     `line 2: malformed: field "t" stands twice`,
		good + `{"t":null,"\u0074":2,"kind":"end"}` + "\n":                             `line 2: malformed: field "t" stands twice`,
		good + `{"t":1,"KIND":"end"}` + "\n":                                           `line 2: malformed: unknown field "KIND"`,
		good + `{"t":"1","kind":"end"}` + "\n":                                         `line 2: malformed: field "t" is "1": want a whole number`,
		good + `{"t":1.5,"kind":"end"}` + "\n":                                         `line 2: malformed: field "t" is 1.5: want a whole number`,
		good + `{"t":1e3,"kind":"end"}` + "\n":                                         `line 2: malformed: field "t" is 1e3: want a whole number`,
		good + `{"t":01,"kind":"end"}` + "\n":                                          "line 2: malformed: invalid character '1' after object value",
		good + `{"t":9223372036854775808,"kind":"end"}` + "\n":                         `line 2: malformed: field "t" is 9223372036854775808: want a whole number, of 64 bits`,
		good + `{"t":1,"kind":"end","fence":-1}` + "\n":                                `line 2: malformed: field "fence" is -1: want a whole number from 0 on`,
		good + `{"t":1,"kind":"end","token":7}` + "\n":                                 `line 2: malformed: field "token" is 7: want text`,
		good + `{"t":1,"kind":"end","outcome":"good"}` + "\n":                          `line 2: malformed: unknown outcome "good"`,
		good + `{"t":1,"kind":"end","detail":"` + "\x01" + `"}` + "\n":                 "line 2: malformed: invalid character '\\x01' in string",
		good + `{"t":1,"kind":"step"}` + "\n" + good:                                   "line 3: a second header, of version 1: these are two histories",
		good + strings.Replace(good, `"version":1`, `"version":2`, 1):                  "line 2: a second header, of version 2: these are two histories",
		good + `{"t":1,"kind":"end"}` + "\n" + good:                                    "line 3: a second header, of version 1",
		good + `{"t":1,"kind":"end","detail":` + strings.Repeat("[", 100_000):          "line 2: malformed: exceeded max depth",
		good + `{"t":1,"kind":"end","detail":` + strings.Repeat("[", MB):               "line 2: longer than 1 MiB",
		good + `{"t":1,"kind":"step","detail":"` + strings.Repeat("x", MB+1) + "\"}\n": "line 2: longer than 1 MiB",
	}
	for text, want := range cases {
		_, err := decode(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want %q", text, err, want)
		}
	}
}

// Forms that other tools may use and this package does not write.
func TestGoodHistories(t *testing.T) {
	good := `{"format":"lockstorm-history","version":1,"nodes":5,"clients":3}` + "\n"
	longest := `{"t":1,"kind":"end","detail":"` + strings.Repeat("x", MB)
	longest = longest[:MB-2] + `"}`
	for _, text := range []string{
		"{\"t\" : 1 ,\t\"kind\":\"end\"}  \r",
		`{"kind":"end","t":1}`,
		`{"kind":"\u0065nd","t":1}`,
		`{"kind":"end","t":1,"client":null}`,
		`{"kind":"end","t":1,"detail":"` + "\xff" + `"}`,
		longest,
	} {
		for _, end := range []string{"", "\n"} {
			log, err := decode(good + text + end)
			if err != nil || len(log) != 1 || log[0].Time != 1 || log[0].Kind != history.End {
				t.Errorf("%.80q: got %.80v, %v", text, log, err)
			}
		}
	}
}

func TestTruncatedIsASentinel(t *testing.T) {
	text := encode(history.Log{{Kind: history.Step}})
	for _, cut := range []int{0, 1, 5} {
		if _, err := decode(text[:len(text)-cut]); !errors.Is(err, history.ErrTruncated) {
			t.Errorf("%d bytes cut off: got %v", cut, err)
		}
	}
}
