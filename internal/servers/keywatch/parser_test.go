package keywatch

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/resp"
)

// Each command of a stream changes what it says, in the database that was selected last.
func TestCommands(t *testing.T) {
	for line, want := range map[string][]change{
		"PING":                     nil,
		"REPLCONF GETACK *":        nil,
		"MULTI":                    nil,
		"EXEC":                     nil,
		"INCR k":                   nil,
		"SET k v PXAT 1700":        {{what: set, key: "k", value: "v", expiry: 1700}},
		"set k v nx pxat 1700":     {{what: set, key: "k", value: "v", expiry: 1700}},
		"SET k v PX 30":            {{what: set, key: "k", value: "v"}},
		"SET k v":                  {{what: set, key: "k", value: "v", expiry: noExpiry}},
		"SETNX k v":                {{what: set, key: "k", value: "v", expiry: noExpiry}},
		"PSETEX k 30 v":            {{what: set, key: "k", value: "v"}},
		"MSET k v l w":             {{what: set, key: "k", value: "v", expiry: noExpiry}, {what: set, key: "l", value: "w", expiry: noExpiry}},
		"DEL k":                    {{what: gone, key: "k"}},
		"UNLINK k l":               {{what: gone, key: "k"}, {what: gone, key: "l"}},
		"DELEX k IFEQ v":           {{what: gone, key: "k"}},
		"DELIFEQ k v":              {{what: gone, key: "k"}},
		"PEXPIREAT k 1700":         {{what: extended, key: "k", expiry: 1700}},
		"PERSIST k":                {{what: extended, key: "k", expiry: noExpiry}},
		"FLUSHALL":                 {{what: flushed, db: everyDB}},
		"FLUSHDB ASYNC":            {{what: flushed}},
		"SET k":                    nil,
		"SELECT 3|SET k v|FLUSHDB": {{what: set, db: 3, key: "k", value: "v", expiry: noExpiry}, {what: flushed, db: 3}},
		"PUBLISH " + EvictionChannel + " k|UNLINK k|UNLINK k": {{what: gone, key: "k", evicted: true}, {what: gone, key: "k"}},
		"PUBLISH other k|UNLINK k":                            {{what: gone, key: "k"}},
	} {
		var p parser
		var got []change
		for command := range strings.SplitSeq(line, "|") {
			var words []any
			for _, w := range strings.Fields(command) {
				words = append(words, w)
			}
			changes, err := p.command(words)
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			got = append(got, changes...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	for _, reply := range []any{"OK", int64(1), nil, []any{}, []any{"SET", int64(1)}} {
		if _, err := new(parser).command(reply); err == nil {
			t.Errorf("%v is taken for a command", reply)
		}
	}
}

// The copy of the keys is skipped in either of its forms, and nothing more.
func TestCopyIsSkipped(t *testing.T) {
	mark := strings.Repeat("a", 39) + "b"
	for _, text := range []string{
		"$4\r\nREDI",
		"\n\n$4\r\nREDI",
		"$EOF:" + mark + "\r\nREDISaaa" + mark,
		"$EOF:" + mark + "\r\n" + mark,
	} {
		s := &stream{in: resp.NewReader(strings.NewReader(text + "*1\r\n$4\r\nPING\r\n"))}
		if err := s.skipCopy(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if next, err := s.in.Next(); err != nil || !reflect.DeepEqual(next, []any{"PING"}) {
			t.Errorf("%q: then %v, %v", text, next, err)
		}
	}
	for _, text := range []string{"", "$x\r\n", "$9\r\nREDI", "$EOF:" + mark + "\r\nREDI"} {
		s := &stream{in: resp.NewReader(strings.NewReader(text))}
		if s.skipCopy() == nil {
			t.Errorf("%q is skipped", text)
		}
	}
}

// The counters tell why keys are gone only if all are gone for one reason.
func TestReasons(t *testing.T) {
	deletions := []change{{what: gone, key: "a"}, {what: gone, key: "b"}, {what: gone, key: "c", evicted: true}, {what: set, key: "d"}}
	for to, want := range map[look]string{
		{}:                       history.Deleted,
		{expired: 2}:             history.Expired,
		{evicted: 2}:             history.Evicted,
		{expired: 1}:             "",
		{expired: 3}:             "",
		{expired: 1, evicted: 1}: "",
		{expired: -5}:            "",
	} {
		if got := reasonOf(look{}, to, deletions); got != want {
			t.Errorf("%+v: %q, want %q", to, got, want)
		}
	}
}
