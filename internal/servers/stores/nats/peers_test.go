//go:build linux

package nats

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/storetest"
)

// A member that is cut off carries out nothing, whether it led or not. The others go on, with another
// leader. That holds also for the routes of a member that was started again, of which the others tell each
// other.
func TestMemberIsCutOff(t *testing.T) {
	f := storetest.Open(t, open)
	f.Insist(storetest.Expiring("a/first", "v", storetest.Long))
	again := f.Servers[2].(*Server)
	again.Kill()
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// After a change of leaders a member of NATS 2.9 can find that its stream is not what it has to be
	// ("last sequence mismatch"). It resets the stream, and may then wait for a quorum for ever: in two of
	// 17 tests beside six busy loops.
	f.Stalled = func(logs string) bool { return strings.Contains(logs, "Resetting stream cluster state") }
	for node := range f.Servers { // one of them leads
		if !f.CutOff(node+1, true, func(key string) env.StoreRequest { return storetest.Expiring(key, "v", storetest.Long) }, listA) {
			return
		}
	}
}
