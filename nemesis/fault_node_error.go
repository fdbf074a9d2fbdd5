package nemesis

import (
	"fmt"

	"github.com/lockstorm/lockstorm/env"
)

// NodeError makes nodes answer commands with an error instead of processing them.
type NodeError struct {
	Nodes []int     `yaml:"nodes,flow,omitempty" want:"1.."` // numbers of nodes. None: every node
	Error ErrorName `yaml:"error" want:"loading|oom|readonly"`
}

// ErrorName is an error of Redis.
type ErrorName string

// The errors, and which commands of a lock they affect in Redis 7.0.
const (
	Loading  ErrorName = "loading"  // every command
	OOM      ErrorName = "oom"      // SET, whether or not the key is there; deleting and extending need no memory
	ReadOnly ErrorName = "readonly" // SET, and of deletes and extensions those that would change a key
)

// Kind is "node-error".
func (*NodeError) Kind() Kind { return "node-error" }

func (*NodeError) about() string { return "nodes answer with an error: LOADING, OOM or READONLY" }

func (e *NodeError) String() string {
	verb := "answers"
	if len(e.Nodes) > 1 {
		verb = "answer"
	}
	return fmt.Sprintf("%s %s with the error %s", listed("node", e.Nodes), verb, e.Error)
}

// LoadingFeature is the feature of nodes that answer as if they were loading their data.
const LoadingFeature Feature = "error: loading"

func (e *NodeError) features() []Feature {
	if e.Error == Loading {
		return []Feature{LoadingFeature}
	}
	return nil
}

func (e *NodeError) claims(s Setting) []string {
	var all []string
	for _, n := range Each(e.Nodes, s.Nodes) {
		all = append(all, fmt.Sprintf("the answers of node %d", n))
	}
	return all
}

// Effects implements [Action].
func (e *NodeError) Effects(s Setting) Effects {
	return Effects{Does: ReturnsErrors, Away: env.SetOf(Each(e.Nodes, s.Nodes)...)}
}

func (*NodeError) ending() ending { return ending{} }

func (*NodeError) random(g *paramGenerator) Action {
	return &NodeError{Nodes: g.nodes(), Error: [...]ErrorName{Loading, OOM, ReadOnly}[g.below(3)]}
}
