//go:build linux

package nats

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/storetest"
)

// syncs returns how often the members have synced a file.
func syncs(f *storetest.Fleet) (n int64) {
	for _, s := range f.Servers {
		n += s.(*Server).Syncs()
	}
	return n
}

// Members that all lose power forget a key that they have acknowledged, because they have not synced
// it. Clients then create the bucket anew.
func TestMembersLosePower(t *testing.T) {
	f := storetest.OpenLossy(t, Open)
	before := syncs(f)
	e := f.Create(storetest.Expiring("a/x", "v", storetest.Long))
	if now := syncs(f); now != before {
		t.Logf("%d syncs", now-before)
	}
	f.LosePower(1, 2, 3)
	if syncs(f) != before {
		t.Skip("a member has synced a file before it lost power")
	}
	again := f.Insist(storetest.Expiring("a/x", "w", storetest.Long))
	if !again.Done {
		t.Errorf("they still have %+v: %+v", e, again)
	}
}

// After one member has lost power the others have the key, and all go on.
func TestMemberLosesPower(t *testing.T) {
	f := storetest.OpenLossy(t, Open)
	f.Create(storetest.Expiring("a/x", "v", storetest.Long))
	f.LosePower(1)
	f.Insist(storetest.Expiring("a/y", "v", storetest.Long))
	t.Logf("they have %+v", f.Insist(listA).Entries)
}
