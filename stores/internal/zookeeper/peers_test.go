//go:build linux

package zookeeper

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func creation(key string) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: "v"}
}

// A member that is cut off carries out nothing, whether it led or not. The others go on, with another
// leader; sessions last.
func TestMemberIsCutOff(t *testing.T) {
	f := openFleet(t, 3)
	session := f.OpenSession(maxSession)
	for node := range f.Servers { // one of them leads
		f.CutOff(node+1, true, creation, env.StoreRequest{Op: env.StoreList, Key: "a/"})
	}
	if reply := f.Insist(env.StoreRequest{Op: env.StoreKeep, Session: session}); !reply.Done {
		t.Error("the session is over")
	}
}

// The leader is replaced, and steps down itself. When it is back it follows.
func TestLeaderIsCutOff(t *testing.T) {
	f := openFleet(t, 3)
	old := f.leader()
	f.Peers.Cut(&nemesis.PeerPartition{Nodes: []int{old.Number}})
	storetest.Eventually(t, "another leads", func() bool {
		leader := leaderOf(t.Context(), f.all())
		return leader != nil && leader != old
	})
	storetest.Eventually(t, "the old leader serves nobody", func() bool {
		status, err := old.status(t.Context())
		return err == nil && mode(status) == ""
	})
	f.Peers.Mend()
	storetest.Eventually(t, "the old leader follows", func() bool {
		status, err := old.status(t.Context())
		return err == nil && mode(status) == "follower"
	})
}

// A connection for elections begins with the id of its sender alone.
func TestWithoutAddress(t *testing.T) {
	const addr = "127.0.0.1:3888"
	sent := binary.BigEndian.AppendUint64(nil, 1<<64-65536)
	sent = binary.BigEndian.AppendUint64(sent, 3)
	sent = binary.BigEndian.AppendUint32(sent, uint32(len(addr)))
	sent = append(append(sent, addr...), "rest"...)
	got, err := io.ReadAll(withoutAddress(bytes.NewReader(sent)))
	if want := "\x00\x00\x00\x00\x00\x00\x00\x03rest"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"", "short", strings.Repeat("\xff", 20), strings.Repeat("x", 100)} {
		if got, err := io.ReadAll(withoutAddress(strings.NewReader(bad))); err == nil {
			t.Errorf("%q passes as %q", bad, got)
		}
	}
}

// A session for which nobody sends heartbeats ends, although the library would keep it alive.
func TestSessionWithoutHeartbeats(t *testing.T) {
	f := openFleet(t, 1)
	session := f.OpenSession(minSession)
	f.Ask(env.StoreRequest{Op: env.StoreCreate, Key: "a/x", Session: session})
	storetest.Eventually(t, "the entry is gone", func() bool {
		return len(f.Ask(env.StoreRequest{Op: env.StoreList, Key: "a/"}).Entries) == 0
	})
	f.Declined(env.StoreRequest{Op: env.StoreKeep, Session: session})
}
