package schema

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

const historyFile = root + "/docs/history-format.md"

// The page of the history format has the tables of its types, the verdicts of its own example, and
// the errors for mistakes in it.
func TestHistoryPageIsCurrent(t *testing.T) {
	page, err := os.ReadFile(historyFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := HistoryTables(root)
	if err != nil {
		t.Fatal(err)
	}
	text := historyExample(t, string(page))
	blocks["verdicts"] = verdicts(t, text)
	blocks["errors"] = historyMistakes(t, text)
	made, names, err := (&Format{}).Page(string(page), blocks)
	if err != nil {
		t.Fatal(err)
	}
	for name := range blocks {
		if !slices.Contains(names, name) {
			t.Errorf("the page has no place for %s", name)
		}
	}
	testkit.GoldenFile(t, historyFile, made, "A field of a history, a kind of event or a comment is now another.")
}

func historyExample(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)## A complete example\n.*?```json\n(.*?)```").FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no example")
	}
	return found[1]
}

func verdicts(t *testing.T, text string) string {
	t.Helper()
	_, report, err := results.Judge(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| property | verdict |\n|---|---|\n")
	for _, p := range checker.Properties() {
		verdict := report.Verdicts()[p]
		if verdict == checker.Violated || p == checker.Lease && verdict != checker.Holds {
			t.Errorf("the example: %s is %s", p, verdict)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", p.Title(), verdict)
	}
	return b.String()
}

// historyMistakes returns a table of mistakes and their errors.
func historyMistakes(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| a history with | is rejected with |\n|---|---|\n")
	for _, c := range []struct{ old, new string }{
		{`"version":1`, `"version":2`},
		{`"nodes":1`, `"nodes":0`},
		{`"kind":"read"`, `"kind":"look"`},
		{`"value":0`, `"value":"0"`},
		{`"reason":"taken"`, `"why":"taken"`},
		{`{"t":7500000,`, `{"t":75,`},
		{`"client":2`, `"client":3`},
		{`{"t":40000000,"kind":"end"}`, `{"t":40000000,"kind"`},
		{`{"t":40000000,"kind":"end"}` + "\n", ""},
	} {
		if !strings.Contains(text, c.old) {
			t.Fatalf("the example has no %s", c.old)
		}
		_, _, err := results.Judge(strings.NewReader(strings.TrimSuffix(strings.Replace(text, c.old, c.new, 1), "\n")))
		if err == nil {
			t.Errorf("%q: no error", c.new)
			continue
		}
		if c.new == "" {
			c.new = "no last line"
		} else {
			c.new = code(c.new)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c.new, code(err.Error()))
	}
	return b.String()
}

// Law: an event bears no field but those that the comment of its kind names; so the page
// names them.
func TestKindsNameTheFieldsThatRunsWrite(t *testing.T) {
	c, err := readComments(root, "history")
	if err != nil {
		t.Fatal(err)
	}
	w := &wrote{named: map[history.Kind][]string{}, beyond: map[string]bool{}, met: map[history.Kind]bool{}}
	for i, comment := 0, ""; i < len(c.values["history.Kind"]); i++ {
		if text := c.values["history.Kind"][i].text; text != "" {
			comment = text
		}
		w.named[history.Kind(i+1)] = fieldNames(event).FindAllString(comment, -1)
	}
	b := simulated.Backend()
	for _, s := range manyScenarios() {
		e, err := runner.Prepare(b, s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), 1, w); err != nil {
			t.Fatal(err)
		}
	}
	for what := range w.beyond {
		t.Error(what)
	}
	for kind := range w.named {
		if !w.met[kind] && kind != history.EntriesSeen { // only the watch of a real store writes those
			t.Errorf("no run has a %s", kind)
		}
	}
}

// manyScenarios are the rows of the debate, every lock in every trial, and a call that
// is cancelled, which none of them has.
func manyScenarios() []scenarios.Scenario {
	all := scenarios.All()
	cancelled := all[0]
	cancelled.Plan = nemesis.Plan{{Action: &nemesis.Cancel{Client: 1}, Start: nemesis.At(time.Millisecond / 2)}}
	all = append(all, cancelled)
	for _, trial := range scenarios.Trials() {
		for _, c := range scenarios.Contenders() {
			all = append(all, trial.Enter(c))
		}
	}
	return all
}

// wrote is a sink that looks for fields that are not named.
type wrote struct {
	named  map[history.Kind][]string
	beyond map[string]bool
	met    map[history.Kind]bool
}

func (w *wrote) Record(e *history.Event) {
	w.met[e.Kind] = true
	v := reflect.ValueOf(*e)
	for i := range v.NumField() {
		name := event.Field(i).Name
		if v.Field(i).IsZero() || slices.Contains([]string{"Time", "Kind", "Fault"}, name) || slices.Contains(w.named[e.Kind], name) {
			continue
		}
		w.beyond[fmt.Sprintf("the comment of %s does not name %s, which runs write", e.Kind, name)] = true
	}
}
