package schema

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/program"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

const historyFile = root + "/docs/history-format.md"

// The page of the history format has the verdicts of its own example, and the errors for mistakes in
// it.
func TestHistoryPageIsCurrent(t *testing.T) {
	page := pageAt(t, historyFile)
	text := historyExample(t, page)
	made, names, err := (&Format{}).Page(page, map[string]string{"verdicts": verdicts(t, text), "errors": historyMistakes(t, text)})
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	testkit.GoldenFile(t, historyFile, made, "An error for a history is now another.")
}

// The tables of the page have every field, kind and outcome, in their order.
func TestHistoryPageIsComplete(t *testing.T) {
	page := pageAt(t, historyFile)
	var kinds, outcomes []string
	for k := history.Kind(1); !strings.HasPrefix(k.String(), "Kind("); k++ {
		kinds = append(kinds, k.String())
	}
	for o := history.Outcome(1); !strings.HasPrefix(o.String(), "Outcome("); o++ {
		outcomes = append(outcomes, o.String())
	}
	for heading, want := range map[string][]string{
		"## The header":           fieldsOf[history.Header](),
		"### bounds":              fieldsOf[history.Bounds](),
		"## Events":               fieldsOf[history.Event](),
		"### outcomes":            outcomes,
		"### The kinds of events": kinds,
	} {
		if got := firstCells(t, page, heading); !slices.Equal(got, want) {
			t.Errorf("%s: the page has %v, want %v", heading, got, want)
		}
	}
}

// The tables of the page on programs have every message from them and every field.
func TestProgramPageIsComplete(t *testing.T) {
	const fields = "| field | value | in | meaning |"
	to, from, _ := strings.Cut(pageAt(t, root+"/docs/other-languages.md"), "### From the program\n")
	if got, want := firstCells(t, to, fields), fieldsOf[program.ToProgram](); !slices.Equal(got, want) {
		t.Errorf("the page has the fields %v, want %v", got, want)
	}
	if got, want := firstCells(t, from, fields), fieldsOf[program.FromProgram](); !slices.Equal(got, want) {
		t.Errorf("the page has the fields %v, want %v", got, want)
	}
	var messages []string
	for _, m := range program.Types() {
		messages = append(messages, string(m))
	}
	if got := firstCells(t, from, "| type | meaning |"); !slices.Equal(got, messages) {
		t.Errorf("the page has the messages %v, want %v", got, messages)
	}
}

// fieldsOf returns the names of a type's fields in JSON.
func fieldsOf[T any]() (names []string) {
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		names = append(names, inJSON(t.Field(i)))
	}
	return names
}

func inJSON(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// tableBelow returns the lines of the first table below a heading, or of which that is the head.
func tableBelow(t *testing.T, page, heading string) []string {
	t.Helper()
	_, below, found := strings.Cut(page, heading+"\n")
	_, below, table := strings.Cut(below, "|---|")
	if !found || !table {
		t.Fatalf("the page has no table below %q", heading)
	}
	below, _, _ = strings.Cut(below, "\n\n")
	return strings.Split(strings.TrimSpace(below), "\n")[1:]
}

// quotedWord is a word in code in a page.
var quotedWord = regexp.MustCompile("`([a-z_-]+)`")

func wordsIn(cell string) (words []string) {
	for _, m := range quotedWord.FindAllStringSubmatch(cell, -1) {
		words = append(words, m[1])
	}
	return words
}

// firstCells returns the words in the first cells of a table.
func firstCells(t *testing.T, page, heading string) (words []string) {
	t.Helper()
	for _, line := range tableBelow(t, page, heading) {
		words = append(words, wordsIn(strings.Split(line, " | ")[0])...)
	}
	return words
}

func code(text string) string { return "`" + text + "`" }

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

// Law: an event bears no field but those that the page names for its kind.
func TestKindsNameTheFieldsThatRunsWrite(t *testing.T) {
	w := &wrote{named: map[string][]string{}, beyond: map[string]bool{}, met: map[string]bool{}}
	for _, line := range tableBelow(t, pageAt(t, historyFile), "### The kinds of events") {
		cells := strings.Split(line, " | ")
		for _, kind := range wordsIn(cells[0]) {
			w.named[kind] = wordsIn(cells[len(cells)-1])
		}
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
		if !w.met[kind] && kind != history.EntriesSeen.String() { // only the watch of a real store writes those
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
	named  map[string][]string
	beyond map[string]bool
	met    map[string]bool
}

func (w *wrote) Record(e *history.Event) {
	kind := e.Kind.String()
	w.met[kind] = true
	v := reflect.ValueOf(*e)
	for i := range v.NumField() {
		name := inJSON(v.Type().Field(i))
		if !v.Field(i).IsZero() && !slices.Contains([]string{"t", "kind", "fault"}, name) && !slices.Contains(w.named[kind], name) {
			w.beyond[fmt.Sprintf("the page does not name the field %s of %s, which runs write", name, kind)] = true
		}
	}
}
