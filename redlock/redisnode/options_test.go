package redisnode_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/testkit"
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
		{redisnode.Options{DefaultTTL: 500 * time.Microsecond}, "DefaultTTL 500µs: "},
		{redisnode.Options{DefaultTTL: -time.Second}, "DefaultTTL -1s: "},
		{redisnode.Options{DB: -1}, "DB -1: want 0 or more"},
		{redisnode.Options{Username: "locker"}, `Username "locker" without a Password`},
		{redisnode.Options{ServerNames: []string{"a"}}, "ServerNames: 1 names for 2 nodes"},
		{redisnode.Options{ServerNames: []string{}}, "ServerNames: 0 names for 2 nodes"},
		{redisnode.Options{Dial: dial, TLS: new(tls.Config)}, "Dial and TLS: want one of them"},
		{redisnode.Options{Dial: dial, Certificates: new(redisnode.Certificates)}, "Dial and TLS: want one of them"},
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
		{DialTimeout: 1, DefaultTTL: time.Millisecond},
		{DialTimeout: math.MaxInt64, DB: math.MaxInt, Password: "secret"},
		{ServerNames: []string{"a"}, TLS: new(tls.Config)},
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

// Options passed to another process use TLS with the same certificates.
func TestCertificatesCanBeTold(t *testing.T) {
	authority := testkit.NewAuthority(t)
	read := func(name string) []byte {
		text, err := os.ReadFile(authority.File(name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	given := redisnode.Options{Certificates: &redisnode.Certificates{Authorities: read("ca.pem"), Certificate: read("node.pem"), Key: read("node.key")}}
	told, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	var heard redisnode.Options
	if err := json.Unmarshal(told, &heard); err != nil {
		t.Fatal(err)
	}
	if heard, err = heard.Resolved(); err != nil {
		t.Fatal(err)
	}
	if !heard.TLS.RootCAs.Equal(authority.Pool) || len(heard.TLS.Certificates) != 1 {
		t.Errorf("heard %+v", heard.TLS)
	}
}

func TestBadCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		given redisnode.Certificates
		none  bool
	}{
		"no authority":            {redisnode.Certificates{Authorities: []byte("nothing")}, true},
		"a certificate, no key":   {redisnode.Certificates{Certificate: []byte("nothing")}, false},
		"a key, and nothing else": {redisnode.Certificates{Key: []byte("nothing")}, false},
	} {
		_, err := redisnode.New([]string{"127.0.0.1:1"}, redisnode.Options{Certificates: &c.given})
		if err == nil || errors.Is(err, redisnode.ErrNoCertificate) != c.none {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if o, err := (redisnode.Options{Certificates: &redisnode.Certificates{}}).Resolved(); err != nil || o.TLS == nil || o.TLS.RootCAs != nil {
		t.Errorf("whom the system trusts: %+v, %v", o.TLS, err)
	}
}
