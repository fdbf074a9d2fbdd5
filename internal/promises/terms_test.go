package promises_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/scenarios"
)

func TestLoad(t *testing.T) {
	terms, err := load(t, "restart_delay: 3s\nclock_rate_ppm: 0\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checker.Properties() {
		a, promised := terms(scenarios.Scenario{})[p]
		if !promised || a.RestartDelay != 3*time.Second || a.ClockRatePPM == nil || *a.ClockRatePPM != 0 || a.NodeClockStep != nil {
			t.Errorf("%s: promised %v under %+v", p, promised, a)
		}
	}
	terms, err = load(t, "properties: {contract: {}, lease: {away: 2}}")
	if err != nil {
		t.Fatal(err)
	}
	if got := terms(scenarios.Scenario{}); len(got) != 2 || *got[checker.Lease].Away != 2 {
		t.Errorf("two properties are promised, not %v", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "the file is empty",
		"restart-delay: 1s":               "line 1: unknown field restart-delay; the nearest of 12: restart_delay",
		"away: 1\naway: 2":                "line 2: away stands on line 1 already",
		"restart_delay: 1":                "line 1: restart_delay: 1 is not a duration: want a number with its unit",
		"\nrestart_delay: -1s":            "line 2: restart_delay: -1s is negative",
		"clock_rate_ppm: -1":              "line 1: clock_rate_ppm: -1 is negative",
		"node_clock_step: -1ms":           "line 1: node_clock_step: -1ms is negative",
		"without:\n- crash\n- earthquake": "line 3: without[1]: unknown kind of fault \"earthquake\"; none of 33 resembles it",
		"properties:\n  mutual: {}":       `line 2: properties: unknown property "mutual": want one of backing,`,
		"properties:\n  lease: {}\n  section: {away: -2}": "line 3: properties.section.away: -2 is negative",
		"properties:\n  lease: {pauses: false}":           "line 2: properties.lease: unknown field pauses",
		"\nproperties: {}":                                "line 2: properties: empty: name those",
		"away: 1\nproperties: {lease: {}}":                "line 2: properties: not allowed beside",
		"restart_delay: 1s\n---\nrestart_delay: 2s":       "line 3: a second document: a file holds one set of assumptions",
		"[lease]": "line 1: there is a list: want a mapping",
		"fence_checked: maybe\nclock_goes_on: 2.5":        `line 1: fence_checked: "maybe" is not true or false; line 2: clock_goes_on: 2.5 is not true or false`,
		"restart_delay: 300000h":                          "line 1: restart_delay: 300000h0m0s: want at most 262800h0m0s, which is 30 years",
		"properties: {lease: {node_clock_step: 300000h}}": "line 1: properties.lease.node_clock_step: 300000h0m0s: want at most",
	} {
		_, err := load(t, text)
		if err == nil || !strings.Contains(err.Error(), "assumed.yaml: "+want) {
			t.Errorf("of\n%s\nis said %v, want %s", text, err, want)
		}
	}
	if _, err := promises.Load("nowhere.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

const page = "../../docs/assumptions.md"

func readPage(t *testing.T) string {
	t.Helper()
	return testkit.Read(t, page)
}

// deployed returns a lock of each kind as deployed in the comparison, in the order of the
// locks.
func deployed(t *testing.T) (list []scenarios.Scenario) {
	t.Helper()
	kinds, _ := runner.Locks()
	for _, kind := range kinds {
		found := false
		for _, c := range scenarios.Contenders() {
			if found = c.Lock.Kind == kind; found {
				list = append(list, scenarios.Trials()[0].Enter(c))
				break
			}
		}
		if !found {
			t.Errorf("no contender uses the lock %q: add one to scenarios/contenders.go", kind)
		}
	}
	return list
}

// Law: the promises of every lock are known.
func TestPromisesOfEveryLockAreKnown(t *testing.T) {
	for _, s := range deployed(t) {
		if promises.Of(s) == nil {
			t.Errorf("nobody has said what %s promises: internal/promises/promises.go", s.Lock.Kind)
		}
	}
	if s := (scenarios.Scenario{Lock: scenarios.Lock{Kind: "paxos"}}); promises.Of(s) != nil {
		t.Error("an unknown lock promises something")
	}
}

// Law: the page has the promises of each lock as a table, whose numbers are those of the sets of assumptions below
// it, and each set reads back as the same.
func TestAssumptionsPageIsCurrent(t *testing.T) {
	const begin, end = "<!-- promises -->\n", "<!-- end of promises -->"
	text := readPage(t)
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for what the locks promise", page)
	}
	var sets []string
	table, rule := "\n| lock |", "|---|"
	for _, p := range checker.Properties() {
		table, rule = table+" "+p.Code()+" |", rule+"---|"
	}
	table += "\n" + rule + "\n"
	for _, s := range deployed(t) {
		terms := promises.Of(s)
		if len(terms) == 0 {
			continue
		}
		if s.Lock.TTL != time.Second {
			t.Errorf("%s has a TTL of %v", s.Lock.Kind, s.Lock.TTL)
		}
		table += "| `" + s.Lock.Kind + "` |"
		for _, p := range checker.Properties() {
			cell := "–"
			if a, promised := terms[p]; promised {
				set := flow(t, a)
				if !slices.Contains(sets, set) {
					sets = append(sets, set)
				}
				cell = strconv.Itoa(slices.Index(sets, set) + 1)
			}
			table += " " + cell + " |"
		}
		table += "\n"
	}
	table += "\n| | assumptions |\n|---|---|\n"
	for i, set := range sets {
		table += fmt.Sprintf("| %d | `%s` |\n", i+1, set)
	}
	testkit.GoldenFile(t, page, before+begin+table+"\n"+end+after, "a lock promises something else.")
}

// flow prints assumptions as YAML on one line.
func flow(t *testing.T, a promises.Assumptions) string {
	t.Helper()
	var node yaml.Node
	if err := node.Encode(a); err != nil {
		t.Fatal(err)
	}
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&node)
	if err != nil {
		t.Fatal(err)
	}
	one := strings.Join(strings.Fields(string(text)), " ")
	again, err := load(t, one)
	if one == "{}" { // no assumption: a file says so of a property only
		again, err = load(t, "properties: {lease: {}}")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, one)
	}
	if got := again(scenarios.Scenario{})[checker.Lease]; !reflect.DeepEqual(got, a) {
		t.Errorf("%+v is read again as %+v", a, got)
	}
	return one
}

// Law: the examples of the page can be read.
func TestExamplesOfThePage(t *testing.T) {
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readPage(t), -1)
	if len(examples) < 2 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		if _, err := load(t, e[1]); err != nil {
			t.Errorf("%v\n%s", err, e[1])
		}
	}
}

// load reads a text as a file.
func load(t *testing.T, text string) (func(scenarios.Scenario) promises.Terms, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "assumed.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return promises.Load(path)
}
