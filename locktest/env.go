package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
)

// Env is what one client has to build its lock on.
type Env struct {
	// Client is its number, from 1.
	Client int

	// Addrs are the addresses of the nodes, node 1's first: 233.252.0.1:6379 and so on.
	// They mean something to Dial alone.
	Addrs []string

	// TTL is [Config.TTL].
	TTL time.Duration

	station runner.ClientEnv
	cleanup *cleanup
	usage   *usage
}

// newEnv returns what a client has, with nodes of these addresses.
func newEnv(s runner.ClientEnv, ttl time.Duration, c *cleanup, u *usage) Env {
	return Env{Client: s.Client, Addrs: addrs(s.Nodes), TTL: ttl, station: s, cleanup: c, usage: u}
}

// addrs are the addresses of so many nodes: those of nodes in memory, on real servers, too,
// since who dials one of them without [Env.Dial] must not get through.
func addrs(nodes int) []string {
	list := make([]string, nodes)
	for i := range list {
		list[i] = memory.Addr(i + 1)
	}
	return list
}

// Dial connects the client to the node of an address. All connections of a lock have to
// come from it. Client libraries take it as it is, as Options.Dialer of go-redis or
// redis.DialContextFunc of redigo; rueidis wants it in a function of its own kind:
//
//	DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
//		return env.Dial(ctx, "tcp", addr)
//	}
func (e Env) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if e.station.Dial == nil {
		return nil, errForeign
	}
	known := addrs(e.station.Nodes) // whatever has become of Addrs
	node := slices.Index(known, addr) + 1
	if node == 0 {
		return nil, fmt.Errorf("locktest: no node has the address %q: there is %s", addr, strings.Join(known, ", "))
	}
	e.usage.dialled(e.Client, node)
	conn, err := e.station.Dial(ctx, node)
	if err != nil {
		time.Sleep(minDialFailure)
	}
	return conn, err
}

// errForeign is why an Env that was not made for a client is of no use.
var errForeign = errors.New("locktest: this Env is not one that Run has given to the function that makes the lock")

// minDialFailure is how long it takes at least until a connection is known not to come about: for
// who tries again and again without a pause virtual time would stand still.
const minDialFailure = 100 * time.Microsecond

// Cleanup has f called when the run is over, before the nodes are gone: the last that was
// given first. The client of a library, and whatever else has goroutines, is to be closed
// in it. Its error is no failure: after the end of a run connections are closed anyway.
func (e Env) Cleanup(f func() error) {
	if e.cleanup == nil {
		panic(errForeign)
	}
	e.cleanup.add(f)
}

// Must ends the run with an error, unless that is nil: for what goes wrong while a lock is
// built. It does not return then.
func (e Env) Must(err error) {
	if err != nil {
		panic(buildError{err})
	}
}

// buildError is what Must panics with.
type buildError struct{ error }

// cleanupTimeout is how long the cleanup functions of one client may take together.
const cleanupTimeout = 10 * time.Second

// cleanup is what is to be done behind a run.
type cleanup struct {
	mu    sync.Mutex
	funcs []func() error
}

func (c *cleanup) add(f func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.funcs = append(c.funcs, f)
}

// run calls the functions, the last first. One that does not return is an error.
func (c *cleanup) run(client int) error {
	c.mu.Lock()
	funcs := c.funcs
	c.funcs = nil
	c.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- undo(funcs) }()
	late := time.NewTimer(cleanupTimeout)
	defer late.Stop()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("client %d: %w", client, err)
		}
		return nil
	case <-late.C:
		return fmt.Errorf("client %d: what was given to Cleanup has not returned after %v", client, cleanupTimeout)
	}
}

// undo calls functions, the last first. What one of them panics with is an error.
func undo(funcs []func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("what was given to Cleanup panics: %v\n%s", p, debug.Stack())
		}
	}()
	for _, f := range slices.Backward(funcs) {
		_ = f()
	}
	return nil
}
