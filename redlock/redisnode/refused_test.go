//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// counting counts the connections that are made to each address.
type counting struct {
	mu    sync.Mutex
	dials map[string]int
}

func (c *counting) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.mu.Lock()
	if c.dials == nil {
		c.dials = make(map[string]int)
	}
	c.dials[addr]++
	c.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, addr)
}

func (c *counting) of(addr string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dials[addr]
}

const tooMany = "-ERR max number of clients reached\r\n"

// A try that fails because servers refuse connections costs each of them one connection: there
// is nothing to delete where nothing was sent. Its error has the servers' words.
func TestRefusedTryCostsOneConnection(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	var connections counting
	refusing := []string{turnAway(tooMany)(b, 1), turnAway(tooMany)(b, 2)}
	nodes := b.connect(append(refusing, b.fleet.Server(1).Addr()), redisnode.Options{Dial: connections.dial})
	m, err := redlock.New(redlock.Config{TTL: time.Hour, NodeTimeout: patience, Linger: patience}, env.System(), nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.TryLock(t.Context(), "key")
	if !errors.Is(err, redlock.ErrNoQuorum) || strings.Count(err.Error(), "max number of clients reached") != len(refusing) {
		t.Errorf("%v, want the reason of each node", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	if err := m.Close(ctx); err != nil { // waits for the clean-up
		t.Error(err)
	}
	for _, addr := range refusing {
		if got := connections.of(addr); got != 1 {
			t.Errorf("%d connections to a node that refuses them, want 1", got)
		}
	}
	b.holds("key", "")
}

// What a server says when it refuses a connection is an error of Redis, for whoever asks.
func TestRefusalIsAnErrorOfRedis(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	nodes := b.connect([]string{turnAway(tooMany)(b, 1)}, redisnode.Options{})
	reply, err := nodes.Send(1, set("a", time.Hour), in(patience)).Next(t.Context(), env.Never)
	if refused := redis.Error(nil); err != nil || reply.Answer != env.Failed || !errors.As(reply.Err, &refused) {
		t.Errorf("%+v, %v", reply, err)
	}
}

// Requests that wait while the only connection is being made fail with it: each batch of them
// would make the same attempt again.
func TestRequestsThatWaitForARefusedConnectionFailWithIt(t *testing.T) {
	const requests = 20
	reason := errors.New("not today")
	dialling, refuse := make(chan struct{}, requests), make(chan struct{})
	b := newBench(t, 1, redisnode.Options{})
	nodes := b.connect([]string{"somewhere:1"}, redisnode.Options{PoolSize: 1, Dial: func(context.Context, string, string) (net.Conn, error) {
		dialling <- struct{}{}
		<-refuse
		return nil, reason
	}})
	var rounds []env.Round
	for range requests {
		rounds = append(rounds, nodes.Send(1, set("a", time.Hour), env.Never))
		if len(rounds) == 1 {
			<-dialling
		}
	}
	close(refuse)
	for _, r := range rounds {
		if reply, err := r.Next(t.Context(), in(patience)); err != nil || reply.Answer != env.Failed || !errors.Is(reply.Err, reason) {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if len(dialling) != 0 {
		t.Errorf("%d more connections were attempted", len(dialling))
	}
}

// A server that has room again is used at once.
func TestServerThatRefusedIsUsedAsSoonAsItCan(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	fill(b, 1)
	for range 6 {
		b.want(set("a", time.Hour), env.Failed)
	}
	b.do(1, "CONFIG", "SET", "maxclients", "100")
	b.want(set("a", time.Hour), env.Yes)
}

// A server that closes idle connections costs no request.
func TestIdleConnectionsThatTheServerCloses(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	b.want(set("a", time.Hour), env.Yes)
	b.do(1, "CONFIG", "SET", "timeout", "1")
	for end := time.Now().Add(patience); strings.Count(b.do(1, "CLIENT", "LIST").(string), "\n") > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the idle connection stays")
		}
	}
	b.want(set("b", time.Hour), env.No)
	b.want(del("a"), env.Yes)
}
