package fuzz_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/scenarios"
)

const page = "../../docs/assumptions.md"

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// deployed returns a lock of each kind as the comparison deploys it, in the order of
// the locks.
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
			t.Errorf("no contender is a %s", kind)
		}
	}
	return list
}

// Law: of every lock that there is it is known what it promises.
func TestPromisesOfEveryLockAreKnown(t *testing.T) {
	for _, s := range deployed(t) {
		if fuzz.PromisedTerms(s) == nil {
			t.Errorf("nobody has said what %s promises: internal/fuzz/promises.go", s.Lock.Kind)
		}
	}
	if s := (scenarios.Scenario{Lock: scenarios.Lock{Kind: "paxos"}}); fuzz.PromisedTerms(s) != nil {
		t.Error("an unknown lock promises something")
	}
}

func TestAssumptionsPageIsCurrent(t *testing.T) {
	const begin, end = "<!-- promises -->\n", "<!-- end of promises -->"
	text := readPage(t)
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for what the locks promise", page)
	}
	var made strings.Builder
	for _, s := range deployed(t) {
		terms := fuzz.PromisedTerms(s)
		if len(terms) == 0 {
			continue
		}
		out, err := yaml.Marshal(map[string]fuzz.Terms{"properties": terms})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(&made, "\n`%s`, with a TTL of %v:\n\n```yaml\n%s```\n", s.Lock.Kind, s.Lock.TTL, out)
	}
	testkit.GoldenFile(t, page, before+begin+made.String()+"\n"+end+after, "a lock promises something else.")
}

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Law: the examples of the page can be read, and what is printed of a lock's promises
// says the same when it is read.
func TestExamplesOfThePage(t *testing.T) {
	examples := example.FindAllStringSubmatch(readPage(t), -1)
	if len(examples) < 3 {
		t.Fatalf("%d examples", len(examples))
	}
	var read []fuzz.Terms
	for _, e := range examples {
		terms, err := load(t, e[1])
		if err != nil {
			t.Fatalf("%v\n%s", err, e[1])
		}
		read = append(read, terms(scenarios.Scenario{}))
	}
	read = read[2:]
	for _, s := range deployed(t) {
		want := fuzz.PromisedTerms(s)
		if len(want) == 0 {
			continue
		}
		if got := read[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s promises %+v, and read again is %+v", s.Lock.Kind, want, got)
		}
		read = read[1:]
	}
}

// Law: the page says what each field means.
func TestThePageHasEveryField(t *testing.T) {
	text := readPage(t)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[fuzz.Assumptions]()) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !strings.Contains(text, "\n| `"+name+"` |") {
			t.Errorf("%s does not say what %s means", page, name)
		}
	}
}

// load reads a text as a file.
func load(t *testing.T, text string) (func(scenarios.Scenario) fuzz.Terms, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "assumed.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return fuzz.LoadTerms(path)
}
