package nemesis

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Moment is when a fault starts or ends: an instant of the run; or the n-th
// time that a client reaches a step, plus a delay; or, for an end, a time
// after the start.
type Moment struct {
	// At is the time since the run began, when Client and After are not set.
	At time.Duration `yaml:"at,omitempty"`

	// Client reaches Step for the Count-th time (0 means 1). K, for the step
	// "reply", picks the k-th reply of a round, or of a try (0: any). Plus is added.
	Client int           `yaml:"client,omitempty"`
	Step   StepName      `yaml:"step,omitempty"`
	K      int           `yaml:"k,omitempty"`
	Count  int           `yaml:"count,omitempty"`
	Plus   time.Duration `yaml:"plus,omitempty"`

	// After is the time since the start of the fault; only for an end.
	After *time.Duration `yaml:"after,omitempty"`
}

// inTurn is how many replies can be named of a lock that asks one node one thing
// after another.
const inTurn = 8

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
	case m.After != nil:
		return field("after", m.validateAfter(isEnd))
	case m.At < 0:
		return field("at", fmt.Errorf("%v is before the run begins", m.At))
	case m.Client != 0:
		return m.validateStep(s)
	case m.Step != "" || m.K != 0 || m.Count != 0 || m.Plus != 0:
		return field("client", errors.New("a step needs the client that takes it"))
	}
	return nil
}

func (m Moment) validateAfter(isEnd bool) error {
	switch {
	case !isEnd:
		return errors.New("only the end of a fault can be given as a time after its start")
	case m != Moment{After: m.After}:
		return errors.New("after stands alone")
	case *m.After < 0:
		return fmt.Errorf("the fault would end %v before it starts", -*m.After)
	}
	return nil
}

// validateStep checks the fields of the time at which a client takes a step.
func (m Moment) validateStep(s Setting) error {
	if m.At != 0 {
		return field("at", errors.New("an instant and a step exclude each other"))
	}
	if err := oneOf("client", m.Client, s.Clients); err != nil {
		return field("client", err)
	}
	if m.Step == "" {
		return field("step", errors.New("missing"))
	}
	if _, err := env.ParseStep(string(m.Step)); err != nil {
		return field("step", err)
	}
	return m.validateCounts(s)
}

func (m Moment) validateCounts(s Setting) error {
	switch {
	case m.Plus < 0:
		return field("plus", fmt.Errorf("%v: nothing can be undone that the step has done", m.Plus))
	case m.Count < 0:
		return field("count", fmt.Errorf("%d: counting starts at 1", m.Count))
	case m.K != 0 && m.Step != StepName(env.StepReply.String()):
		return field("k", errors.New("only the step \"reply\" is counted within a round"))
	case m.K < 0 || m.K > max(s.Nodes, inTurn):
		return field("k", fmt.Errorf("reply %d of %d", m.K, max(s.Nodes, inTurn)))
	}
	return nil
}
