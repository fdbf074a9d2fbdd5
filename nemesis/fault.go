package nemesis

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Fault is one entry of a plan: one action, from its start to its end. Exactly
// one of the actions is set.
type Fault struct {
	Crash     *Crash     `yaml:"crash,omitempty"`
	Partition *Partition `yaml:"partition,omitempty"`
	Latency   *Latency   `yaml:"latency,omitempty"`
	Pause     *Pause     `yaml:"pause,omitempty"`
	Kill      *Kill      `yaml:"kill,omitempty"`
	ClockJump *ClockJump `yaml:"clock-jump,omitempty"`
	ClockRate *ClockRate `yaml:"clock-rate,omitempty"`

	Start Moment  `yaml:"start"`
	End   *Moment `yaml:"end,omitempty"` // nil: never
}

// Action is what a fault does, without its when.
type Action interface {
	// Kind names the action's kind.
	Kind() Kind
	// String tells a person what happens, as in "node 2 crashes".
	String() string
	// validate names the field that does not fit the setting.
	validate(s Setting) error
	// targets names what the action takes hold of; two faults of one kind
	// must not hold the same target at the same time.
	targets(s Setting) []string
	// ending says what the end of the fault means, or why it has none.
	ending() ending
}

// ending is what the end of a kind of fault may be.
type ending struct {
	must bool   // the fault has to say when it ends
	none string // the fault cannot end, and why
}

// Kind is a kind of fault.
type Kind string

// kinds lists all kinds of faults, with one of each and what it does.
var kinds = []struct {
	zero Action
	what string
}{
	{&Crash{}, "a node's server dies and, at the end, starts again; what it keeps is its persistence"},
	{&Partition{}, "messages between clients and nodes are held back until the end"},
	{&Latency{}, "messages between clients and nodes take longer"},
	{&Pause{}, "a client stands still: a long garbage collection, a stopped process"},
	{&Kill{}, "a client dies"},
	{&ClockJump{}, "a node's or a client's wall clock steps forward or back"},
	{&ClockRate{}, "a node's or a client's clocks run fast or slow"},
}

// Kinds returns every kind of fault with a line on what it does.
func Kinds() (names []Kind, what map[Kind]string) {
	what = make(map[Kind]string, len(kinds))
	for _, k := range kinds {
		names = append(names, k.zero.Kind())
		what[k.zero.Kind()] = k.what
	}
	return names, what
}

// Action returns the action that is set, or nil unless there is exactly one.
func (f *Fault) Action() Action {
	var set []Action
	if f.Crash != nil {
		set = append(set, f.Crash)
	}
	if f.Partition != nil {
		set = append(set, f.Partition)
	}
	if f.Latency != nil {
		set = append(set, f.Latency)
	}
	if f.Pause != nil {
		set = append(set, f.Pause)
	}
	if f.Kill != nil {
		set = append(set, f.Kill)
	}
	if f.ClockJump != nil {
		set = append(set, f.ClockJump)
	}
	if f.ClockRate != nil {
		set = append(set, f.ClockRate)
	}
	if len(set) != 1 {
		return nil
	}
	return set[0]
}

// Moment is when a fault starts or ends: an instant of the run; or the n-th
// time that a client reaches a step, plus a delay; or, for an end, a time
// after the start.
type Moment struct {
	// At is the time since the run began, when Client and After are not set.
	At time.Duration `yaml:"at,omitempty"`

	// Client reaches Step for the Count-th time (0 means 1). K, for the step
	// "reply", picks the k-th reply of a round (0: any). Plus is added.
	Client int           `yaml:"client,omitempty"`
	Step   StepName      `yaml:"step,omitempty"`
	K      int           `yaml:"k,omitempty"`
	Count  int           `yaml:"count,omitempty"`
	Plus   time.Duration `yaml:"plus,omitempty"`

	// After is the time since the start of the fault; only for an end.
	After *time.Duration `yaml:"after,omitempty"`
}

// StepName is a step by its name, as in "before-send".
type StepName string

// At is the moment d after the begin of the run.
func At(d time.Duration) Moment { return Moment{At: d} }

// After is the end d after the fault's start.
func After(d time.Duration) *Moment { return &Moment{After: &d} }

// When is the moment at which the client reaches the step for the first time,
// plus a delay.
func When(client int, step env.Step, plus time.Duration) Moment {
	return Moment{Client: client, Step: StepName(step.String()), Plus: plus}
}

func (m Moment) timed() bool { return m.Client == 0 && m.After == nil }

func (m Moment) validate(s Setting, isEnd bool) error {
	switch {
	case m.After != nil && !isEnd:
		return field("after", errors.New("only the end of a fault can be given as a time after its start"))
	case m.After != nil && (m.Client != 0 || m.At != 0 || m.Plus != 0):
		return field("after", errors.New("after stands alone"))
	case m.After != nil && *m.After < 0:
		return field("after", fmt.Errorf("the fault would end %v before it starts", -*m.After))
	case m.At < 0:
		return field("at", fmt.Errorf("%v is before the run begins", m.At))
	case m.Plus < 0:
		return field("plus", fmt.Errorf("%v: nothing can be undone that the step has done", m.Plus))
	case m.Client == 0 && (m.Step != "" || m.K != 0 || m.Count != 0 || m.Plus != 0):
		return field("client", errors.New("a step needs the client that takes it"))
	case m.Client != 0 && m.At != 0:
		return field("at", errors.New("an instant and a step exclude each other"))
	case m.Client != 0 && m.Step == "":
		return field("step", errors.New("missing"))
	case m.Client < 0 || m.Client > s.Clients:
		return field("client", fmt.Errorf("client %d of %d", m.Client, s.Clients))
	case m.Count < 0:
		return field("count", fmt.Errorf("%d: counting starts at 1", m.Count))
	case m.K != 0 && m.Step != StepName(env.StepReply.String()):
		return field("k", errors.New("only the step \"reply\" is counted within a round"))
	case m.K < 0 || m.K > s.Nodes:
		return field("k", fmt.Errorf("reply %d of %d", m.K, s.Nodes))
	}
	if m.Client != 0 {
		_, err := env.ParseStep(string(m.Step))
		return field("step", err)
	}
	return nil
}

// FieldError is a value of a setting or plan that cannot be. Path leads to it,
// as in "plan[2].crash.node".
type FieldError struct {
	Path string
	Err  error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// field puts one more step in front of the path to a wrong value.
func field(name string, err error) error {
	if err == nil {
		return nil
	}
	inner := new(FieldError)
	if !errors.As(err, &inner) {
		return &FieldError{Path: name, Err: err}
	}
	if strings.HasPrefix(inner.Path, "[") {
		return &FieldError{Path: name + inner.Path, Err: inner.Err}
	}
	return &FieldError{Path: name + "." + inner.Path, Err: inner.Err}
}
