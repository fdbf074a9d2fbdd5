package schema

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/scenarios"
)

// simulator is the backend that files are checked for.
var simulator = simulated.Backend()

// read reads a scenario as the command does.
func read(text string) (scenarios.Scenario, error) {
	return scenarios.Read(strings.NewReader(text), ".", func(s scenarios.Scenario) error {
		_, err := runner.Prepare(simulator, s)
		return err
	})
}

// example is the scenario that the page shows.
func example(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)## A complete example\n\n```yaml\n(.*?)```").FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no example")
	}
	return found[1]
}

// The runs of the page's example are as expected.
func TestExampleOfThePage(t *testing.T) {
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := read(example(t, string(page)))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		r, err := runner.Run(t.Context(), simulator, s, seed, nil)
		if err != nil || !r.AsExpected() {
			t.Errorf("seed %d: %v, %v", seed, r.Report.Verdicts(), err)
		}
	}
}

// The shorter examples, of one line each, can stand in the place of a line of the
// whole one.
func TestShortExamplesOfThePage(t *testing.T) {
	page := testkit.Read(t, pageFile)
	whole := example(t, page)
	tried := 0
	for _, line := range strings.Split(page, "\n") {
		for _, old := range []string{"latency: {min: 200µs, max: 1ms}", "start: {client: 1, step: granted, plus: 20ms}", "end: {after: 600ms}"} {
			field, _, _ := strings.Cut(old, "{")
			if !strings.HasPrefix(line, field+"{") || strings.Contains(line, "samples_from") {
				continue
			}
			tried++
			if _, err := read(strings.Replace(whole, old, line, 1)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if tried < 6 {
		t.Errorf("the page has %d short examples", tried)
	}
}

// mistakes returns a table of the errors for the example with one change each.
func mistakes(t *testing.T, example string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| a file with | is rejected with |\n|---|---|\n")
	for _, c := range []struct{ old, new string }{
		{"ttl: 1s", "ttl: 1000"},
		{"margin: 50ms", "margins: 50ms"},
		{"margin: 50ms", "grace: 50ms"},
		{"rounds: 1", "rounds: 1.5"},
		{"max: 200ms", "max: 20ms"},
		{"nodes: 5", "nodes:"},
		{"persistence: none", "persistence: disk"},
		{"node: 3", "node: 9"},
		{"node: 3", "node: every"},
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
