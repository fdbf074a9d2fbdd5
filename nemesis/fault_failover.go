package nemesis

import (
	"errors"
	"fmt"
)

// Failover kills the master of a node at the start; at the end the node's
// asynchronous replica takes its place, with the changes that had reached it
// when the master died. The setting has to give the nodes replicas.
type Failover struct {
	Node int `yaml:"node" want:"1.."`
}

// Kind is "failover".
func (*Failover) Kind() Kind { return "failover" }

func (*Failover) about() string {
	return "a node's master dies and, at the end, its asynchronous replica takes over"
}

func (f *Failover) String() string {
	return fmt.Sprintf("node %d fails over to its replica", f.Node)
}

func (f *Failover) validate(s Setting) error { return field("node", f.requires(s)) }

func (*Failover) requires(s Setting) error {
	if s.Replication == nil {
		return errors.New("no node has a replica: the setting has no replication")
	}
	return nil
}

func (f *Failover) claims(Setting) []string { return []string{server(f.Node)} }

// Effects implements [Action].
func (f *Failover) Effects(Setting) Effects {
	return Effects{Does: TakesDown | PromotesReplica, Away: just(f.Node), Outage: Outage{Node: f.Node, Loses: true}}
}

func (f *Failover) simpler(Setting) Action { return &Crash{Node: f.Node} }

func (*Failover) ending() ending { return ending{} }

func (*Failover) random(g *paramGenerator) Action { return &Failover{Node: g.node()} }
