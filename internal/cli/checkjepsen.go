package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/jepsen"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// jepsenJudged is the result for a history of Jepsen.
type jepsenJudged struct {
	Name string `json:"name"`
	jepsen.Report
	Pictures []jepsenPicture `json:"pictures,omitempty"`
}

type jepsenPicture struct {
	Model string `json:"model"`
	Path  string `json:"path"`
}

// judgeJepsen judges a history of Jepsen.
func (c checking) judgeJepsen(ctx context.Context, in input, text io.Reader) (verdicted, error) {
	switch {
	case len(c.only) > 0:
		return nil, errors.New("--property applies to histories of Lockstorm; this is one of Jepsen")
	case c.options.report.path != "":
		return nil, errors.New("--report applies to histories of Lockstorm; this is one of Jepsen")
	}
	report, err := jepsen.Judge(ctx, text, c.options.jepsen)
	if err != nil {
		return nil, err
	}
	j := jepsenJudged{Name: in.name, Report: report}
	if c.options.picture == noPicture {
		return j, nil
	}
	for _, f := range report.Findings {
		if err := c.drawJepsen(&j, in, f); err != nil {
			complain(c.problems, fmt.Errorf("no picture: %w", err))
		}
	}
	return j, nil
}

// findModels finds models of Jepsen's workloads by their names.
func findModels(names []string) ([]string, error) {
	var found []string
	for _, name := range names {
		model, err := jepsen.Model(name)
		if err != nil {
			return nil, fmt.Errorf("--model: %w", err)
		}
		found = append(found, model)
	}
	return found, nil
}

// drawJepsen draws a finding that has something to show.
func (c checking) drawJepsen(j *jepsenJudged, in input, f jepsen.Finding) error {
	var page bytes.Buffer
	err := f.Picture(&page, in.name)
	if errors.Is(err, jepsen.ErrNoPicture) {
		return nil
	}
	if err != nil {
		return err
	}
	path := c.free(in.picture(c.options.picture, strings.ReplaceAll(f.Model, " ", "-")))
	if err := results.WritePicture(path, page.Bytes()); err != nil {
		return err
	}
	j.Pictures = append(j.Pictures, jepsenPicture{f.Model, path})
	return nil
}

func (j jepsenJudged) tell(out io.Writer) {
	_, _ = fmt.Fprintf(out, "A history of Jepsen, workload %s: %d operations, %d of unknown outcome, keys: %d\n\n", j.Workload, j.Operations, j.Infos, j.Keys)
	verdicts := &textfmt.Table{Head: []string{"model", "verdict"}}
	for _, f := range j.Findings {
		verdicts.Add(f.Model, fmt.Sprint(f.Verdict))
	}
	printTable(out, verdicts)
	for _, f := range j.Findings {
		if f.Story != "" {
			_, _ = fmt.Fprintf(out, "\n%s %s:\n", f.Model, terminal.On(out).Verdicts(f.Verdict.String()))
			tell(out, f.Story)
		}
	}
	for i, p := range j.Pictures {
		printPicture(out, i == 0, p.Model, p.Path)
	}
}

func (j jepsenJudged) line() any { return j }

func (j jepsenJudged) code() int {
	code := exitAsExpected
	for _, f := range j.Findings {
		switch f.Verdict {
		case checker.Violated:
			return exitContradiction
		case checker.Unknown:
			code = exitUndecided
		}
	}
	return code
}
