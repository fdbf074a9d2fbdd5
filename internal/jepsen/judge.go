package jepsen

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/model"
)

// known is the output of an operation that has surely taken effect.
var known = model.Outcome{}

// Options says how a history is judged. The zero value is of use.
type Options struct {
	// Limit is the longest that the search may take, of all models and keys
	// together; what is not decided then is unknown. 0 or less is no limit.
	Limit time.Duration
	// Initial is the value that each register holds at first, as EDN; "" means
	// nil, which is what most of Jepsen's tests begin with.
	Initial string
	// Models names those that count, as [Model] returns them: a history is judged by
	// these alone. That none of them is of its workload is an error. Empty means all.
	Models []string
}

func (o Options) initial() string {
	if o.Initial == "" {
		return "nil"
	}
	return o.Initial
}

// Report is what is found of a history.
type Report struct {
	Workload   string    `json:"workload"`   // lock, register or cas-register; none, where no client did anything
	Operations int       `json:"operations"` // that clients invoked
	Infos      int       `json:"infos"`      // of these, that may have taken effect or not
	Keys       int       `json:"keys"`       // that they were on; 1 where there are none
	Findings   []Finding `json:"findings"`
}

// idle is what is found where clients have done nothing: the nemesis came first,
// or was alone. There is no lock and no register that it could break.
var idle = Report{Workload: "none", Findings: []Finding{{
	Model: "any", Verdict: checker.NotApplicable, Story: "the history holds no operation of a client",
}}}

// Finding is what a history is to one model.
type Finding struct {
	Model   string          `json:"model"`
	Verdict checker.Verdict `json:"verdict"`
	Story   string          `json:"story,omitempty"` // why it is violated or n/a, or how far the judge came

	workload string
	window   *window
}

// Judge reads a history and judges it by each model of its workload that counts. Its errors
// are those of reading, those of a history that is none or cannot be judged,
// which name the line, and that of ctx, if it ends.
func Judge(ctx context.Context, r io.Reader, o Options) (Report, error) {
	if o.Initial != "" {
		v, err := decode([]byte(o.Initial), 1)
		if err != nil {
			return Report{}, fmt.Errorf("the initial value: %w", err)
		}
		o.Initial = show(v)
	}
	rec, err := load(r)
	if err != nil {
		return Report{}, err
	}
	if rec.invoked == 0 {
		return idle, nil
	}
	w, err := recognise(rec.words)
	if err != nil {
		return Report{}, err
	}
	specifications, err := w.by(o.Models)
	if err != nil {
		return Report{}, err
	}
	parts, err := rec.parts()
	if err != nil {
		return Report{}, err
	}
	report := Report{Workload: w.name, Operations: rec.invoked, Infos: rec.infos, Keys: len(parts)}
	limited, cancel := within(ctx, o.Limit)
	defer cancel()
	for _, spec := range specifications {
		f, err := spec.judge(limited, rec, parts, o)
		if err != nil {
			return Report{}, err
		}
		f.workload = w.name
		report.Findings = append(report.Findings, f)
	}
	return report, ctx.Err()
}

func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// trial is the judgement of one model on all keys.
type trial struct {
	rec      *recording
	parts    []part
	holds    int
	violated []*window
	unknown  []*window
}

func (spec specification) judge(ctx context.Context, rec *recording, parts []part, o Options) (Finding, error) {
	t := trial{rec: rec}
	for _, p := range parts {
		if spec.about == nil || spec.about(p.operations) {
			t.parts = append(t.parts, p)
		}
	}
	if len(t.parts) == 0 {
		return Finding{Model: spec.name, Verdict: checker.NotApplicable}, nil
	}
	for _, p := range t.parts {
		if err := t.add(ctx, spec, p, o); err != nil {
			return Finding{}, err
		}
	}
	return t.finding(spec), nil
}

func (t *trial) add(ctx context.Context, spec specification, p part, o Options) error {
	steps, err := spec.steps(p.operations)
	if err != nil {
		return err
	}
	w, verdict, stuck := decide(ctx, spec.model(o), steps, beam)
	switch verdict {
	case checker.Holds:
		t.holds++
	case checker.Violated:
		t.violated = append(t.violated, around(w, p.key, stuck, t.rec))
	default:
		t.unknown = append(t.unknown, around(w, p.key, stuck, t.rec))
	}
	return nil
}

func (t *trial) finding(spec specification) Finding {
	f := Finding{Model: spec.name, Verdict: checker.Holds}
	switch {
	case len(t.violated) > 0:
		f.Verdict, f.window = checker.Violated, t.violated[0]
		f.Story = f.window.violation() + t.others()
	case len(t.unknown) > 0:
		f.Verdict, f.window = checker.Unknown, t.unknown[0]
		f.Story = f.window.giving() + t.reach()
	}
	return f
}
