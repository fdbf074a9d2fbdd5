package jepsen

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
)

// Options says how to judge a history. The zero value is valid.
type Options struct {
	// Budget bounds the search, over all models and keys together; what it leaves undecided is
	// unknown. 0 means no bound.
	Budget time.Duration
	// Models are the models to judge. Empty means an ownerless, an owner-aware and a fenced mutex.
	Models []Model
}

// Report is the result for a history.
type Report struct {
	Workload   string    `json:"workload"`   // lock; none, where no client did anything
	Operations int       `json:"operations"` // that clients invoked
	Infos      int       `json:"infos"`      // of these, that may have taken effect or not
	Keys       int       `json:"keys"`       // that they were on; 1 where there are none
	Findings   []Finding `json:"findings"`
}

// idle is the result for a history without operations of clients: no lock can have been broken.
var idle = Report{Workload: "none", Findings: []Finding{{
	Model: "any", Verdict: checker.NotApplicable, Story: "the history holds no operation of a client",
}}}

// Finding is the result for one model.
type Finding struct {
	Model   string          `json:"model"`
	Verdict checker.Verdict `json:"verdict"`
	Story   string          `json:"story,omitempty"` // why it is violated or n/a, or how far the judge came

	window *window
}

// Judge reads a history and judges it against each model. It returns read errors; errors that name
// the line, if the text is not a history of a lock; and the error of ctx.
func Judge(ctx context.Context, from io.Reader, o Options) (Report, error) {
	rec, err := load(from)
	if err != nil {
		return Report{}, err
	}
	if rec.invoked == 0 {
		return idle, nil
	}
	parts := rec.parts()
	report := Report{Workload: "lock", Operations: rec.invoked, Infos: rec.infos, Keys: len(parts)}
	limited, cancel := context.WithCancel(ctx)
	if o.Budget > 0 {
		limited, cancel = context.WithTimeout(ctx, o.Budget)
	}
	defer cancel()
	if len(o.Models) == 0 {
		o.Models = defaults
	}
	for _, m := range o.Models {
		f, err := m.judge(limited, parts)
		if err != nil {
			return Report{}, err
		}
		report.Findings = append(report.Findings, f)
	}
	return report, ctx.Err()
}

// judge judges one model on all keys.
func (m Model) judge(ctx context.Context, parts []part) (Finding, error) {
	f := Finding{Model: m.name, Verdict: checker.NotApplicable}
	applied, undecided, large, violated := 0, 0, "", 0
	for _, p := range parts {
		steps, applies, err := m.steps(p.operations)
		if err != nil {
			return Finding{}, err
		}
		if !applies {
			continue
		}
		applied++
		s := search{m.model, steps}
		switch verdict, _ := decide(ctx, s); {
		case verdict == checker.Violated:
			if violated++; violated == 1 {
				f.window = narrow(ctx, s, p.key)
				f.Story = f.window.story(p)
			}
		case verdict == checker.Unknown:
			undecided++
			if len(steps) > maxSteps {
				large = fmt.Sprintf(" A key with more than %d operations is not searched.", maxSteps)
			}
		}
	}
	switch {
	case violated > 0:
		f.Verdict = checker.Violated
		if violated > 1 {
			f.Story += fmt.Sprintf(". The model is violated on %d of %d keys", violated, len(parts))
		}
	case undecided > 0:
		f.Verdict = checker.Unknown
		f.Story = fmt.Sprintf("the search ended before it was complete: %d of %d keys are decided.%s", applied-undecided, applied, large)
	case applied > 0:
		f.Verdict = checker.Holds
	}
	return f, nil
}

// story describes a violation.
func (w *window) story(p part) string {
	if w == nil {
		return "the operations have no order; there was no time to find the first that does not fit"
	}
	describe := func(o porcupine.Operation) string {
		return fmt.Sprintf("%s (%s)", w.model.DescribeOperation(o.Input, o.Output), p.operations[o.ClientId].lines())
	}
	state, last := w.state()
	key := ""
	if w.key != "" {
		key = "key " + w.key + ": "
	}
	story := fmt.Sprintf("%s%s fits no order of the operations before it. In one of them, the state is then: %s", key, describe(w.stuck), w.model.DescribeState(state))
	if len(last) > 0 {
		before := make([]string, len(last))
		for i, o := range last {
			before[i] = describe(o)
		}
		story += ", after " + strings.Join(before, ", ")
	}
	return story
}
