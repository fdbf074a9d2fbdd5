package nemesis

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Trigger is when a fault starts or ends: at an instant of the run; or when a
// client reaches a step for the n-th time, plus a delay; or, for an end, a time
// after the start.
type Trigger struct {
	// At is the time since the run began. It stands alone.
	At time.Duration `yaml:"at,omitempty" want:"0s.."`

	// Client is the number of the client that reaches a step.
	Client int `yaml:"client,omitempty" want:"0.."`

	// Step is the step that the client reaches.
	Step StepName `yaml:"step,omitempty"`

	// K is the number of the reply in a round, or in a try, for the step "reply"; 0
	// means any.
	K int `yaml:"k,omitempty" want:"0.."`

	// Count says at which occurrence of the step the trigger fires, 2 being the second; 0 means
	// the first.
	Count int `yaml:"count,omitempty" want:"0.."`

	// Plus is added to the time at which the client reaches the step.
	Plus time.Duration `yaml:"plus,omitempty" want:"0s.."`

	// After is the time since the start of the fault. It stands alone, and only
	// in an end.
	After *time.Duration `yaml:"after,omitempty" want:"0s.."`
}

// sequentialReplies is the highest reply that can be named of a lock that asks one
// node several times.
const sequentialReplies = 8

// StepName is the name of a step, such as "before-send".
type StepName string

// At triggers d after the start of the run.
func At(d time.Duration) Trigger { return Trigger{At: d} }

// After ends a fault d after its start.
func After(d time.Duration) *Trigger { return &Trigger{After: &d} }

// When triggers when the client reaches the step for the first time, plus a delay.
func When(client int, step env.Step, plus time.Duration) Trigger {
	return Trigger{Client: client, Step: StepName(step.String()), Plus: plus}
}

// Timed reports whether it is an instant of the run.
func (m Trigger) Timed() bool { return m.Client == 0 && m.After == nil }

// validate returns an error for a trigger that cannot be in a world of so many clients and nodes.
func (m Trigger) validate(clients, nodes int, isEnd bool) error {
	switch {
	case m.After != nil:
		return field("after", m.validateAfter(isEnd))
	case m.Client != 0:
		return m.validateStep(clients, nodes)
	case m.Step != "" || m.K != 0 || m.Count != 0 || m.Plus != 0:
		return field("client", errors.New("a step needs the client that takes it"))
	}
	return nil
}

func (m Trigger) validateAfter(isEnd bool) error {
	switch {
	case !isEnd:
		return errors.New("only the end of a fault can be given as a time after its start")
	case m != Trigger{After: m.After}:
		return errors.New("after stands alone")
	}
	return nil
}

// validateStep checks the fields of the time at which a client takes a step.
func (m Trigger) validateStep(clients, nodes int) error {
	if m.At != 0 {
		return field("at", errors.New("an instant and a step exclude each other"))
	}
	if err := oneOf("client", m.Client, clients); err != nil {
		return field("client", err)
	}
	if m.Step == "" {
		return field("step", errors.New("missing"))
	}
	if _, err := env.ParseStep(string(m.Step)); err != nil {
		return field("step", fmt.Errorf("%w: want one of %v", err, env.Steps()))
	}
	return m.validateCounts(nodes)
}

func (m Trigger) validateCounts(nodes int) error {
	switch {
	case m.K != 0 && m.Step != StepName(env.StepReply.String()):
		return field("k", errors.New("only the step \"reply\" is counted within a round"))
	case m.K > max(nodes, sequentialReplies):
		return field("k", fmt.Errorf("reply %d of %d", m.K, max(nodes, sequentialReplies)))
	}
	return nil
}

// ending is how a fault can end. The zero value: its plan may name an end; without one it never ends.
type ending struct {
	required  bool          // the fault must name its end
	heals     bool          // the reason that it is required: the fault heals at its end
	forbidden string        // why the fault cannot have an end
	automatic string        // why the plan cannot name the end: the fault ends by itself
	after     time.Duration // the fault ends by itself after this time; 0: at once, if an end is forbidden
}

// describe says when a fault starts, or at which step it ends.
func (m Trigger) describe() string {
	if m.Timed() {
		if m.At == 0 {
			return "from the start"
		}
		return fmt.Sprintf("at %v", m.At)
	}
	step := string(m.Step)
	if m.K > 0 {
		step += fmt.Sprintf(" %d", m.K)
	}
	text := fmt.Sprintf("when client %d comes to %s", m.Client, step)
	if m.Plus > 0 {
		text = fmt.Sprintf("%v after client %d comes to %s", m.Plus, m.Client, step)
	}
	if m.Count > 1 {
		text += " for the " + ordinal(m.Count) + " time"
	}
	return text
}

// ordinal prints 2nd, 3rd, 4th, …
func ordinal(n int) string {
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
