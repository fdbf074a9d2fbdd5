package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	heldOnce = "{:type :invoke, :f :acquire, :process 0, :value nil}\n{:type :ok, :f :acquire, :process 0, :value nil}\n"
	// heldTwice breaks mutual exclusion, and givenAway is released by another.
	heldTwice = heldOnce + "{:type :invoke, :f :acquire, :process 1, :value nil}\n{:type :ok, :f :acquire, :process 1, :value nil}\n"
	givenAway = heldOnce + "{:type :invoke, :f :release, :process 1, :value nil}\n{:type :ok, :f :release, :process 1, :value nil}\n"
)

func jepsenFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.edn")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// A history of Jepsen is judged by all models of its workload, and the exit code is the worst.
func TestCheckOfJepsen(t *testing.T) {
	cases := []struct {
		text      string
		args      []string
		code      int
		storyText []string
	}{
		{heldOnce, nil, exitAsExpected, []string{"workload lock: 1 operations", "ownerless mutex    holds", "fenced mutex       n/a"}},
		{heldTwice, nil, exitContradiction, []string{"ownerless mutex    violated", "acquire (process 1, lines 3 to 4)", "picture of owner-aware mutex: "}},
		{givenAway, nil, exitContradiction, []string{"ownerless mutex    holds", "owner-aware mutex  violated", "held by process 0"}},
		{givenAway, []string{"--model", "ownerless"}, exitAsExpected, []string{"ownerless mutex  holds"}},
		{givenAway, []string{"--model", "fenced,ownerless mutex"}, exitAsExpected, []string{"ownerless mutex  holds\nfenced mutex     n/a\n"}},
		{givenAway, []string{"--model", "owner-aware"}, exitContradiction, []string{"owner-aware mutex  violated"}},
		{heldOnce, []string{"--limit", "1ns"}, exitUndecided, []string{"ownerless mutex    unknown", "undecided after 0 of 1 operations"}},
		{"{:type :info :f :start :process :nemesis}", nil, exitAsExpected, []string{"workload none: 0 operations", "any    n/a", "any n/a:\n  the history holds no operation"}},
		{"{:type :invoke :f :read :process 0} {:type :ok :f :read :process 0 :value 3}", []string{"--initial", "3"}, exitAsExpected, []string{"register  holds"}},
		{"{:type :invoke :f :read :process 0} {:type :ok :f :read :process 0 :value 3}", nil, exitAsExpected, []string{"register  holds", "The register is taken to have held 3 at first", "--initial"}},
		{"{:type :invoke :f :read :process 0} {:type :ok :f :read :process 0 :value 3}", []string{"--initial", "nil"}, exitContradiction, []string{"register  violated"}},
	}
	for _, c := range cases {
		code, out, problems := command(t, append([]string{"check", jepsenFile(t, c.text)}, c.args...)...)
		want(t, "exit code of "+c.text+problems, code, c.code)
		wantIn(t, out, c.storyText...)
	}
}

// A violated history gets a picture beside the file, or in the directory of --out.
func TestCheckDrawsJepsen(t *testing.T) {
	file := jepsenFile(t, heldTwice)
	_, out, _ := command(t, "check", file)
	picture := file + ".counterexample-owner-aware-mutex.html"
	wantIn(t, out, picture)
	page, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(page), "<html", "process 1: acquire")
	file = jepsenFile(t, heldTwice)
	_, _, _ = command(t, "check", "--picture", "none", file)
	if all, _ := filepath.Glob(file + ".*"); len(all) > 0 {
		t.Errorf("pictures that nobody wants: %v", all)
	}
}

// A history of Jepsen is read from standard input and compressed as any other.
func TestCheckReadsJepsen(t *testing.T) {
	for _, text := range []string{heldTwice, zipped(t, heldTwice), "[" + heldTwice + "]"} {
		code, out, problems := commandReading(t, text, "check", "--picture", "none", "--json", "-")
		want(t, "exit code "+problems, code, exitContradiction)
		var line jepsenJudged
		if err := json.Unmarshal([]byte(out), &line); err != nil {
			t.Fatal(err)
		}
		want(t, "name, workload and models", fmt.Sprint(line.Name, line.Workload, len(line.Findings)), fmt.Sprint("-", "lock", 3))
	}
}

func TestCheckOfBadJepsen(t *testing.T) {
	for text, complaint := range map[string]string{
		heldOnce[:len(heldOnce)-20]:                           "line 2: the history ends inside",
		heldOnce + heldOnce[strings.Index(heldOnce, "\n")+1:]: "line 3: process 0 completes what it has not invoked",
		"{:type :invoke, :f :txn, :process 0}":                "line 1: operations with :f :txn cannot be judged",
	} {
		code, _, problems := command(t, "check", jepsenFile(t, text))
		want(t, "exit code of "+text, code, exitBadInput)
		wantIn(t, problems, complaint)
	}
	code, _, problems := command(t, "check", "--property", "lease", jepsenFile(t, heldOnce))
	want(t, "exit code with --property", code, exitBadInput)
	wantIn(t, problems, "--property applies to histories of Lockstorm")
	page := filepath.Join(t.TempDir(), "page.html")
	code, out, problems := command(t, "check", "--report", page, jepsenFile(t, heldOnce))
	want(t, "exit code with --report", code, exitBadInput)
	want(t, "what is judged with --report", out, "")
	wantIn(t, problems, "--report applies to histories of Lockstorm; this is one of Jepsen")
	want(t, "lines of problems with --report", strings.Count(problems, "\n"), 1)
	code, _, problems = command(t, "check", "--model", "fenced", storedRun(t, "calm"))
	want(t, "exit code with --model", code, exitBadInput)
	wantIn(t, problems, "--model applies to histories of Jepsen")
	for model, complaint := range map[string]string{
		"register":  "a history of the workload lock is not judged as register",
		"reentrant": `--model: unknown model "reentrant": want ownerless, owner-aware, fenced, register`,
	} {
		code, _, problems := command(t, "check", "--model", model, jepsenFile(t, heldOnce))
		want(t, "exit code with --model", code, exitBadInput)
		wantIn(t, problems, complaint)
	}
}
