package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// timed is a command that a client sends at an instant, and whether the node
// has answered it.
type timed struct {
	at       time.Duration
	command  env.Command
	answered bool
}

func (c timed) String() string {
	return fmt.Sprintf("%v: %v %s %s %v", c.at, c.command.Op, c.command.Key, c.command.Token, c.command.TTL)
}

// commands draws some seconds of work on few keys, so that commands meet.
func commands(t *rapid.T) []timed {
	var list []timed
	at := time.Duration(0)
	for range rapid.IntRange(0, 4*leastTrim).Draw(t, "commands") {
		at += time.Duration(rapid.IntRange(0, 60).Draw(t, "later")) * ms
		list = append(list, timed{at: at, command: env.Command{
			Op:    rapid.SampledFrom([]env.Op{env.OpSet, env.OpSet, env.OpExtend, env.OpDelete, env.OpPut, env.OpAdd, env.OpExpire, env.OpRemove, env.OpIncrement}).Draw(t, "op"),
			Key:   rapid.SampledFrom([]string{"k", "l", "m"}).Draw(t, "key"),
			Token: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "token"),
			TTL:   time.Duration(rapid.IntRange(1, 2000).Draw(t, "ttl")) * ms,
		}})
	}
	return list
}

// instant draws a time at which something happens to the node, often one at
// which a command comes as well.
func instant(t *rapid.T, list []timed) time.Duration {
	if len(list) > 0 && rapid.Bool().Draw(t, "meets a command") {
		return rapid.SampledFrom(list).Draw(t, "met").at
	}
	return time.Duration(rapid.IntRange(0, 5000).Draw(t, "at")) * ms
}

// judge is what a test and a check of rapid have in common.
type judge interface {
	Helper()
	Fatal(args ...any)
}

// work sends the commands to one node, over a network without delay, and returns the node at an
// instant, without expired keys. It records when each was sent and which were answered.
func work(t judge, s nemesis.Setting, list []timed, until time.Duration) *node {
	t.Helper()
	s.Nodes, s.Clients, s.Horizon = 1, 1, until+1
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	w, err := Open(context.Background(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(context.Background(), func(int) {
		r := w.Runtime(1)
		for i := range list {
			_ = r.Sleep(context.Background(), env.Instant(list[i].at))
			list[i].at = time.Duration(r.Now(env.Monotonic))
			reply, _ := w.Nodes(1).Send(1, list[i].command, env.Never).Next(context.Background(), env.Never)
			list[i].answered = reply.Answer == env.Yes || reply.Answer == env.No
		}
		_ = r.Sleep(context.Background(), env.Never)
	})
	if err != nil {
		t.Fatal(err)
	}
	return w.node(1)
}

// replay returns the keys, at an instant, of a node that was given some commands
// and to which nothing happened.
func replay(t judge, list []timed, until time.Duration) map[string]key {
	return work(t, nemesis.Setting{Persistence: nemesis.Always}, slices.Clone(list), until).keys.byName()
}

// byName returns the keys that exist.
func (s *keyspace) byName() map[string]key {
	all := map[string]key{}
	for _, number := range s.inOrder() {
		all[s.names.list[number]], _ = s.get(number)
	}
	return all
}

// before returns the commands up to an instant, itself included.
func before(list []timed, at time.Duration) []timed {
	i := slices.IndexFunc(list, func(c timed) bool { return c.at > at })
	if i < 0 {
		return list
	}
	return list[:i]
}

// hit is work with a fault that takes the node down at its end.
func hit(t judge, s nemesis.Setting, a nemesis.Action, at time.Duration, list []timed) *node {
	t.Helper()
	s.Plan = nemesis.Plan{{Action: a, Start: nemesis.At(at)}}
	return work(t, s, list, at)
}

func sameKeys(t *rapid.T, what string, got, want map[string]key) {
	if !maps.Equal(got, want) {
		t.Fatalf("%s: the node has\n%v, want\n%v", what, got, want)
	}
}

// Law: power loss under aof-everysec leaves the state as of the last sync: deleted keys are back,
// extensions have not been. With a stuck disk that is the last sync before the disk was stuck.
func TestPowerLossGoesBackToTheLastSync(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := commands(t)
		at := instant(t, list)
		stuck := time.Duration(max(rapid.IntRange(-1000, 2000).Draw(t, "stuck"), 0)) * ms
		n := hit(t, nemesis.Setting{Persistence: nemesis.EverySecond}, &nemesis.PowerLoss{Node: 1, StuckSync: stuck}, at, slices.Clone(list))
		synced := syncedAt(n, at-stuck)
		sameKeys(t, fmt.Sprintf("power lost at %v, synced at %v", at, synced), n.keys.byName(), replay(t, before(list, min(synced, at-1)), at)) // a fault goes before what a client sends at its instant
	})
}

// A node whose server refuses its torn file refuses connections for the rest of the run, and
// one that loads what is before the tear has what it had acknowledged.
func TestTornTail(t *testing.T) {
	for tail, want := range map[nemesis.TornTail]string{nemesis.TornLoad: "no", nemesis.TornRefuse: "failed"} {
		f := nemesis.Fault{Action: &nemesis.PowerLoss{Node: 1, TornTail: tail}, Start: nemesis.At(50 * ms)}
		if tail == nemesis.TornLoad {
			f.End = nemesis.After(0)
		}
		s := setting(1, 1, f)
		s.Persistence = nemesis.Always
		play(t, s, func(w *World) {
			long, other := set, set
			long.TTL, other.Token = time.Hour, "b"
			ask(w, 1, 1, long, time.Second)
			sleep(w, 1, 100*ms)
			if got := ask(w, 1, 1, other, time.Second); got != want {
				t.Errorf("%s: %v, want %v", tail, got, want)
			}
		})
	}
}

// syncedAt is when a node was synced last, up to an instant.
func syncedAt(n *node, at time.Duration) time.Duration {
	synced := time.Duration(n.journal.phase)
	for synced+time.Second <= at {
		synced += time.Second
	}
	for synced > at {
		synced -= time.Second
	}
	return synced
}

// Law: what a restart has read from the disk, or a shutdown has written to it, is
// on the disk: a later loss of power goes back no further.
func TestPowerLossGoesBackToTheLastRestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := commands(t)
		s := nemesis.Setting{Persistence: nemesis.EverySecond}
		first := instant(t, list)
		second := first + time.Duration(rapid.IntRange(1, 1000).Draw(t, "apart"))*ms
		down := rapid.SampledFrom([]nemesis.Action{&nemesis.Shutdown{Node: 1}, &nemesis.PowerLoss{Node: 1}}).Draw(t, "down")
		s.Plan = nemesis.Plan{
			{Action: down, Start: nemesis.At(first), End: nemesis.After(0)},
			{Action: &nemesis.PowerLoss{Node: 1}, Start: nemesis.At(second)},
		}
		n := work(t, s, slices.Clone(list), second)
		s.Plan = s.Plan[:1]
		kept := max(syncedAt(n, second), first-1)
		sameKeys(t, fmt.Sprintf("%v at %v, power lost at %v", down, first, second), n.keys.byName(), work(t, s, before(list, min(kept, second-1)), second).keys.byName())
	})
}

// Law: under aof-always an acknowledged change is never lost, however long a sync takes, and an
// unacknowledged one is.
func TestPowerLossUnderAlwaysLosesWhatWasNotAcknowledged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := commands(t)
		s := nemesis.Setting{Persistence: nemesis.Always}
		if rapid.Bool().Draw(t, "slow disk") {
			s.Sync = &nemesis.Distribution{Range: nemesis.Range{Max: 300 * ms}}
		}
		at := instant(t, list)
		n := hit(t, s, &nemesis.PowerLoss{Node: 1}, at, list)
		sameKeys(t, "power lost", n.keys.byName(), replay(t, slices.DeleteFunc(list, func(c timed) bool { return !c.answered }), at))
	})
}

// Law: a clean shutdown, and a crash of the process alone, lose nothing with an
// append-only file and everything without.
func TestShutdownAndCrashKeepWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := commands(t)
		s := nemesis.Setting{Persistence: rapid.SampledFrom([]nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always}).Draw(t, "persistence")}
		a := rapid.SampledFrom([]nemesis.Action{&nemesis.Shutdown{Node: 1}, &nemesis.Crash{Node: 1}}).Draw(t, "action")
		at := instant(t, list)
		n := hit(t, s, a, at, list)
		want := map[string]key{}
		if s.Persistence != nemesis.Nothing {
			want = replay(t, before(list, at-1), at)
		}
		sameKeys(t, a.String(), n.keys.byName(), want)
	})
}

// Law: an old snapshot has the keys of its time, over everything that has
// happened to the node since.
func TestOldSnapshotHasTheKeysOfItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := commands(t)
		s := nemesis.Setting{Persistence: rapid.SampledFrom([]nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond}).Draw(t, "persistence")}
		first := instant(t, list)
		at := first + time.Duration(rapid.IntRange(1, 3000).Draw(t, "apart"))*ms
		age := max(at-instant(t, list), ms)
		s.Plan = nemesis.Plan{
			{Action: &nemesis.PowerLoss{Node: 1}, Start: nemesis.At(first), End: nemesis.After(0)},
			{Action: &nemesis.OldSnapshot{Node: 1, Age: age}, Start: nemesis.At(at)},
		}
		n := work(t, s, slices.Clone(list), at)
		s.Plan = s.Plan[:1]
		if at-age < first {
			s.Plan = nil
		}
		sameKeys(t, "snapshot", n.keys.byName(), work(t, s, before(list, at-age), at).keys.byName())
	})
}

// Law: a replica that takes over has the state after some of the commands, in
// their order: all that had the time to come to it and none that had not.
func TestFailoverLeavesAPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := commands(t)
		at := instant(t, list)
		lag := nemesis.Range{Min: time.Duration(rapid.IntRange(0, 2000).Draw(t, "least lag")) * ms}
		lag.Max = lag.Min + time.Duration(rapid.IntRange(0, 500).Draw(t, "spread"))*ms
		s := nemesis.Setting{Persistence: nemesis.Nothing, Replication: &nemesis.Distribution{Range: lag}}
		n := hit(t, s, &nemesis.Failover{Node: 1}, at, list)
		list = before(list, at-1)
		for k := len(before(list, at-lag.Max)); k <= len(before(list, at-lag.Min)); k++ {
			if maps.Equal(n.keys.byName(), replay(t, list[:k], at)) {
				return
			}
		}
		t.Fatalf("after a failover at %v the node has %v, which is the state after none of the prefixes", at, n.keys.byName())
	})
}

// The history records the effect of a rollback on the keys.
func TestRollbackIsTold(t *testing.T) {
	s := setting(1, 1, nemesis.Fault{Action: &nemesis.OldSnapshot{Node: 1, Age: 20 * ms}, Start: nemesis.At(50 * ms), End: nemesis.After(10 * ms)})
	log := play(t, s, func(w *World) {
		ask(w, 1, 1, set, time.Second) // at 1 ms
		sleep(w, 1, 38*ms)
		other := set
		other.Op = env.OpDelete
		ask(w, 1, 1, other, time.Second) // at 41 ms
		other.Op, other.Token = env.OpSet, "b"
		ask(w, 1, 1, other, time.Second) // at 43 ms
		sleep(w, 1, 30*ms)
	})
	var told []string
	for _, e := range log[3:] {
		told = append(told, fmt.Sprintf("%v %v %s %s %d", e.Time, e.Kind, e.Token+e.Detail, e.Reason, e.Fault))
	}
	expect(t, "history", fmt.Sprintf("%q", told), fmt.Sprintf("%q", []string{
		"50ms fault-start node 1 dies, to restart from a snapshot 20ms old  1",
		"50ms node-down   1",
		"50ms key-gone b rolled back 1",
		"50ms key-set a  1",
		"60ms node-up with the keys of a snapshot 20ms old  1",
		"60ms fault-end node 1 dies, to restart from a snapshot 20ms old  1",
		"74ms end   0",
	}))
}

// A key lives on because of an extension. If a rollback removes the extension after the key would
// have expired without it, the key is gone.
func TestRollbackOfTheExtensionThatAKeyLivesBy(t *testing.T) {
	s := setting(1, 1, nemesis.Fault{Action: &nemesis.OldSnapshot{Node: 1, Age: 80 * ms}, Start: nemesis.At(120 * ms), End: nemesis.After(0)})
	log := play(t, s, func(w *World) {
		ask(w, 1, 1, set, time.Second) // at 1 ms, for 100 ms
		sleep(w, 1, 58*ms)
		ask(w, 1, 1, command(env.OpExtend, "a"), time.Second) // at 61 ms
		sleep(w, 1, 100*ms)
	})
	expect(t, "history", kinds(log, history.KeySet, history.KeyExtended, history.KeyGone), "key-set@1ms key-extended@61ms key-gone@120ms")
}

// A journal keeps what can be taken back, and no more; and a world keeps none
// that has no such fault.
func TestJournalStaysShort(t *testing.T) {
	var list []timed
	for i := range 10_000 {
		c := env.Command{Op: env.OpSet, Key: fmt.Sprint("k", i%3), Token: fmt.Sprint(i / 2), TTL: time.Minute}
		if i%2 == 1 {
			c.Op, c.Key = env.OpDelete, list[i-1].command.Key
		}
		list = append(list, timed{at: time.Duration(i) * ms, command: c})
	}
	at, lag := 5*time.Second-ms, 101*ms
	for name, c := range map[string]struct {
		setting nemesis.Setting
		action  nemesis.Action
		most    int // changes that it has to keep
		asOf    func(*node) time.Duration
	}{
		"everysec": {
			nemesis.Setting{Persistence: nemesis.EverySecond}, &nemesis.PowerLoss{Node: 1},
			1000, func(n *node) time.Duration { return syncedAt(n, at) },
		},
		"always": {
			nemesis.Setting{Persistence: nemesis.Always, Sync: &nemesis.Distribution{}}, &nemesis.PowerLoss{Node: 1},
			1, func(*node) time.Duration { return at - 1 },
		},
		"snapshot": {
			nemesis.Setting{Persistence: nemesis.Nothing}, &nemesis.OldSnapshot{Node: 1, Age: lag},
			100, func(*node) time.Duration { return at - lag },
		},
		"replica": {
			nemesis.Setting{Persistence: nemesis.Nothing, Replication: &nemesis.Distribution{Range: nemesis.Range{Min: lag, Max: lag}}}, &nemesis.Failover{Node: 1},
			100, func(*node) time.Duration { return at - lag },
		},
	} {
		n := hit(t, c.setting, c.action, at, slices.Clone(list))
		if got := cap(n.journal.changes); got > 4*(c.most+leastTrim) {
			t.Errorf("%s: room for %d changes", name, got)
		}
		if want := replay(t, before(list, c.asOf(n)), at); !maps.Equal(n.keys.byName(), want) {
			t.Errorf("%s: the node has\n%v, want\n%v", name, n.keys.byName(), want)
		}
	}
	if n := hit(t, nemesis.Setting{Persistence: nemesis.Nothing}, &nemesis.PowerLoss{Node: 1}, at, list); n.journal != nil {
		t.Error("a journal for nothing")
	}
}

// State that a node lost without its disk is missing on its replica as well after a failover.
func TestFailoverAfterAnEmptyRestart(t *testing.T) {
	s := setting(1, 1, fault(&nemesis.Crash{Node: 1}, 10*ms, 0), fault(&nemesis.Failover{Node: 1}, 12*ms, 0))
	s.Replication = &nemesis.Distribution{Range: nemesis.Range{Min: 5 * ms, Max: 5 * ms}}
	log := play(t, s, func(w *World) { ask(w, 1, 1, set, time.Second); sleep(w, 1, 50*ms) })
	expect(t, "keys", kinds(log, history.KeySet, history.KeyGone), "key-set@1ms key-gone@10ms")
}

func TestJournalReachesBackToTheOldestSnapshot(t *testing.T) {
	old := func(age time.Duration) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.OldSnapshot{Node: 1, Age: age}}
	}
	w, err := Open(t.Context(), setting(1, 2, old(ms), old(80*ms), old(2*ms)), 1, &history.Log{})
	if err != nil {
		t.Fatal(err)
	}
	if age := w.node(1).journal.age; age != int64(80*ms) || w.node(2).journal != nil {
		t.Errorf("it reaches back %v, and that of the other node is %v", time.Duration(age), w.node(2).journal)
	}
}
