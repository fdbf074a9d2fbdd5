package nemesis

import "fmt"

// Evict makes a node evict keys at once, as a server that is short of memory does.
// The eviction policy says which keys it may evict. All keys of locks have a time to
// live; the counters of fences and the notes of a quarantine have none, so only
// allkeys evicts them. A server that is down evicts nothing.
//
// A real server chooses itself which keys it evicts. If the fault names one, an
// operator deletes it instead: a lock cannot tell the two apart.
type Evict struct {
	Node     int            `yaml:"node" want:"1.."`
	Policy   EvictionPolicy `yaml:"policy,omitempty" want:"volatile|allkeys"` // which keys may go: volatile or allkeys. Nothing means volatile
	Resource string         `yaml:"resource,omitempty"`                       // only the key of the lock of this resource goes. Nothing: all keys that may
}

// EvictionPolicy is what a server may evict: the first half of a maxmemory-policy of Redis.
type EvictionPolicy string

// The policies.
const (
	Volatile EvictionPolicy = "volatile" // keys that have a time to live
	AllKeys  EvictionPolicy = "allkeys"  // whatever it has
)

// Kind is "evict".
func (*Evict) Kind() Kind { return "evict" }

func (e *Evict) String() string {
	switch {
	case e.Resource != "":
		return fmt.Sprintf("node %d evicts the key of %s", e.Node, e.Resource)
	case e.Policy == AllKeys:
		return fmt.Sprintf("node %d evicts all that it has", e.Node)
	}
	return fmt.Sprintf("node %d evicts its keys", e.Node)
}

// OneKeyFeature is the feature of evictions that take one key alone.
const OneKeyFeature Feature = "evict: one key"

func (e *Evict) features() []Feature {
	if e.Resource != "" {
		return []Feature{OneKeyFeature}
	}
	return nil
}

func (e *Evict) claims(Setting) []string {
	return []string{fmt.Sprintf("the memory of node %d", e.Node)}
}

func (*Evict) ending() ending { return ending{forbidden: "keys that are evicted do not come back"} }

// A setting does not name its resources, so none is drawn.
func (*Evict) random(g *paramGenerator) Action {
	e := &Evict{Node: g.node()}
	if g.chance(30) {
		e.Policy = AllKeys
	}
	return e
}

// ScriptFlush makes a node forget its scripts, as SCRIPT FLUSH or a restart does.
// The next compare-and-delete and the next compare-and-extend each take one more
// round trip, which loads the script again.
type ScriptFlush struct {
	Node int `yaml:"node" want:"1.."`
}

// Kind is "script-flush".
func (*ScriptFlush) Kind() Kind { return "script-flush" }

func (f *ScriptFlush) String() string { return fmt.Sprintf("node %d forgets its scripts", f.Node) }

func (f *ScriptFlush) claims(Setting) []string {
	return []string{fmt.Sprintf("the scripts of node %d", f.Node)}
}

func (*ScriptFlush) ending() ending {
	return ending{forbidden: "scripts are loaded again when they are used next"}
}

func (*ScriptFlush) random(g *paramGenerator) Action { return &ScriptFlush{Node: g.node()} }

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

func (*NodeError) ending() ending { return ending{} }

func (*NodeError) random(g *paramGenerator) Action {
	return &NodeError{Nodes: g.nodes(), Error: [...]ErrorName{Loading, OOM, ReadOnly}[g.below(3)]}
}
