// Package servertest starts real redis-servers for tests.
package servertest

import (
	"testing"

	"github.com/lockstorm/lockstorm/cluster/redisserver"
)

// Open starts servers that are gone when the test ends.
func Open(t testing.TB, o redisserver.Options) *redisserver.Fleet {
	t.Helper()
	fleet, err := redisserver.Open(t.Context(), o)
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
