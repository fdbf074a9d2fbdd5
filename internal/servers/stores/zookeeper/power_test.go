//go:build linux

package zookeeper

import (
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/storetest"
)

// Nodes whose creation was acknowledged are there after one member has lost power, and after all have.
func TestMembersLosePower(t *testing.T) {
	storetest.OpenLossy(t, Open).KeepsWithoutPower(creation, env.StoreRequest{Op: env.StoreList, Key: "a/"})
}
