package nemesis

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// fewParams say for which setting, and at which scale, the few faults of a kind are listed.
type fewParams struct {
	setting Setting
	scale   time.Duration
}

// enumerable is a kind of fault of which a few stand for all: one on each target, with few values.
type enumerable interface {
	Action
	// few lists them, without their starts.
	few(p fewParams) []Fault
}

// atSteps lists the fault at each step of each client, or of the client whose program it stops.
func (f Fault) atSteps(s Setting) (all []Fault) {
	clients := Each(nil, s.Clients)
	if own := f.client(); own != 0 {
		clients = []int{own}
	}
	for _, client := range clients {
		for _, step := range env.Steps() {
			f.Start = When(client, step, 0)
			all = append(all, f)
		}
	}
	return all
}

// client returns the client whose program the fault stops or ends; 0: none.
func (f Fault) client() int {
	if e := f.Action.Effects(Setting{}); e.Does.Any(StopsClient | EndsClient) {
		return e.Client
	}
	return 0
}

// OfOneClient reports whether the fault has an effect on one client alone, and begins and ends at steps
// of that client, or at times.
func (f Fault) OfOneClient() bool {
	client := f.client()
	own := func(m *Trigger) bool { return m == nil || m.Client == 0 || m.Client == client && m.Plus == 0 }
	return client != 0 && own(&f.Start) && own(f.End)
}

func (p fewParams) eachNode(fault func(node int) []Fault) (all []Fault) {
	for node := 1; node <= p.setting.Nodes; node++ {
		all = append(all, fault(node)...)
	}
	return all
}

func (p fewParams) eachClient(fault func(client int) []Fault) (all []Fault) {
	for client := 1; client <= p.setting.Clients; client++ {
		all = append(all, fault(client)...)
	}
	return all
}

func (p fewParams) eachMachine(fault func(m Machine) []Fault) []Fault {
	return slices.Concat(
		p.eachNode(func(node int) []Fault { return fault(Machine{Node: node}) }),
		p.eachClient(func(client int) []Fault { return fault(Machine{Client: client}) }))
}
