package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The locks of this file exist only for tests: one that cannot fail, and some that must, each of
// them a Redlock with one change. They show that a verdict follows from its cause.

const inTestsOnly = "in tests only"

func init() {
	kind := func(name string) lockKind {
		sound := redlockKind(name, inTestsOnly, "", nil)
		return lockKind{name: name, what: inTestsOnly, fields: sound.fields, quorum: sound.quorum}
	}
	over := func(name string, nodes func(ports) env.Nodes) lockKind {
		return withBuilder(kind(name), redlockConfig, redlockOver(nodes))
	}
	lockKinds = append(lockKinds,
		withBuilder(kind("oracle"), func(l scenarios.Lock) oracleConfig { return oracleConfig(l.TTL) }, newOracle),
		withBuilder(kind("careless"), carelessConfig, redlockOver(func(p ports) env.Nodes { return careless{p.nodes} })),
		withBuilder(kind("grudging"), grudgingConfig, redlockOver(func(p ports) env.Nodes { return grudging{p.nodes} })),
		over("fragile", func(p ports) env.Nodes { return fragile{p.nodes} }),
		over("littering", func(p ports) env.Nodes { return littering{p.nodes, 1} }),
		over("hoarding", func(p ports) env.Nodes { return littering{p.nodes, 1000} }),
		over("usurping", func(p ports) env.Nodes { return usurping{littering{p.nodes, 1000}} }),
		over("dawdling", func(p ports) env.Nodes { return dawdling{p.nodes, p.runtime} }),
		over("lying", func(p ports) env.Nodes { return lying{p.nodes} }),
		withBuilder(kind("dreaming"), redlockConfig, newDreaming),
		withBuilder(kind("hasty"), redlockConfig, newHasty),
		withBuilder(kind("haggling"), redlockConfig, newHaggling),
		withBuilder(kind("redating"), redlockConfig, newRedating),
	)
	fenceSources["constant"] = func(rivals.Fences) redlock.FenceSource {
		return func(context.Context, string, env.Instant) (uint64, error) { return math.MaxInt32, nil }
	}
}

// Fitted returns a lock of another kind, without the parameters that this one has no
// use for.
func Fitted(l scenarios.Lock, kind string) scenarios.Lock {
	l.Kind = kind
	k, err := findLock(kind)
	if err != nil {
		panic(err)
	}
	v := reflect.ValueOf(&l).Elem()
	for field := k.unusedField(l); field != ""; field = k.unusedField(l) {
		for i := range v.NumField() {
			if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); name == field {
				v.Field(i).SetZero()
			}
		}
	}
	return l
}

// Draw returns what an experiment's generator draws.
func Draw(e Experiment, seed uint64) nemesis.Plan { return e.draw(seed) }

// WithOracle returns the backend with worlds in which the lock "oracle" can be
// built: what its clients share is no part of the world, so that no fault can
// reach it.
func WithOracle(b Backend) Backend {
	open := b.Open
	b.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (World, error) {
		w, err := open(ctx, s, seed, sink)
		return oracleWorld{w, map[string]string{}}, err
	}
	return b
}

type oracleWorld struct {
	World
	holders map[string]string // by resource: the token that holds it
}

func (w oracleWorld) Runtime(client int) env.Runtime {
	return oracle{w.World.Runtime(client), w.holders}
}

type oracle struct {
	env.Runtime
	holders map[string]string
}

// oracleLock is a lock without a lease, which excludes whatever happens: who holds
// it holds it until the release.
type oracleLock struct {
	ports
	oracle
	ttl time.Duration // that it tells of
}

// oracleConfig is the TTL that the oracle reports.
type oracleConfig time.Duration

func (oracleConfig) Validate() error { return nil }

func newOracle(c oracleConfig, p ports) (Lock, error) {
	shared, ok := p.runtime.(oracle)
	if !ok {
		return nil, errors.New("there is no oracle in this world: see WithOracle")
	}
	return oracleLock{p, shared, time.Duration(c)}, nil
}

func (o oracleLock) Lock(ctx context.Context, resource string) (Hold, error) {
	var random [8]byte
	o.Random(random[:])
	e := env.Event{Step: env.StepAcquire, Resource: resource, Token: fmt.Sprintf("%x", random), TTL: o.ttl}
	o.observer.Observe(e)
	for o.holders[resource] != "" {
		if err := o.Sleep(ctx, o.Now(env.Monotonic).Add(time.Millisecond)); err != nil {
			e.Step, e.Err = env.StepRefused, err
			o.observer.Observe(e)
			return nil, err
		}
	}
	o.holders[resource] = e.Token
	e.Step, e.Until = env.StepGranted, env.Never
	o.observer.Observe(e)
	return oracleHold{o, e}, nil
}

type oracleHold struct {
	lock    oracleLock
	granted env.Event
}

func (h oracleHold) Resource() string         { return h.granted.Resource }
func (h oracleHold) Token() string            { return h.granted.Token }
func (h oracleHold) Context() context.Context { return context.Background() }
func (h oracleHold) Check() error             { return nil }
func (h oracleHold) Fence() uint64            { return 0 }

func (h oracleHold) Extend(context.Context, time.Duration) error {
	return errors.New("there is nothing to extend")
}

func (h oracleHold) Release(context.Context) error {
	e := env.Event{Step: env.StepBeforeRelease, Resource: h.granted.Resource, Token: h.granted.Token}
	h.lock.observer.Observe(e)
	delete(h.lock.holders, e.Resource)
	e.Step, e.Answer = env.StepReleased, env.Lost // it deletes no keys
	h.lock.observer.Observe(e)
	return nil
}

// redlockOver builds a Redlock on nodes that are not as they should be.
func redlockOver(nodes func(ports) env.Nodes) func(redlockSetup, ports) (Lock, error) {
	return func(c redlockSetup, p ports) (Lock, error) {
		p.nodes = nodes(p)
		return newRedlock(c, p)
	}
}

// carelessConfig is that of a Redlock to which every answer is a yes, whatever the node has
// forgotten, no time is too long, and every fence is the same.
func carelessConfig(l scenarios.Lock) redlockSetup {
	l.Fence, l.TTL, l.Quarantine = "constant", l.TTL*1000, 0
	return redlockConfig(l)
}

type careless struct{ env.Nodes }

func (n careless) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	return answering{n.Nodes.Send(to, c, giveUp), func(r *env.Reply) {
		if r.Answer == env.No && (c.Op == env.OpSet || c.Op == env.OpExtend) {
			r.Answer = env.Yes
		}
	}}
}

// grudgingConfig is that of a Redlock that never grants anything, and is in no hurry
// to try again.
func grudgingConfig(l scenarios.Lock) redlockSetup {
	l.Retry = nemesis.Range{Min: 20 * time.Millisecond, Max: 80 * time.Millisecond}
	return redlockConfig(l)
}

type grudging struct{ env.Nodes }

func (n grudging) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	return answering{n.Nodes.Send(to, c, giveUp), func(r *env.Reply) {
		if r.Answer == env.Yes && c.Op == env.OpSet {
			r.Answer = env.No
		}
	}}
}

// usurping makes a littering lock that clears the place for its key.
type usurping struct{ littering }

func (n usurping) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	if c.Op == env.OpSet {
		n.Nodes.Send(to, env.Command{Op: env.OpRemove, Key: c.Key}, giveUp)
	}
	return n.littering.Send(to, c, giveUp)
}

// dawdling makes a lock that takes its time to try.
type dawdling struct {
	env.Nodes
	runtime env.Runtime
}

func (n dawdling) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	if c.Op == env.OpSet {
		_ = n.runtime.Sleep(context.Background(), n.runtime.Now(env.Monotonic).Add(5*time.Second))
	}
	return n.Nodes.Send(to, c, giveUp)
}

// lying makes a lock that says of a release the contrary of what it has done.
type lying struct{ env.Nodes }

func (n lying) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	return answering{n.Nodes.Send(to, c, giveUp), func(r *env.Reply) {
		if c.Op != env.OpDelete {
			return
		}
		switch r.Answer {
		case env.Yes:
			r.Answer = env.No
		case env.No:
			r.Answer = env.Yes
		}
	}}
}

// newHaggling returns a lock whose extensions ask for half a second less than the hold has,
// and are never granted.
func newHaggling(c redlockSetup, p ports) (Lock, error) {
	h := &haggling{ports: p}
	p.observer = h
	lock, err := newRedlock(c, p)
	h.lock = lock
	return h, err
}

type haggling struct {
	ports
	lock  Lock
	until env.Instant
}

func (h *haggling) Observe(e env.Event) {
	if e.Step == env.StepGranted {
		h.until = e.Until
	}
	h.observer.Observe(e)
}

func (h *haggling) Lock(ctx context.Context, resource string) (Hold, error) {
	hold, err := h.lock.Lock(ctx, resource)
	return hagglingHold{hold, h}, err
}

type hagglingHold struct {
	Hold
	lock *haggling
}

func (h hagglingHold) Extend(_ context.Context, ttl time.Duration) error {
	e := env.Event{Step: env.StepExtend, Resource: h.Resource(), Token: h.Token(), TTL: ttl, Until: h.lock.until.Add(-500 * time.Millisecond)}
	h.lock.observer.Observe(e)
	e.Step, e.Err = env.StepExtendFailed, errors.New("no majority")
	h.lock.observer.Observe(e)
	return e.Err
}

// newRedating returns a Redlock that reports, at the grant, an earlier end of validity than before
// it sent requests.
func newRedating(c redlockSetup, p ports) (Lock, error) {
	p.observer = redating{p.observer}
	return newRedlock(c, p)
}

type redating struct{ observer env.Observer }

func (r redating) Observe(e env.Event) {
	if e.Step == env.StepGranted {
		e.Until = e.Until.Add(-100 * time.Millisecond)
	}
	r.observer.Observe(e)
}

// answering is a round whose replies are changed before the lock sees them.
type answering struct {
	env.Round
	change func(*env.Reply)
}

func (a answering) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	r, err := a.Round.Next(ctx, until)
	if err == nil {
		a.change(&r)
	}
	return r, err
}

// littering makes a lock that never deletes its keys, and gives them so many times
// the TTL.
type littering struct {
	env.Nodes
	times time.Duration
}

func (n littering) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	switch c.Op {
	case env.OpSet:
		c.TTL *= n.times
	case env.OpDelete:
		c.Token = "nobody's" // so that nothing matches it
	}
	return n.Nodes.Send(to, c, giveUp)
}

// fragile makes a lock that needs every node, and not a majority.
type fragile struct{ env.Nodes }

func (n fragile) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	round := n.Nodes.Send(to, c, giveUp)
	if c.Op == env.OpSet {
		return &unanimous{Round: round, waiting: n.Len()}
	}
	return round
}

// unanimous receives all replies before it passes any on, and turns each into a no if one of them
// is lost or failed.
type unanimous struct {
	env.Round
	waiting int
	heard   []env.Reply
	doubt   bool
}

func (u *unanimous) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	for u.waiting > 0 {
		r, err := u.Round.Next(ctx, until)
		if err != nil {
			return r, err
		}
		u.waiting--
		u.heard = append(u.heard, r)
		u.doubt = u.doubt || r.Answer != env.Yes && r.Answer != env.No
	}
	if len(u.heard) == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	r := u.heard[0]
	u.heard = u.heard[1:]
	if u.doubt {
		r.Answer = env.No
	}
	return r, nil
}

// WorldError returns the error of a world.
func WorldError(err error) error { return &worldError{err} }
