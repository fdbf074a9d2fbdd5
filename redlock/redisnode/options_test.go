package redisnode_test

import (
	"crypto/tls"
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
		{redisnode.Options{PoolSize: 65536}, "PoolSize 65536: "},
		{redisnode.Options{MaxInFlight: -1}, "MaxInFlight -1: want 0 (for 1) or more"},
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
