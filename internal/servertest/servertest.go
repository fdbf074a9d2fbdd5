// Package servertest starts real redis-servers for tests.
package servertest

import (
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

// Do sends a server a command, given as words separated by spaces, and returns the reply.
func Do(t testing.TB, s *redisserver.Server, command string) any {
	t.Helper()
	reply, err := s.Do(t.Context(), strings.Fields(command)...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}
