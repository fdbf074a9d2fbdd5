package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

func (m Trigger) timed() bool { return m.Client == 0 && m.After == nil }

func (m Trigger) validate(s Setting, isEnd bool) error {
	switch {
	case m.After != nil:
		return field("after", m.validateAfter(isEnd))
	case m.Client != 0:
		return m.validateStep(s)
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
func (m Trigger) validateStep(s Setting) error {
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
		return field("step", fmt.Errorf("%w: want one of %v", err, env.Steps()))
	}
	return m.validateCounts(s)
}

func (m Trigger) validateCounts(s Setting) error {
	switch {
	case m.K != 0 && m.Step != StepName(env.StepReply.String()):
		return field("k", errors.New("only the step \"reply\" is counted within a round"))
	case m.K > max(s.Nodes, sequentialReplies):
		return field("k", fmt.Errorf("reply %d of %d", m.K, max(s.Nodes, sequentialReplies)))
	}
	return nil
}

// Links selects links between clients and nodes: those of each of the clients
// to each of the nodes.
type Links struct {
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients. None: every client
	Nodes   []int `yaml:"nodes,flow,omitempty" want:"1.."`   // numbers of nodes. None: every node
}

// named lists the links, each after a text, as in "the latency of client 1 to node 2".
func (l Links) named(what string, s Setting) []string {
	var all []string
	for _, c := range Each(l.Clients, s.Clients) {
		for _, n := range Each(l.Nodes, s.Nodes) {
			all = append(all, fmt.Sprintf("%s of client %d to node %d", what, c, n))
		}
	}
	return all
}

// Covers reports whether the link of a client to a node is one of them.
func (l Links) Covers(client, node int) bool {
	return (len(l.Clients) == 0 || slices.Contains(l.Clients, client)) && (len(l.Nodes) == 0 || slices.Contains(l.Nodes, node))
}

func (l Links) String() string {
	return fmt.Sprintf("between %s and %s", listed("client", l.Clients), listed("node", l.Nodes))
}

// Direction is which way of a link is meant. Nothing means both.
type Direction string

// The directions. The zero value means both.
const (
	Both     Direction = ""
	Requests Direction = "requests" // from the client to the node
	Replies  Direction = "replies"  // from the node to the client
)

// messages names what goes that way.
func (d Direction) messages() string {
	if d == Both {
		return "messages"
	}
	return string(d)
}

// Includes reports whether the direction includes another.
func (d Direction) Includes(way Direction) bool { return d == Both || d == way }

// Machine selects the machine of one node or of one client.
type Machine struct {
	Node   int `yaml:"node,omitempty" want:"0.."`   // its number; not together with a client
	Client int `yaml:"client,omitempty" want:"0.."` // its number; not together with a node
}

func (m Machine) String() string {
	if m.Client != 0 {
		return fmt.Sprintf("client %d", m.Client)
	}
	return fmt.Sprintf("node %d", m.Node)
}

// The features of a fault that befalls the clock of a node, and of one that befalls the
// clocks of a client.
const (
	NodeClockFeature   Feature = "node"
	ClientClockFeature Feature = "client"
)

// clocks implements [clockChanger] for the actions that name their machine.
func (m Machine) clocks() Machine { return m }

func (m Machine) features() []Feature {
	if m.Client != 0 {
		return []Feature{ClientClockFeature}
	}
	return []Feature{NodeClockFeature}
}

// Consistent returns an error unless it is one machine.
func (m Machine) Consistent() error {
	switch {
	case m.Node != 0 && m.Client != 0:
		return field("client", errors.New("a node and a client exclude each other"))
	case m == Machine{}:
		return field("node", errors.New("missing: want the number of a node or of a client"))
	}
	return nil
}

// someOf checks a list of numbers out of 1 to n; an empty list means all.
func someOf(what string, list []int, n int) error {
	seen := map[int]bool{}
	for i, v := range list {
		if err := oneOf(what, v, n); err != nil {
			return field(fmt.Sprintf("[%d]", i), err)
		}
		if seen[v] {
			return field(fmt.Sprintf("[%d]", i), fmt.Errorf("%s %d is named twice", what, v))
		}
		seen[v] = true
	}
	return nil
}

func oneOf(what string, v, n int) error {
	if v < 1 || v > n {
		return fmt.Errorf("there is no %s %d: they are numbered 1 to %d", what, v, n)
	}
	return nil
}

// Each returns the numbers in the list, or 1 to n for an empty list.
func Each(list []int, n int) []int {
	if len(list) > 0 {
		return list
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// listed prints a list of clients or nodes.
func listed(what string, list []int) string {
	switch len(list) {
	case 0:
		return "every " + what
	case 1:
		return fmt.Sprintf("%s %d", what, list[0])
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	last := len(parts) - 1
	return what + "s " + strings.Join(parts[:last], ", ") + " and " + parts[last]
}
