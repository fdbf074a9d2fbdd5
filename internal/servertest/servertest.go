// Package servertest starts real redis-servers for tests.
package servertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// Open starts servers that are stopped when the test ends.
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

// theirs is the key of the owner of servers that are lent.
const theirs = "theirs"

// Lent starts servers that belong to somebody else, who has one key on each. It returns
// them and their addresses.
func Lent(t testing.TB, nodes int) (f *redisserver.Fleet, addrs []string) {
	t.Helper()
	f = Open(t, redisserver.Options{Nodes: nodes})
	for _, s := range f.Servers() {
		Do(t, s, "SET "+theirs+" precious")
		addrs = append(addrs, s.Addr())
	}
	return f, addrs
}

// Do sends a server a command, given as words separated by spaces, and returns the reply.
func Do(t testing.TB, s *redisserver.Server, command string) any {
	t.Helper()
	reply, err := s.Do(t.Context(), strings.Fields(command)...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// Ours returns the sorted keys of a server that was lent, without its owner's, which has to
// be there.
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
