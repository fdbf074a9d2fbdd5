package runner

import (
	"bytes"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// participants is the lock and the clients of a scenario, in any world.
type participants struct {
	scenario scenarios.Scenario
	lock     lockKind
	config   config // of the lock
	roles    []role // of the clients
}

// newParticipants returns the participants of a valid scenario. find returns the lock kind
// of a name.
func newParticipants(s scenarios.Scenario, find func(name string) (lockKind, error)) (c participants, err error) {
	c.scenario = s
	if c.lock, err = find(s.Lock.Kind); err != nil {
		return c, &nemesis.FieldError{Path: "lock.kind", Err: err}
	}
	if c.roles, err = rolesOf(s, c.lock); err != nil {
		return c, err
	}
	c.config, err = c.lock.configured(s)
	return c, err
}

// newUser creates a client in an environment. The watcher may be nil; rounds counts those of all clients.
func (c participants) newUser(world Environment, client int, w Watcher, rounds *atomic.Int64) (*user, error) {
	r := &recorder{world: world, client: client, clock: c.scenario.Lock.ReadsClock()}
	p := traffic{client, &r.sent, w, rounds}.observed(ports{
		client: client, runtime: world.Runtime(client), nodes: world.Nodes(client), store: world.Store(client), observer: r,
		dial: dialFunc(world, c.lock.connectedAs(client)), wall: wallFunc(world, c.lock.connectedAs(client)), process: processEnv(world, client), members: c.scenario.Nodes,
	})
	lock, err := c.lock.build(c.config, p)
	if err != nil {
		return nil, err
	}
	return &user{
		role:     c.roles[client-1],
		runtime:  world.Runtime(client),
		register: world.Register(client),
		recorder: r,
		lock:     lock,
		external: c.lock.external,
	}, nil
}

// ClientMain creates a client in an environment, in a process that knows only the brief
// from [ProcessWorld.RunProcesses], and returns the client's program. It does the same as
// the program in the process of the world.
func ClientMain(world Environment, client int, brief []byte) (life func(), err error) {
	var c participants
	_, err = scenarios.Read(bytes.NewReader(brief), "", func(s scenarios.Scenario) error {
		c, err = newParticipants(s, findLock)
		return err
	})
	if err != nil {
		return nil, err
	}
	u, err := c.newUser(world, client, nil, nil)
	if err != nil {
		return nil, err
	}
	return u.run, nil
}
