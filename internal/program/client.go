package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// readyTimeout bounds how long a program may take until it is ready.
const readyTimeout = 30 * time.Second

// client is the lock of one client in a program.
type client struct {
	*external.Adapter
	*process
	number   int
	capacity int // permits, if there are several
	patience time.Duration
	usage    *external.Usage
	runtime  env.Runtime
	world    *runner.ProcessEnv
	nodes    int

	ready chan FromProgram // the answer to hello
	tells bool             // it reports losses
	more  bool             // it can extend a hold
	clock bool             // it has shown that it reads the clock of until_ms
	begun float64          // before hello, ms
	left  chan struct{}    // closed when the run is over
	calls calls
	last  int64 // the number of the last hold
}

// open starts the program of a client and waits until it is ready.
func open(f *child.Forker, command []string, c external.Config, s runner.ClientEnv, seed uint64, u *external.Usage) (*client, error) {
	if s.Process == nil {
		return nil, errors.New("a program needs real servers, whose nodes have addresses")
	}
	k := &client{
		number: s.Client, capacity: c.Capacity, more: c.Extend > 0, patience: c.Patience, usage: u, runtime: s.Runtime, world: s.Process, nodes: s.Nodes,
		ready: make(chan FromProgram, 1), left: make(chan struct{}), begun: now(),
	}
	if k.capacity == 1 {
		k.capacity = 0 // holds are exclusive
	}
	k.Adapter = c.NewAdapter(s, u, locker{k})
	wall, err := openClock(s.Process.SetsClock)
	if err == nil {
		k.process, err = start(f, command, wall, k.receive)
	}
	if err != nil {
		wall.close()
		return nil, fmt.Errorf("client %d: %w", s.Client, err)
	}
	sent := now()
	k.tell(ToProgram{
		Type: Hello, Version: Version, Client: s.Client, Addresses: s.Process.Addrs, Seed: seed,
		TTLMS: milliseconds(c.TTL), Capacity: k.capacity, NowMS: sent,
	})
	err = k.awaitReady(sent)
	if err == nil {
		err = wall.loaded(k.cmd.Process.Pid)
	}
	if err != nil {
		k.Kill()
		wall.close()
		return nil, fmt.Errorf("client %d: %w", s.Client, err)
	}
	if wall != nil { // whether the program reads it, its library does not say
		u.ReadClock()
	}
	s.Process.Attach(k)
	go k.report()
	return k, nil
}

// report ends the run if the program ends by itself.
func (k *client) report() {
	<-k.gone
	if !k.ended.Load() {
		k.world.Fail(fmt.Errorf("client %d: %w", k.number, k.cause))
	}
}

// clockGrain is by how much the reading of a clock may be too early, because it is rounded down.
const clockGrain = 1 // ms

// awaitReady waits for the answer to hello, which was sent at that time.
func (k *client) awaitReady(sent float64) error {
	late := time.NewTimer(readyTimeout)
	defer late.Stop()
	select {
	case m := <-k.ready:
		if m.NowMS == nil {
			return nil
		}
		if read := now(); *m.NowMS < sent-clockGrain || *m.NowMS > read {
			return fmt.Errorf("%s: ready: now_ms is %.3f, and the monotonic clock of the machine showed from %.3f, when hello was written, to %.3f: want milliseconds of CLOCK_MONOTONIC", k.name(), *m.NowMS, sent, read)
		}
		return nil
	case <-k.gone:
		return k.cause
	case <-late.C:
		return fmt.Errorf("%s: not ready %v after hello: does the program flush its standard output after each line?%s", k.name(), readyTimeout, k.stderr.ending())
	}
}

// receive handles a line of the program.
func (k *client) receive(m FromProgram) error {
	if err := k.checkUntil(m.UntilMS); err != nil {
		return err
	}
	switch m.Type {
	case Ready:
		switch {
		case m.Version != Version:
			return fmt.Errorf("version %d: want %d", m.Version, Version)
		case k.calls.greeted:
			return errors.New("nothing was asked that ready answers")
		}
		k.calls.greeted, k.tells, k.clock = true, m.TellsLost, m.NowMS != nil
		k.more = k.more || m.Extends
		k.ready <- m
		return nil
	case Lost:
		if !k.tells {
			return errors.New(`lost needs a ready with "tells_lost": true`)
		}
		return k.calls.lost(m)
	}
	return k.calls.answer(m)
}

// checkUntil returns an error if the end of a validity cannot be on the clock of now_ms, or not in milliseconds: it is
// no defect of the lock.
func (k *client) checkUntil(ms *float64) error {
	switch {
	case ms == nil:
		return nil
	case !k.clock:
		return errors.New("until_ms needs a ready with now_ms, which shows that both read the same clock")
	case *ms < k.begun || *ms > now()+milliseconds(external.MaxTime):
		return fmt.Errorf("until_ms is %.3f, and the program began at %.3f: want milliseconds of the clock of now_ms, CLOCK_MONOTONIC", *ms, k.begun)
	}
	return nil
}

// tell sends a message to the program.
func (k *client) tell(m ToProgram) { k.send(line(m)) }

// line returns a message as a line.
func line(m ToProgram) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // of a value that we have made
	}
	return append(text, '\n')
}

// Leave implements [runner.ClientProcess].
func (k *client) Leave() { close(k.left) }

// Close ends the program.
func (k *client) Close() error {
	k.End()
	for node := range k.nodes {
		if k.world.Dialled(node + 1) {
			k.usage.Dialled(k.number, node+1)
		}
	}
	k.close(line(ToProgram{Type: Quit}))
	k.wall.close()
	k.Wait()
	return nil
}

// now reads the machine's monotonic clock in milliseconds.
func now() float64 { return float64(env.System().Now(env.Monotonic)) / 1e6 }

// milliseconds returns a duration in milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

// instant returns the time that a program has named; nil: the zero value.
func instant(ms *float64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.Now().Add(time.Duration((*ms - now()) * 1e6))
}

// locker is the lock as the adapter calls it.
type locker struct{ *client }

// Lock implements [external.Locker].
func (k locker) Lock(ctx context.Context, resource string) (external.Hold, error) {
	k.last++
	id := k.last
	lost := k.calls.begin(id)
	weight := 0
	if k.capacity > 1 {
		weight = cmp.Or(external.Weight(ctx), k.capacity)
	}
	m, err := k.call(ctx, ToProgram{Type: Acquire, ID: id, Resource: resource, Weight: weight})
	if err != nil {
		return external.Hold{}, err
	}
	if took := cmp.Or(m.Weight, max(k.capacity, 1)); took > max(weight, 1) {
		k.world.Fail(fmt.Errorf("client %d: %s: granted: it takes %d permits: want at most the weight of the acquire, %d", k.number, k.name(), took, max(weight, 1)))
	}
	h := external.Hold{
		Until: instant(m.UntilMS), Fence: m.Fence, Weight: m.Weight,
		Release: func(ctx context.Context) error { return k.release(ctx, id) },
	}
	if k.more {
		h.Extend = func(ctx context.Context) (time.Time, error) { return k.extend(ctx, id) }
	}
	if k.tells {
		h.Lost = lost
	}
	return h, nil
}

func (k locker) extend(ctx context.Context, id int64) (time.Time, error) {
	m, err := k.call(ctx, ToProgram{Type: Extend, ID: id})
	return instant(m.UntilMS), err
}

func (k locker) release(ctx context.Context, id int64) error {
	_, err := k.call(ctx, ToProgram{Type: Release, ID: id})
	return err
}

// call makes a call and waits for the answer, also after ctx has ended: until the answer nobody knows
// how the call ends.
func (k locker) call(ctx context.Context, m ToProgram) (FromProgram, error) {
	m.TimeoutMS = milliseconds(k.patience)
	answered := k.calls.add(m)
	k.tell(m)
	cancelled := ctx.Done()
	for {
		select {
		case a := <-answered:
			k.runtime.Now(env.Monotonic) // a client that is paused gets the answer when it continues
			return a, errorOf(a)
		case <-cancelled:
			k.tell(ToProgram{Type: Cancel, ID: m.ID})
			cancelled = nil
		case <-k.gone:
			return FromProgram{}, errors.New("the program has ended")
		case <-k.left:
			return FromProgram{}, errors.New("the run is over")
		}
	}
}

// errorOf returns what an answer means.
func errorOf(m FromProgram) error {
	switch m.Type {
	case NotHeld:
		return fmt.Errorf("%w: %s", external.ErrNotHeld, m.reason())
	case Refused, Failed:
		return errors.New(m.reason())
	}
	return nil
}

func (m FromProgram) reason() string {
	if m.Error == "" {
		return string(m.Type)
	}
	return m.Error
}
