package runner

import (
	"bytes"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// participants is what the clients of a scenario are, in whatever world.
type participants struct {
	scenario scenarios.Scenario
	lock     lockKind
	config   config // of the lock
	roles    []role // of the clients
}

// newParticipants returns the cast of a scenario that is valid, on a backend, with the lock that find
// knows by the name which the scenario gives it.
func newParticipants(b Backend, s scenarios.Scenario, find func(name string) (lockKind, error)) (c participants, err error) {
	c.scenario = s
	if c.lock, err = find(s.Lock.Kind); err != nil {
		return c, &nemesis.FieldError{Path: "lock.kind", Err: err}
	}
	if c.roles, err = rolesOf(s); err != nil {
		return c, err
	}
	c.config, err = c.lock.configured(b, s)
	return c, err
}

// newUser puts a client into a place. equip is what else is done to its ports.
func (c participants) newUser(place Environment, client int, equip func(ports) ports) (*user, error) {
	r := &recorder{world: place, client: client, clock: c.scenario.Lock.ReadsClock()}
	p := r.counted(ports{
		client: client, runtime: place.Runtime(client), nodes: place.Nodes(client), store: place.Store(client), observer: r,
		dial: dialFunc(place, client), members: c.scenario.Nodes,
	})
	lock, err := c.lock.build(c.config, equip(p))
	if err != nil {
		return nil, err
	}
	return &user{
		role:     c.roles[client-1],
		runtime:  place.Runtime(client),
		register: place.Register(client),
		recorder: r,
		lock:     lock,
	}, nil
}

// ClientMain puts a client into a place, in a process that knows no more than the brief which
// [ProcessWorld] has given it, and returns what the client does there: the same as in the process
// of the world.
func ClientMain(place Environment, client int, brief []byte) (life func(), err error) {
	var c participants
	_, err = scenarios.Read(bytes.NewReader(brief), "", func(s scenarios.Scenario) error {
		c, err = newParticipants(Backend{Stores: true}, s, findLock) // what the backend has was asked before the run
		return err
	})
	if err != nil {
		return nil, err
	}
	u, err := c.newUser(place, client, func(p ports) ports { return p })
	if err != nil {
		return nil, err
	}
	return u.run, nil
}
