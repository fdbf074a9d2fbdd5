// Package servertest starts real redis-servers for tests.
package servertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// Open starts servers that are gone when the test ends.
func Open(t testing.TB, o redisserver.Options) *redisserver.Fleet {
	t.Helper()
	fleet, err := redisserver.OpenFleet(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	})
	return fleet
}

// theirs is the key of somebody whose servers are only lent to us.
const theirs = "theirs"

// Lent starts servers that are somebody else's, who has a key of their own on each, and
// returns their addresses.
func Lent(t testing.TB, nodes int) (f *redisserver.Fleet, addrs []string) {
	t.Helper()
	f = Open(t, redisserver.Options{Nodes: nodes})
	for _, s := range f.Servers() {
		Do(t, s, "SET "+theirs+" precious")
		addrs = append(addrs, s.Addr())
	}
	return f, addrs
}

// Do gives a server a command, whose words have spaces between them, and returns what it
// answers.
func Do(t testing.TB, s *redisserver.Server, command string) any {
	t.Helper()
	said, err := s.Do(t.Context(), strings.Fields(command)...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// Ours are the keys of a server that was lent, but for that of its owner, in their order.
// That one has to be there.
func Ours(t testing.TB, s *redisserver.Server) (keys []string) {
	t.Helper()
	for _, key := range Do(t, s, "KEYS *").([]any) {
		keys = append(keys, key.(string))
	}
	slices.Sort(keys)
	own := slices.Index(keys, theirs)
	if own < 0 || Do(t, s, "GET "+theirs) != "precious" {
		t.Errorf("on %s the key of its owner is lost: there are %v", s.Addr(), keys)
		return keys
	}
	return slices.Delete(keys, own, own+1)
}
