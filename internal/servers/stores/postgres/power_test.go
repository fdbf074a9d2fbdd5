//go:build linux

package postgres

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/storetest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Rows whose insertion was acknowledged are there after one server has lost power, and after all have.
func TestServersLosePower(t *testing.T) {
	f := storetest.OpenLossy(t, func(ctx context.Context, s nemesis.Setting, seed uint64) (live.Fleet, error) {
		s.Store = setting(s.Nodes).Store
		return Open(ctx, s, seed)
	})
	f.KeepsWithoutPower(creation, listA)
}
