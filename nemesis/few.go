package nemesis

import (
	"fmt"
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

// FewKinds lists the kinds that [Few] knows.
func FewKinds() (names []Kind) {
	for _, a := range Actions() {
		if _, ok := a.(enumerable); ok {
			names = append(names, a.Kind())
		}
	}
	return names
}

// Few lists the faults of a kind that an exploration tries: on each target, with a few values. Those
// that last do so for scale, the TTL of the lock. Those with a start of zero can begin at any time. Each
// is also listed with its start at each step of a client; one that stops a client's program at the steps
// of that program, as a scheduler preempts it.
func Few(kind Kind, s Setting, scale time.Duration) ([]Fault, error) {
	for _, a := range Actions() {
		e, ok := a.(enumerable)
		if a.Kind() != kind || !ok {
			continue
		}
		all := e.few(fewParams{s, scale})
		for _, f := range slices.Clone(all) {
			all = append(all, f.atSteps(s)...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("%q: want one of the kinds %v", kind, FewKinds())
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
