//go:build linux

package etcd

import (
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func creation(key string) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: "v"}
}

// A member that is cut off carries out nothing, whether it led or not. The others go on, with another
// leader; leases last.
func TestMemberIsCutOff(t *testing.T) {
	f := storetest.Open(t, open)
	session := f.OpenSession(long)
	for node := range f.Servers { // one of them leads
		f.CutOff(node+1, true, creation, listA)
	}
	if reply := f.Insist(env.StoreRequest{Op: env.StoreKeep, Session: session}); !reply.Done {
		t.Error("the lease is over")
	}
}
