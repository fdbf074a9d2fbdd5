package nemesis

import (
	"errors"
	"fmt"
	"time"
)

// ClockJump steps the wall clock of a node or of a client. The monotonic clock
// does not move.
type ClockJump struct {
	Node   int           `yaml:"node,omitempty"`
	Client int           `yaml:"client,omitempty"`
	By     time.Duration `yaml:"by"`
}

// Kind is "clock-jump".
func (*ClockJump) Kind() Kind { return "clock-jump" }

func (j *ClockJump) String() string {
	way, by := "forward", j.By
	if by < 0 {
		way, by = "back", -by
	}
	return fmt.Sprintf("the wall clock of %s jumps %s by %v", nodeOrClient(j.Node, j.Client), way, by)
}

func (j *ClockJump) validate(s Setting) error {
	if j.By == 0 {
		return field("by", errors.New("a jump by nothing"))
	}
	return validateClock(j.Node, j.Client, s)
}

func (j *ClockJump) targets(Setting) []string { return []string{nodeOrClient(j.Node, j.Client)} }

func (*ClockJump) ending() ending {
	return ending{none: "a jump has no end; to undo it, plan a second jump"}
}

func nodeOrClient(node, client int) string {
	if client != 0 {
		return fmt.Sprintf("client %d", client)
	}
	return fmt.Sprintf("node %d", node)
}

func validateClock(node, client int, s Setting) error {
	switch {
	case node != 0 && client != 0:
		return field("client", errors.New("a node and a client exclude each other"))
	case client != 0:
		return field("client", oneOf("client", client, s.Clients))
	}
	return field("node", oneOf("node", node, s.Nodes))
}
