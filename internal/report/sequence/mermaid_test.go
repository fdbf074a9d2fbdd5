package sequence

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results/cases"
)

func mermaidOf(t *testing.T, name string) string {
	t.Helper()
	c := load(t, saved+name)
	tr, report := traced(t, c.Scenario, c.Seed)
	return Mermaid(tr, report.Finding(c.Property))
}

func TestGoldenMermaid(t *testing.T) {
	testkit.GoldenFile(t, "testdata/crash-restart.mmd", mermaidOf(t, "redlock-lease-crash-restart"+cases.Extension), "The diagram in Markdown is another.")
}

var (
	declared  = regexp.MustCompile(`^participant (p\d+) as [^;]+$`)
	message   = regexp.MustCompile(`^(p\d+)(?:->>|-->>|-x)(p\d+): .+$`)
	note      = regexp.MustCompile(`^Note over (p\d+): .+$`)
	activated = regexp.MustCompile(`^(activate|deactivate) (p\d+)$`)
)

// Law: the diagram of any saved case is a text that Mermaid reads: it has only statements that are known,
// of participants that are declared; what is ended has begun; and it is short.
func TestMermaidIsWellFormed(t *testing.T) {
	paths, err := filepath.Glob(saved + "*" + cases.Extension)
	if err != nil || len(paths) < 3 {
		t.Fatalf("%d cases, %v: this test looks in the wrong place", len(paths), err)
	}
	for _, path := range paths {
		text := mermaidOf(t, filepath.Base(path))
		if len(text) > 20_000 {
			t.Errorf("%s: %d characters", path, len(text))
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		known, active, rects := map[string]bool{}, map[string]int{}, 0
		for _, line := range lines[1:] {
			line = strings.TrimSpace(line)
			var who []string
			if m := declared.FindStringSubmatch(line); m != nil {
				known[m[1]] = true
			} else if m := message.FindStringSubmatch(line); m != nil {
				who = m[1:]
			} else if m := note.FindStringSubmatch(line); m != nil {
				who = m[1:]
			} else if m := activated.FindStringSubmatch(line); m != nil {
				who = m[2:]
				active[m[2]] += map[string]int{"activate": 1, "deactivate": -1}[m[1]]
			} else if strings.HasPrefix(line, "rect ") {
				rects++
			} else if line == "end" {
				rects--
			} else {
				t.Errorf("%s: no statement of Mermaid: %s", path, line)
			}
			for _, p := range who {
				if !known[p] || active[p] < 0 {
					t.Errorf("%s: %s is not declared or not active: %s", path, p, line)
				}
			}
			if rects < 0 {
				t.Errorf("%s: end of nothing", path)
			}
		}
		if rects != 0 {
			t.Errorf("%s: %d shaded parts are not ended", path, rects)
		}
	}
}
