package nemesis_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

func TestFaultsOfNodesThatCannotBe(t *testing.T) {
	for want, f := range map[string]nemesis.Fault{
		"plan[0].power-loss.node: there is no node 6: they are numbered 1 to 5":             {Action: &nemesis.PowerLoss{Node: 6}},
		"plan[0].power-loss.stuck_sync: only aof-everysec answers before a sync":            {Action: &nemesis.PowerLoss{Node: 1, StuckSync: ms}},
		"plan[0].power-loss.stuck_sync: 2.001s: want 0s to 2s":                              {Action: &nemesis.PowerLoss{Node: 1, StuckSync: 2001 * ms}},
		"plan[0].power-loss.torn_tail: no node has an append-only file":                     {Action: &nemesis.PowerLoss{Node: 1, TornTail: nemesis.TornLoad}},
		"plan[0].crash.restart_delay: -1ms is negative":                                     {Action: &nemesis.Crash{Node: 1, RestartDelay: -ms}},
		"plan[0].end: restart_delay says when the server starts again, and excludes an end": {Action: &nemesis.Shutdown{Node: 1, RestartDelay: ms}, End: nemesis.After(0)},
		"plan[0].failover.node: no node has a replica: the setting has no replication":      {Action: &nemesis.Failover{Node: 1}},
		"plan[0].split-brain.node: no node has a replica: the setting has no replication":   {Action: &nemesis.SplitBrain{Node: 1}},
		"plan[0].split-brain.clients[0]: there is no client 9: they are numbered 1 to 2":    {Action: &nemesis.SplitBrain{Node: 1, Clients: []int{9}}},
		"plan[0].vm-restore.age: 0s: want more than 0s":                                     {Action: &nemesis.VMRestore{Node: 1}},
		"plan[0].vm-restore.clock: unknown value \"ntp\": want synced or restored":          {Action: &nemesis.VMRestore{Node: 1, Age: ms, Clock: "ntp"}},
		"plan[0].old-snapshot.age: 0s: want more than 0s":                                   {Action: &nemesis.OldSnapshot{Node: 1}},
		"plan[0].node-pause.node: 0: want at least 1, or all":                               {Action: &nemesis.NodePause{}},
		"plan[0].evict.node: -1: want at least 1, or all":                                   {Action: &nemesis.Evict{Node: -1}},
		`plan[0].evict.policy: unknown value "lru": want volatile or allkeys`:               {Action: &nemesis.Evict{Node: 1, Policy: "lru"}},
		"plan[0].end: keys that are evicted do not come back":                               {Action: &nemesis.Evict{Node: 1}, End: nemesis.After(0)},
		"plan[0].end: scripts are loaded again when they are used next":                     {Action: &nemesis.ScriptFlush{Node: 1}, End: nemesis.After(0)},
		`plan[0].node-error.error: unknown value "busy": want loading, oom or readonly`:     {Action: &nemesis.NodeError{Error: "busy"}},
		"plan[0].node-error.nodes[1]: node 2 is named twice":                                {Action: &nemesis.NodeError{Error: nemesis.OOM, Nodes: []int{2, 2}}},
		"plan[0].script-flush.node: there is no node 9: they are numbered 1 to 5":           {Action: &nemesis.ScriptFlush{Node: 9}},
	} {
		wantError(t, setting(f), want)
	}
}

func TestFaultsThatTakeAServerDownExcludeEachOther(t *testing.T) {
	for _, a := range []nemesis.Action{
		&nemesis.PowerLoss{Node: 1}, &nemesis.Shutdown{Node: 1}, &nemesis.Failover{Node: 1},
		&nemesis.OldSnapshot{Node: 1, Age: ms}, &nemesis.NodePause{Node: 1}, &nemesis.VMRestore{Node: 1, Age: ms}, &nemesis.SplitBrain{Node: 1}, &nemesis.Crash{Node: 1, RestartDelay: ms},
	} {
		s := setting(nemesis.Fault{Action: a}, crash(1, nemesis.At(time.Second), nil))
		s.Replication = &nemesis.Distribution{}
		wantError(t, s, "plan[1]: overlaps fault 1: both hold the server of node 1")
	}
	wantError(t, setting(
		nemesis.Fault{Action: &nemesis.NodeError{Error: nemesis.OOM}},
		nemesis.Fault{Action: &nemesis.NodeError{Error: nemesis.Loading, Nodes: []int{2}}, Start: nemesis.When(1, env.StepGranted, 0)},
	), "")
	wantError(t, setting(
		nemesis.Fault{Action: &nemesis.NodeError{Error: nemesis.OOM}},
		nemesis.Fault{Action: &nemesis.NodeError{Error: nemesis.Loading, Nodes: []int{2}}, Start: nemesis.At(ms)},
	), "plan[1]: overlaps fault 1: both hold the answers of node 2")
}

func TestPersistenceAndItsDisk(t *testing.T) {
	s := setting()
	s.Persistence = "rdb"
	wantError(t, s, `persistence: unknown value "rdb": want none, aof-everysec or aof-always`)
	below := &nemesis.Distribution{Range: nemesis.Range{Min: -ms}}
	s = setting()
	s.Sync = below
	wantError(t, s, "sync.min: -1ms is negative")
	s = setting()
	s.Replication = below
	wantError(t, s, "replication.min: -1ms is negative")
	s = setting(nemesis.Fault{Action: &nemesis.Failover{Node: 1}, End: nemesis.After(0)})
	s.Persistence, s.Replication = nemesis.EverySecond, &nemesis.Distribution{}
	wantError(t, s, "")
}

// A server that refuses its file does not come back: neither by an end nor by itself.
func TestTornTailThatIsRefused(t *testing.T) {
	torn := func(p nemesis.PowerLoss, end *nemesis.Trigger) nemesis.Setting {
		p.Node, p.TornTail = 1, nemesis.TornRefuse
		s := setting(nemesis.Fault{Action: &p, End: end})
		s.Persistence = nemesis.Always
		return s
	}
	wantError(t, torn(nemesis.PowerLoss{}, nil), "")
	wantError(t, torn(nemesis.PowerLoss{}, nemesis.After(0)), "plan[0].end: a server that refuses its append-only file does not come back")
	wantError(t, torn(nemesis.PowerLoss{RestartDelay: ms}, nil), "plan[0].power-loss.restart_delay: a server that refuses its file does not start")
	wantError(t, torn(nemesis.PowerLoss{StuckSync: ms}, nil), "plan[0].power-loss.stuck_sync: only aof-everysec answers before a sync")
}

// wantError checks the error of a setting, "" being none.
func wantError(t *testing.T, s nemesis.Setting, want string) {
	t.Helper()
	err := s.Validate()
	var wrong *nemesis.FieldError
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v", err)
	case want != "" && (err == nil || err.Error() != want || !errors.As(err, &wrong)):
		t.Errorf("got %v, want %q", err, want)
	}
}

// What a node without power loses of a store is not modelled, so a mode of durability for which that
// matters is rejected with such a plan.
func TestDurability(t *testing.T) {
	power := nemesis.Fault{Action: &nemesis.PowerLoss{Node: 1}, Start: nemesis.At(0)}
	for _, c := range []struct {
		mode nemesis.Durability
		plan nemesis.Plan
		want string // a part of the error; "": none
	}{
		{"", nemesis.Plan{power}, ""},
		{nemesis.Flushed, nemesis.Plan{power}, ""},
		{nemesis.RemoteWrite, nil, ""},
		{nemesis.Off, nemesis.Plan{crash(1, nemesis.At(0), nil)}, ""},
		{nemesis.RemoteWrite, nemesis.Plan{power}, "store.durability: remote-write with the fault power-loss"},
		{nemesis.Off, nemesis.Plan{power}, "store.durability: off with the fault power-loss"},
		{"sometimes", nil, "store.durability"},
	} {
		s := setting(c.plan...)
		s.Store = &nemesis.Store{Durability: c.mode}
		if err := s.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("durability %q with %v: %v, want %q", c.mode, c.plan, err, c.want)
		}
	}
}
