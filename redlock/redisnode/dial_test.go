//go:build linux

package redisnode_test

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Whoever dials for the nodes is told the address, and may connect to something else.
func TestNodesAreDialledByWhomever(t *testing.T) {
	const called = "somewhere:1"
	b := newBench(t, 1, redisnode.Options{})
	asked := make(chan string, 10)
	nodes, err := redisnode.New([]string{called}, redisnode.Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		asked <- network + " " + addr
		return new(net.Dialer).DialContext(ctx, network, b.fleet.Server(1).Addr())
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.Close()
	cmd := env.Command{Op: env.OpSet, Key: "k", Token: "a", TTL: time.Minute}
	reply, err := nodes.Send(1, cmd, env.System().Now(env.Monotonic).Add(patience)).Next(t.Context(), env.Never)
	if err != nil || reply.Answer != env.Yes {
		t.Errorf("%+v, %v", reply, err)
	}
	if got := <-asked; got != "tcp "+called {
		t.Errorf("asked for %s", got)
	}
}

func TestDialAndTLSAreRefused(t *testing.T) {
	dial := new(net.Dialer).DialContext
	for _, o := range []redisnode.Options{{Dial: dial, TLS: new(tls.Config)}, {Dial: dial, Certificates: new(redisnode.Certificates)}} {
		if _, err := redisnode.New([]string{"a:1"}, o); err == nil || !strings.Contains(err.Error(), "Dial and TLS") {
			t.Errorf("%v", err)
		}
	}
}
