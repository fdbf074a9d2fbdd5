package jepsen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

const (
	begin = "{:type :invoke, :f :acquire, :process 0}\n"
	ended = "{:type :ok, :f :acquire, :process 0, :value 1}\n"
)

// Law: what is no history is an error that names the line.
func TestBadInput(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty", "", "line 1: the history is empty"},
		{"comments", "; a\n; b\n", "line 2: the history is empty"},
		{"an empty vector", "[]", "line 1: the history is empty"},
		{"garbage", begin + "hello", "line 2: "},
		{"bytes", "\x00\xff\x1f\x8b", "line 1: "},
		{"JSON", `{"type": "invoke"}`, "line 1: "},
		{"truncated in a map", begin + "{:type :ok", "line 2: "},
		{"truncated in a string", begin + "\n{:error \"a\n", "line 3: "},
		{"truncated in a vector", "\n[" + begin + ended, "line 3: the history ends without ']'"},
		{"truncated in a vector before a comment", "\n[" + begin + ended + "; end", "line 4: the history ends without ']'"},
		{"truncated after a tag", begin + "#jepsen.history.Op", "line 2: "},
		{"behind the vector", "[" + begin + "]\n" + ended, "line 3: something follows the end"},
		{"a vector of vectors", "[[" + begin + "]]", "line 1: "},
		{"brackets that do not match", "{:type [:ok}", "line 1: "},
		{"brackets too deep", begin + "{:type :ok :process 0 :value " + strings.Repeat("[", 2*maxEntry), "line 2: cannot be read as EDN: longer than"},
		{"discards too deep", strings.Repeat("#_", maxEntry), "line 1: cannot be read as EDN: longer than"},
		{"a key without a value", "{:type}", "line 1: "},
		{"no EDN", "{:type :ok :f 1x1 :process 0}", "line 1: "},
		{"no type", "{:f :acquire :process 0}", "line 1: an operation without :type"},
		{"an unknown type", begin + "{:type :maybe :f :acquire :process 0}", "line 2: :type maybe: want"},
		{"no process", "{:type :invoke :f :acquire}", "line 1: an operation without :process"},
		{"no f", "{:type :invoke :process 0}", "line 1: an operation without :f"},
		{"a completion alone", ended, "line 1: process 0 completes an operation that it has not invoked"},
		{"a completion twice", begin + ended + ended, "line 3: process 0 completes an operation that it has not invoked"},
		{"a completion of another", begin + "{:type :ok :f :release :process 0}", "line 2: process 0 completes release, and its open operation is the acquire of line 1"},
		{"two at a time", begin + begin, "line 2: process 0 invokes acquire while its acquire of line 1 is open"},
		{"after :info", begin + "{:type :info :f :acquire :process 0}\n" + begin, "line 3: process 0 acts again after its :info of line 2"},
		{"another workload", begin + ended + "{:type :invoke :f :write :process 0}", "line 3: operations with :f :write cannot be judged; supported are those of locks"},
		{"a fence that is none", "{:type :invoke :f :acquire :process 0}\n{:type :ok :f :acquire :process 0 :value {:fence :a}}", "line 2: the fence :a is no whole number"},
		{"a key that is missing", "{:type :invoke :f :acquire :process 0 :value [1 2]}\n{:type :invoke :f :acquire :process 1 :value 2}", "line 2: the first operation has a key, and this one has none: 2"},
		{"a key that changes", "{:type :invoke :f :acquire :process 0 :value [1 2]}\n{:type :ok :f :acquire :process 0 :value [2 2]}", "line 2: an operation on key 1 is completed with [2 2]"},
	}
	for _, c := range cases {
		report, err := Judge(context.Background(), strings.NewReader(c.text), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, %+v; want %s…", c.name, err, report, c.want)
		}
	}
}

// Law: where no client has done anything there is nothing to judge, and that is
// no error.
func TestNobody(t *testing.T) {
	report, err := Judge(context.Background(), strings.NewReader("{:type :info :f :start :process :nemesis}\n"), Options{})
	if err != nil || len(report.Findings) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	f := report.Findings[0]
	if f.Verdict != checker.NotApplicable || f.Story != "the history holds no operation of a client" {
		t.Errorf("%+v", f)
	}
}

// endless is a reader that never ends, and counts what is taken from it.
type endless struct {
	head, text string
	given      int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for n < len(p) {
		n += copy(p[n:], e.text)
	}
	e.given += n
	return n, nil
}

// Law: an operation that does not end is refused before it fills the memory.
func TestEndlessInput(t *testing.T) {
	for _, e := range []endless{
		{head: "{:error \"", text: "a"}, {head: "{:error ", text: "a"}, {head: "", text: "a"}, {head: "#", text: "a"},
		{head: "{", text: ":a "}, {head: "{:a ", text: "["}, {head: "{;", text: "a"}, {head: "#_\"", text: "a"}, {head: "#_", text: "["},
	} {
		name := fmt.Sprintf("%s%s…", e.head, e.text)
		if _, err := Judge(context.Background(), &e, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if e.given > 4*maxEntry {
			t.Errorf("%s: %d bytes were read", name, e.given)
		}
	}
}

// Law: a read error is reported as such.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader(begin+"{:a"), iotest.ErrReader(broken))
	if _, err := Judge(context.Background(), r, Options{}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		"{:type :invoke": true, "[{:type": true, "[ #jepsen.history.Op{": true, " \n({:a": true, "; x": true, "#jepsen.history.Op{": true, "{ :type": true,
		"": false, "{": false, "[]": false, "[{": false, `[{"t"`: false, "[1, 2]": false, `["a"]`: false, `{"version":1`: false, "{ \"a\"": false, "{}": false, "version": false, "\x1f\x8b": false,
	} {
		if Looks([]byte(text)) != want {
			t.Errorf("%q: %v, want %v", text, !want, want)
		}
	}
}

// Law: no input makes the judge panic, and what it refuses has a line.
func FuzzJudge(f *testing.F) {
	for _, c := range cases(f) {
		f.Add(c[1])
	}
	f.Add("[#jepsen.history.Op{:type :invoke :f :acquire :process 0 :value #{1 \\a}}]")
	f.Fuzz(func(t *testing.T, text string) {
		report, err := Judge(context.Background(), strings.NewReader(text), Options{Budget: 100 * time.Millisecond})
		if err != nil && !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("an error without a line: %v", err)
		}
		if err == nil && len(report.Findings) == 0 {
			t.Error("neither a finding nor an error")
		}
	})
}
