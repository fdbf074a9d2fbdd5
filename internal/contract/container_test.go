package contract

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/container"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
)

// startsFew says that a script does not wait long for containers to start.
func startsFew(script []step) bool {
	starts := 0
	for _, s := range script {
		if s.what == restarts || s.what == shutDown {
			starts++
		}
	}
	return starts > 0 && starts <= 2
}

// Law: a server in a container answers as one that is a process of this machine, whatever
// is done to it.
func TestContainerSuffersAsSimulatedNode(t *testing.T) {
	testkit.NeedEngine(t)
	all := scripts(asked, restarts, shutDown, evicts, evictsAll, evictsKey, twice, flushes, stalled, full, follows).Filter(startsFew)
	const servers, each = 3, 2
	const boot = time.Second
	modes := []struct {
		persistence nemesis.Persistence
		options     container.Options
	}{
		{nemesis.Nothing, container.Options{Nodes: servers}},
		{nemesis.Always, container.Options{Nodes: servers, AppendOnly: true}},
	}
	var fleets []*container.Fleet
	for _, m := range modes {
		fleet, err := container.OpenFleet(t.Context(), m.options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := fleet.Close(); err != nil {
				t.Error(err)
			}
		})
		fleets = append(fleets, fleet)
	}
	var judged atomic.Int64
	sideBySide(len(modes)*servers, func(i int) {
		m, server := i/servers, i%servers
		judged.Add(int64(compareMany(t, on(fleets[m].Server(server+1)), boot, modes[m].persistence, all, i*each, each)))
	})
	enough(t, int(judged.Load()), len(modes)*servers*each)
}
