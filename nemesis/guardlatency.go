package nemesis

import "fmt"

// GuardLatency adds to the time that clients' accesses take on the way to the
// guarded resource: a write that is delayed in the network, or in front of the
// store. It takes hold of no link to a node.
type GuardLatency struct {
	Clients []int        `yaml:"clients,flow,omitempty" want:"1.."` // numbers of clients. None: every client
	Add     Distribution `yaml:"add"`                               // how much longer
}

// Kind is "guard-latency".
func (*GuardLatency) Kind() Kind { return "guard-latency" }

func (l *GuardLatency) String() string {
	return fmt.Sprintf("accesses of %s reach the guarded resource %v later", who("client", l.Clients), l.Add)
}

func (l *GuardLatency) validate(s Setting) error {
	if err := someOf("client", l.Clients, s.Clients); err != nil {
		return field("clients", err)
	}
	return field("add", l.Add.Consistent())
}

func (l *GuardLatency) targets(s Setting) []string {
	var all []string
	for _, c := range Each(l.Clients, s.Clients) {
		all = append(all, fmt.Sprintf("the latency of client %d to the guarded resource", c))
	}
	return all
}

// Rule says what becomes of the accesses. It is that of no [Traffic], for they
// go over no link to a node.
func (l *GuardLatency) Rule(draw func() uint64) Rule { return slower(l.Add, draw) }

func (*GuardLatency) ending() ending { return ending{} }

func (*GuardLatency) random(d *dice) Action {
	return &GuardLatency{Clients: d.some(d.setting.Clients), Add: d.delay()}
}
