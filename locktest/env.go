package locktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Env is what one client builds its lock with.
type Env struct {
	// Client is the client's number, from 1.
	Client int

	// Addrs are the addresses of the nodes in order, 233.252.0.1:6379 and so on; in a store
	// with the port of its product. Only Dial can connect to them. In a store the first node
	// leads at the beginning.
	Addrs []string

	// TTL is [Config.TTL].
	TTL time.Duration

	store     Store
	runnerEnv runner.ClientEnv
	cleanup   *cleanup
	usage     *external.Usage
	log       io.Writer
}

// Now returns the time of day by the clock of the client's machine. It is for a lock that stores its
// time, or compares it with one that another client has stored: the clocks of clients do not agree, and
// faults step them. [Hold.Until] is by time.Now all the same, which no fault changes.
func (e Env) Now() time.Time {
	if e.runnerEnv.Wall == nil {
		panic(errForeign)
	}
	e.usage.ReadClock()
	return e.runnerEnv.Wall()
}

// Log returns where a client library should log that has a logger of its own, such as zap's or
// klog's. The lines are stored with a failed run, in the file client.log, up to 1 MiB. Each Write
// has to be whole lines. What is logged by go-redis, by the default logger of package log or by that
// of log/slog goes there without it.
func (e Env) Log() io.Writer {
	if e.log == nil {
		return io.Discard
	}
	return e.log
}

// Dial connects the client to the node at an address. All connections of a lock have to be
// made by it. Client libraries take it directly, as Options.Dialer of go-redis or
// redis.DialContextFunc of redigo; rueidis needs a wrapper:
//
//	DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
//		return env.Dial(ctx, "tcp", addr)
//	}
func (e Env) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if e.runnerEnv.Dial == nil {
		return nil, errForeign
	}
	known := e.store.addrs(e.runnerEnv.Nodes) // the caller may have changed Addrs
	node := slices.Index(known, addr) + 1
	if node == 0 {
		return nil, fmt.Errorf("locktest: no node has the address %q: want one of %s", addr, strings.Join(known, ", "))
	}
	e.usage.Dialled(e.Client, node)
	conn, err := e.runnerEnv.Dial(ctx, node)
	if err != nil {
		time.Sleep(minDialFailure)
	}
	return conn, err
}

// DialAddr is Dial for clients that name no network.
func (e Env) DialAddr(ctx context.Context, addr string) (net.Conn, error) {
	return e.Dial(ctx, "tcp", addr)
}

// DialWithin is Dial for clients that name a time limit, not a context.
func (e Env) DialWithin(network, addr string, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return e.Dial(ctx, network, addr)
}

// errForeign is the error of an Env that was not made by Run.
var errForeign = errors.New("locktest: this Env was not passed by Run to the function that makes the lock")

// minDialFailure is how long a failing Dial takes at least. A lock that retries without a
// pause would otherwise stop virtual time.
const minDialFailure = 100 * time.Microsecond

// Cleanup registers a function to call after the client's last round, or after the run if the client
// has died, the last one first. It should close the lock and the client of a library, and end all other
// goroutines: keys that the lock leaves behind are judged (L3). Functions of several clients may run at once.
// Its error is ignored, because connections are closed after a run anyway.
func (e Env) Cleanup(f func() error) {
	if e.cleanup == nil {
		panic(errForeign)
	}
	e.cleanup.add(f)
}

// Must ends the run with an error unless err is nil. It is for errors while a lock is
// built, and does not return then.
func (e Env) Must(err error) {
	if err != nil {
		panic(buildError{err})
	}
}

// buildError is what Must panics with.
type buildError struct{ error }

// cleanupTimeout bounds how long the cleanup functions of one client may take together.
const cleanupTimeout = 10 * time.Second

// cleanup holds functions to call after a run.
type cleanup struct {
	mu    sync.Mutex
	funcs []func() error
	begun bool
	over  chan struct{} // closed when they have returned
}

func (c *cleanup) add(f func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.funcs = append(c.funcs, f)
}

// run calls the functions, the last one first, or waits until those have returned that it has called before. Their
// errors are ignored.
func (c *cleanup) run(client int) error {
	c.mu.Lock()
	begun := c.begun
	c.begun = true
	c.mu.Unlock()
	err := callWithin(cleanupTimeout, "a function passed to Cleanup", func() error {
		if begun {
			<-c.over
			return nil
		}
		defer close(c.over)
		for _, f := range slices.Backward(c.funcs) {
			_ = f()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("client %d: %w", client, err)
	}
	return nil
}
