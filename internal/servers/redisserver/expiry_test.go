//go:build linux

package redisserver

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// left returns the time to live of a key.
func left(t *testing.T, s *Server, key string) time.Duration {
	t.Helper()
	ms, err := strconv.Atoi(strings.TrimPrefix(ask(t, s, "PTTL "+key), ":"))
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ms) * time.Millisecond
}

// An expiry reaches a replica as absolute wall time, in the stream as in the first copy, so the replica takes off
// by how much its clock is ahead. MIGRATE, by which a slot is moved before Redis 8.4, sends what is left.
// failover-clock-offset and migration-clock-offset rely on it.
func TestHowExpiriesTravel(t *testing.T) {
	const ahead, ttl, tolerance = time.Hour, 10 * time.Hour, 10 * time.Minute // much longer than the test takes
	f := openFleet(t, Options{Nodes: 3, Clocks: true})
	source, replica, target := f.Server(1), f.Server(2), f.Server(3)
	for _, s := range []*Server{replica, target} {
		if err := s.SetClock(ahead, 0); err != nil {
			t.Fatal(err)
		}
	}
	do := func(s *Server, command string) {
		t.Helper()
		if got := ask(t, s, command); got != "+OK" {
			t.Fatalf("%s: %s", command, got)
		}
	}
	set := func(key string) { do(source, "SET "+key+" token PX "+strconv.FormatInt(ttl.Milliseconds(), 10)) }
	set("copied")
	host, port, _ := net.SplitHostPort(source.Addr())
	do(replica, "REPLICAOF "+host+" "+port)
	eventually(t, "the replica has the first key", func() bool { return ask(t, replica, "GET copied") == "$5" })
	set("streamed")
	eventually(t, "the replica has the second key", func() bool { return ask(t, replica, "GET streamed") == "$5" })
	do(replica, "REPLICAOF NO ONE")
	set("migrated")
	host, port, _ = net.SplitHostPort(target.Addr())
	do(source, "MIGRATE "+host+" "+port+" migrated 0 60000")
	for _, c := range []struct {
		key  string
		to   *Server
		want time.Duration
	}{{"copied", replica, ttl - ahead}, {"streamed", replica, ttl - ahead}, {"migrated", target, ttl}} {
		if got := left(t, c.to, c.key); got > c.want || got < c.want-tolerance {
			t.Errorf("%s: %v are left, want %v", c.key, got, c.want)
		}
	}
}

// While clients are paused no key is deleted because its time is over.
func TestNothingExpiresInAPause(t *testing.T) {
	s := openFleet(t, Options{Nodes: 1}).Server(1)
	for _, command := range []string{"SET key token PX 1000", "CLIENT PAUSE 1000000000 WRITE"} {
		if got := ask(t, s, command); got != "+OK" {
			t.Fatalf("%s: %s", command, got)
		}
	}
	if ask(t, s, "DBSIZE") != ":1" {
		t.Skip("the key has expired before the pause: this machine is too busy")
	}
	eventually(t, "the key's time is over", func() bool { return ask(t, s, "PTTL key") == ":-2" })
	time.Sleep(500 * time.Millisecond) // Redis looks for such keys ten times a second
	if got := ask(t, s, "DBSIZE"); got != ":1" {
		t.Errorf("%s keys in the pause", got)
	}
	if got := ask(t, s, "CLIENT UNPAUSE"); got != "+OK" {
		t.Fatal(got)
	}
	eventually(t, "the key is deleted", func() bool { return ask(t, s, "DBSIZE") == ":0" })
}
