//go:build linux

package etcd

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/storetest"
)

// Keys whose creation was acknowledged are there after one member has lost power, and after all have.
func TestMembersLosePower(t *testing.T) {
	f := storetest.OpenLossy(t, Store{}.Open)
	f.KeepsWithoutPower(creation, listA)
	for _, s := range f.Servers {
		if s.(*Server).Syncs() == 0 {
			t.Errorf("%s has synced nothing", s.Addr())
		}
	}
}

// Members that do not sync lose what they have acknowledged when all lose power. That shows that their
// disks forget.
func TestMembersWithoutSyncsLosePower(t *testing.T) {
	f := storetest.OpenLossy(t, Store{noSync: true}.Open)
	f.Insist(creation("a/x"))
	f.LosePower(1, 2, 3)
	if got := f.Insist(listA).Entries; len(got) > 0 {
		t.Errorf("they have %+v", got)
	}
}
