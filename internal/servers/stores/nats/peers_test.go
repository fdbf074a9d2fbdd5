//go:build linux

package nats

import (
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
	for node := range f.Servers { // one of them leads
		f.CutOff(node+1, true, func(key string) env.StoreRequest { return storetest.Expiring(key, "v", storetest.Long) }, listA)
	}
}
