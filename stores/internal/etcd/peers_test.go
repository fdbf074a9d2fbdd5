//go:build linux

package etcd

import (
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
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

// The leader is replaced, and steps down itself. When it is back it follows.
func TestLeaderIsCutOff(t *testing.T) {
	f := storetest.Open(t, open)
	old := f.Servers[0].(*Server)
	led, err := statusOf(t.Context(), old)
	if err != nil || led.Leader != led.Header.MemberId {
		t.Fatalf("the first member does not lead: %+v, %v", led, err)
	}
	follows := func(s *Server, other bool) func() bool {
		return func() bool {
			now, err := statusOf(t.Context(), s)
			return err == nil && now.Leader != 0 && (now.Leader != led.Leader) == other
		}
	}
	f.Peers.Cut(&nemesis.PeerPartition{Nodes: []int{2, 3}}) // the same links as of 1
	for _, s := range f.Servers[1:] {
		storetest.Eventually(t, "another leads", follows(s.(*Server), true))
	}
	storetest.Eventually(t, "the old leader leads nobody", func() bool {
		now, err := statusOf(t.Context(), old)
		return err == nil && now.Leader == 0
	})
	f.Peers.Mend()
	storetest.Eventually(t, "the old leader follows", follows(old, true))
}
