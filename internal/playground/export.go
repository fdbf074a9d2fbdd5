package playground

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/results/cases"
)

// ExportRequest asks for a run as a file.
type ExportRequest struct {
	Kind     string `json:"kind"`     // "scenario", "history", "report" or "test"
	Scenario string `json:"scenario"` // YAML
	Seed     uint64 `json:"seed,string"`
	Replay   string `json:"replay"` // as of [RunRequest]
}

// File is a file to be saved.
type File struct {
	Name string `json:"name"`
	Type string `json:"type"` // MIME
	Text string `json:"text"`
}

// Export makes the file of a run: its scenario, its history, its report, or a Go test that fails as
// long as the run violates its first violated property.
func Export(q ExportRequest) (File, error) {
	e, err := course(q.Scenario, q.Replay)
	if err != nil {
		return File{}, err
	}
	name := fmt.Sprintf("%s-%d", e.Scenario().Name, q.Seed)
	switch q.Kind {
	case "scenario":
		return File{e.Scenario().Name + ".yaml", "application/yaml", q.Scenario}, nil
	case "history":
		var text bytes.Buffer
		w := history.NewWriter(&text, e.Header(q.Seed))
		if _, err = e.Run(context.Background(), q.Seed, w); err == nil {
			err = w.Flush()
		}
		return File{name + ".jsonl", "application/jsonl", text.String()}, err
	case "report":
		text, err := reportOf(q)
		return File{name + ".html", "text/html", text}, err
	case "test":
		text, err := testOf(q)
		return File{strings.ReplaceAll(name, "-", "_") + "_test.go", "text/plain", text}, err
	}
	return File{}, fmt.Errorf("unknown export %q: want scenario, history, report or test", q.Kind)
}

// reportOf is the page that the command line makes of a run.
func reportOf(q ExportRequest) (string, error) {
	run, blocks, err := drawn(RunRequest{Scenario: q.Scenario, Seed: q.Seed, Replay: q.Replay})
	if err != nil {
		return "", err
	}
	page := document.Document{Title: run.Title}
	page.Add("The run: "+run.Title, blocks...)
	var text strings.Builder
	err = page.Write(&text)
	return text.String(), err
}

func testOf(q ExportRequest) (string, error) {
	e, err := course(q.Scenario, q.Replay)
	if err != nil {
		return "", err
	}
	r, err := e.Run(context.Background(), q.Seed, nil)
	if err != nil {
		return "", err
	}
	for _, f := range r.Report.Findings {
		if f.Verdict == checker.Violated {
			var text strings.Builder
			err := cases.New(r, f.Property).GoTest(&text)
			return text.String(), err
		}
	}
	return "", fmt.Errorf("the run violates no property that a test could check")
}
