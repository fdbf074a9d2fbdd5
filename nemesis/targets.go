package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/form"
)

// Links selects links between clients and nodes: those of each of the clients
// to each of the nodes.
type Links struct {
	Clients []int `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients. None: every client
	Nodes   []int `yaml:"nodes,flow,omitempty" want:"1.."`   // numbers of nodes. None: every node
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

// AllNodes is the node of a fault on every node: the word all in a file. It stands for a fault on each node,
// which [Plan.EachNode] puts in its place; only those have the effects and the claims of a node.
const AllNodes = form.WordValue

func nodeName(node int) string {
	if node == AllNodes {
		return "every node"
	}
	return fmt.Sprintf("node %d", node)
}

// onNode is an action on a node, or on a machine that may be one. node points to the number of the node.
type onNode interface{ node() *int }

// Machine selects the machine of one node or of one client.
type Machine struct {
	Node   int `yaml:"node,omitempty" want:"0.. or all"` // its number; not together with a client
	Client int `yaml:"client,omitempty" want:"0.."`      // its number; not together with a node
}

func (m *Machine) node() *int { return &m.Node }

func (m Machine) String() string {
	if m.Client != 0 {
		return fmt.Sprintf("client %d", m.Client)
	}
	return nodeName(m.Node)
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

// just is the set of one node, or none for 0 and [AllNodes].
func just(node int) env.NodeSet {
	if node < 1 {
		return 0
	}
	return env.SetOf(node)
}
