package excerpt_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/show/excerpt"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: the operations around a violation have no order either.
func TestExcerptsAreIllegal(t *testing.T) {
	found := map[checker.Property]int{}
	for _, s := range scenarios.All() {
		e, err := runner.Prepare(simulated.Backend(), s)
		if err != nil {
			continue // it needs real servers
		}
		var text bytes.Buffer
		keep := history.NewWriter(&text, e.Header(1))
		r, err := e.Run(context.Background(), 1, keep)
		if err != nil {
			t.Fatal(err)
		}
		if err := keep.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, p := range excerpt.Properties {
			if r.Report.Finding(p).Verdict != checker.Violated {
				continue
			}
			x, err := excerpt.Of(r.Report, p, bytes.NewReader(text.Bytes()))
			if err != nil || len(x.Operations) < 2 || len(x.Operations) > 100 || porcupine.CheckOperations(x.Model, x.Operations) {
				t.Errorf("%s, %s: an excerpt of %d operations, %v", s.Name, p, len(x.Operations), err)
			}
			found[p]++
		}
	}
	for _, p := range excerpt.Properties {
		if found[p] == 0 {
			t.Errorf("no run violates %s", p)
		}
	}
}

// Law: no text of a history becomes HTML of the page.
func TestTextsAreEscaped(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>`
	x := excerpt.Excerpt{
		Model: porcupine.Model{
			Init:              func() any { return evil },
			Step:              func(state, _, _ any) (bool, any) { return true, state },
			DescribeOperation: func(_, _ any) string { return evil },
		},
		Operations: []porcupine.Operation{{ClientId: 7, Call: 1, Return: 2}},
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := x.Write(path); err != nil {
		t.Fatal(err)
	}
	page := testkit.Read(t, path)
	if strings.Contains(page, "<img") || strings.Contains(page, `"StateDescription":"\u003c`) || !strings.Contains(page, `\u0026lt;img`) {
		t.Error("the page has the history's HTML")
	}
}
