package nemesis

import "fmt"

// GuardLatency adds to the time that clients' accesses take on the way to the
// guarded resource: a write is delayed in the network, or in front of the store. It
// affects no link to a node.
type GuardLatency struct {
	Clients []int        `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients. None: every client
	Add     Distribution `yaml:"add"`                               // how much longer
}

// Kind is "guard-latency".
func (*GuardLatency) Kind() Kind { return "guard-latency" }

func (*GuardLatency) about() string { return "accesses arrive at the guarded resource later" }

func (l *GuardLatency) String() string {
	return fmt.Sprintf("accesses of %s reach the guarded resource %v later", listed("client", l.Clients), l.Add)
}

func (l *GuardLatency) claims(s Setting) []string {
	var all []string
	for _, c := range Each(l.Clients, s.Clients) {
		all = append(all, fmt.Sprintf("the latency of client %d to the guarded resource", c))
	}
	return all
}

// Rule says what happens to the accesses. The action is no [Traffic], because
// accesses use no link to a node.
func (l *GuardLatency) Rule(draw func() uint64) Rule { return delayBy(l.Add, draw) }

// Effects implements [Action].
func (*GuardLatency) Effects(Setting) Effects { return Effects{Does: DelaysAccess | Draws} }

func (*GuardLatency) ending() ending { return ending{} }

func (*GuardLatency) random(g *paramGenerator) Action {
	return &GuardLatency{Clients: g.some(g.setting.Clients), Add: g.delay()}
}
