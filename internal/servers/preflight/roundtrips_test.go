//go:build linux

package preflight_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Each server gets the given number of PINGs, and nothing else but HELLO.
func TestServersAreNotDisturbed(t *testing.T) {
	f := servertest.Open(t, redisserver.Options{Nodes: 2})
	var addrs []string
	for _, s := range f.Servers() {
		addrs = append(addrs, s.Addr())
		if _, err := s.Do(t.Context(), "CONFIG", "RESETSTAT"); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	times, err := preflight.RoundTrips(t.Context(), addrs, redisnode.Options{}, preflight.SamplingOptions{Samples: 5, Every: time.Millisecond, Asked: func() { asked++ }})
	if err != nil {
		t.Fatal(err)
	}
	if len(times) != 2 || len(times[0]) != 5 || len(times[1]) != 5 || asked != 10 {
		t.Errorf("%v, told of %d", times, asked)
	}
	for _, s := range f.Servers() {
		said, err := s.Do(t.Context(), "INFO", "commandstats")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`cmdstat_([^:]+):calls=(\d+)`).FindAllStringSubmatch(said.(string), -1) {
			switch m[1] {
			case "config|resetstat", "info", "hello":
			case "ping":
				if m[2] != "5" {
					t.Errorf("%s times PING", m[2])
				}
			default:
				t.Errorf("it was asked %s", m[0])
			}
		}
	}
}

// The error names each server that cannot be reached.
func TestServersThatCannotBeAsked(t *testing.T) {
	f := servertest.Open(t, redisserver.Options{Nodes: 2})
	addrs := []string{f.Server(1).Addr(), f.Server(2).Addr()}
	o := preflight.SamplingOptions{Samples: 2, Every: time.Millisecond}
	if _, err := f.Server(2).Do(t.Context(), "ACL", "SETUSER", "default", "-ping"); err != nil {
		t.Fatal(err)
	}
	_, err := preflight.RoundTrips(t.Context(), addrs, redisnode.Options{}, o)
	if err == nil || !strings.Contains(err.Error(), addrs[1]) || !strings.Contains(err.Error(), "PING") || strings.Contains(err.Error(), addrs[0]) {
		t.Errorf("without the right to ping: %v", err)
	}
	f.Server(1).Kill()
	_, err = preflight.RoundTrips(t.Context(), addrs[:1], redisnode.Options{}, o)
	if err == nil || !strings.Contains(err.Error(), addrs[0]) {
		t.Errorf("nobody there: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err = preflight.RoundTrips(ctx, addrs[1:], redisnode.Options{}, o); err == nil {
		t.Error("stopped: no error")
	}
}
