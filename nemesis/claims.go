package nemesis

import (
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// program names what a client runs as a target.
func program(client int) string { return fmt.Sprintf("the program of client %d", client) }

// machineOf names what a fault holds that stops a client's machine.
func machineOf(client int) []string {
	return []string{program(client), rate(Machine{Client: client})}
}

// rate names the rate of a machine's clocks as a target.
func rate(m Machine) string { return "the rate of the clocks of " + m.String() }

// server names a node's server as a target.
func server(node int) string { return fmt.Sprintf("the server of node %d", node) }

// connectivity of a link is a target: whether it is cut.
const connectivity = "the connectivity"

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

// nodes returns the nodes of the links.
func (l Links) nodes(s Setting) env.NodeSet { return env.SetOf(Each(l.Nodes, s.Nodes)...) }
