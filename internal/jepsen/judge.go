package jepsen

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/model"
)

// known is the output of an operation that has certainly taken effect.
var known = model.Outcome{}

// Options says how to judge a history. The zero value is valid.
type Options struct {
	// Limit bounds the search, over all models and keys together; undecided ones are unknown. 0 or
	// less means no limit.
	Limit time.Duration
	// Initial is the initial value of each register as EDN. "" means nil, as in most of Jepsen's
	// tests, or a value that was found before any operation could have written it.
	Initial string
	// Models names the models to judge, as [Model] returns them. It is an error if none of them
	// belongs to the history's workload. Empty means all.
	Models []string
}

func (o Options) initial() string {
	if o.Initial == "" {
		return "nil"
	}
	return o.Initial
}

// Report is the result for a history.
type Report struct {
	Workload   string    `json:"workload"`   // lock, register or cas-register; none, where no client did anything
	Operations int       `json:"operations"` // that clients invoked
	Infos      int       `json:"infos"`      // of these, that may have taken effect or not
	Keys       int       `json:"keys"`       // that they were on; 1 where there are none
	Findings   []Finding `json:"findings"`
}

// idle is the result for a history without operations of clients: no lock or register can have been
// broken.
var idle = Report{Workload: "none", Findings: []Finding{{
	Model: "any", Verdict: checker.NotApplicable, Story: "the history holds no operation of a client",
}}}

// Finding is the result for one model.
type Finding struct {
	Model   string          `json:"model"`
	Verdict checker.Verdict `json:"verdict"`
	Story   string          `json:"story,omitempty"` // why it is violated or n/a, how far the judge came, or what it took for granted

	workload string
	window   *window
}

// Judge reads a history and judges it against each selected model of its workload. It returns read
// errors; errors that name the line, if the text is not a history or cannot be judged; and the
// error of ctx.
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

// trial judges one model on all keys.
type trial struct {
	rec      *recording
	parts    []part
	holds    int
	violated []*window
	unknown  []*window
	begins   []string // the initial values that follow from the history
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
	if spec.initial != nil && o.Initial == "" {
		if value, found := spec.initial(steps); found {
			o.Initial = value
			t.begins = append(t.begins, value)
		}
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
	if begins := t.initial(); begins != "" {
		f.Story = strings.TrimPrefix(f.Story+". "+begins, ". ")
	}
	return f
}

// initial says which initial values the judge took from the history.
func (t *trial) initial() string {
	const why = "which was found before any operation could have written it; --initial names another value"
	switch {
	case len(t.begins) == 0:
		return ""
	case len(t.parts) == 1:
		return fmt.Sprintf("The register is taken to have held %s at first, %s", t.begins[0], why)
	}
	return fmt.Sprintf("The registers of %d of %d keys are taken to have held a value at first, such as %s, %s", len(t.begins), len(t.parts), t.begins[0], why)
}
