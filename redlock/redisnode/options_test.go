package redisnode_test

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// An option out of range is one error with its name and value.
func TestOptionsOutOfRange(t *testing.T) {
	dial := new(net.Dialer).DialContext
	for _, c := range []struct {
		options redisnode.Options
		want    string
	}{
		{redisnode.Options{PoolSize: -1}, "PoolSize -1: want 0 (for 64) to 65535"},
		{redisnode.Options{PoolSize: math.MinInt}, "PoolSize -9223372036854775808: "},
		{redisnode.Options{PoolSize: math.MaxInt}, "PoolSize 9223372036854775807: "},
		{redisnode.Options{PoolSize: 65536}, "PoolSize 65536: "},
		{redisnode.Options{MaxInFlight: -1}, "MaxInFlight -1: want 0 (for 1) or more"},
		{redisnode.Options{Abreast: -1}, "Abreast -1: want 0 (for 1) or more"},
		{redisnode.Options{MaxInFlight: 2, Abreast: 2}, "MaxInFlight and Abreast, its deprecated name, are both set"},
		{redisnode.Options{DialTimeout: -1}, "DialTimeout -1ns: want 0 (for 1s) or more"},
		{redisnode.Options{DB: -1}, "DB -1: want 0 or more"},
		{redisnode.Options{Username: "locker"}, `Username "locker" without a Password`},
		{redisnode.Options{Dial: dial, TLS: new(tls.Config)}, "Dial and TLS: want one of them"},
	} {
		nodes, err := redisnode.New([]string{"127.0.0.1:1", "127.0.0.1:2"}, c.options)
		if err == nil {
			nodes.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "redisnode: "+c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// The ends of the ranges are in them.
func TestOptionsAtTheEdge(t *testing.T) {
	for _, o := range []redisnode.Options{
		{},
		{PoolSize: 1, MaxInFlight: 1},
		{PoolSize: 1, Abreast: 1},
		{PoolSize: 65535, MaxInFlight: math.MaxInt},
		{DialTimeout: 1},
		{DialTimeout: math.MaxInt64, DB: math.MaxInt, Password: "secret"},
		{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }},
	} {
		nodes, err := redisnode.New([]string{"127.0.0.1:1"}, o)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		if err := nodes.Close(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
