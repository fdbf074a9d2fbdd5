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
	Node     int            `yaml:"node" want:"1.. or all"`
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

func (*Evict) about() string { return "a node evicts keys: one, those with a TTL, or all" }

func (e *Evict) String() string {
	switch {
	case e.Resource != "":
		return fmt.Sprintf("%s evicts the key of %s", nodeName(e.Node), e.Resource)
	case e.Policy == AllKeys:
		return fmt.Sprintf("%s evicts all that it has", nodeName(e.Node))
	}
	return fmt.Sprintf("%s evicts its keys", nodeName(e.Node))
}

// OneKeyFeature is the feature of evictions that take one key alone.
const OneKeyFeature Feature = "evict: one key"

func (e *Evict) features() []Feature {
	if e.Resource != "" {
		return []Feature{OneKeyFeature}
	}
	return nil
}

func (e *Evict) node() *int { return &e.Node }

func (e *Evict) claims(Setting) []string {
	return []string{fmt.Sprintf("the memory of node %d", e.Node)}
}

// Effects implements [Action].
func (*Evict) Effects(Setting) Effects { return Effects{Does: Evicts} }

func (e *Evict) simpler(Setting) Action {
	if usual := (Evict{Node: e.Node}); *e != usual {
		return &usual
	}
	return nil
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

// few implements enumerable.
func (*Evict) few(p fewParams) []Fault {
	return p.eachNode(func(node int) []Fault { return []Fault{{Action: &Evict{Node: node}}} })
}
