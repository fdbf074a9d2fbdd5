package schema

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/sim"
	"github.com/lockstorm/lockstorm/storm"
)

// simulator is the backend that files are checked for.
var simulator = storm.Backend{Name: "sim", Faults: sim.Faults(), Features: sim.Features(), Keys: true, Stores: true, Exact: true}

// read reads a scenario as the command does.
func read(text string) (scenarios.Scenario, error) {
	return scenarios.Read(strings.NewReader(text), ".", func(s scenarios.Scenario) error {
		return storm.Prepare(simulator, s)
	})
}

// example is the scenario that the page shows, which can be run.
func example(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)## A whole one\n\n```yaml\n(.*?)```").FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no example")
	}
	if _, err := read(found[1]); err != nil {
		t.Errorf("the example of the page: %v", err)
	}
	return found[1]
}

// mistakes is a table of what is said of the example with one thing changed.
func mistakes(t *testing.T, example string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| with | it says |\n|---|---|\n")
	for _, c := range []struct{ old, new string }{
		{"ttl: 1s", "ttl: 1000"},
		{"margin: 50ms", "margins: 50ms"},
		{"margin: 50ms", "grace: 50ms"},
		{"rounds: 1", "rounds: 1.5"},
		{"max: 200ms", "max: 20ms"},
		{"nodes: 5", "nodes:"},
		{"persistence: none", "persistence: disk"},
		{"node: 3", "node: 9"},
		{"crash: {node: 3}", "burn: {node: 3}"},
		{"step: granted", "step: grant"},
		{"cleanup: 100ms", "cleanup: -1s"},
		{"lease: violated", "lease: broken"},
	} {
		_, err := read(strings.Replace(example, c.old, c.new, 1))
		if err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: got %v", c.new, err)
			continue
		}
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", c.new, cut(err.Error()))
	}
	return b.String()
}

// cut leaves out the end of a long list.
func cut(text string) string {
	const most = 140
	if len(text) <= most {
		return text
	}
	return text[:strings.LastIndexAny(text[:most], ", ")] + " …"
}
