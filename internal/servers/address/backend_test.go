//go:build linux

package address_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/address"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

const patience = 2 * time.Minute

func wantOnlyTheirs(t *testing.T, f *redisserver.Fleet) {
	t.Helper()
	for i, s := range f.Servers() {
		if got := servertest.Ours(t, s); len(got) > 0 {
			t.Errorf("server %d has the keys %v", i+1, got)
		}
	}
}

// open opens a world that is closed at the end of the test.
func open(t *testing.T, b address.Backend, plan ...nemesis.Fault) *live.World {
	t.Helper()
	s := nemesis.Setting{Nodes: len(b.Addrs), Clients: 1, Persistence: nemesis.Nothing, Horizon: time.Minute, Plan: plan}
	w, err := b.Open(t.Context(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// ask sends a command from client 1 to all nodes.
func ask(w *live.World, op env.Op) (answers []env.Answer) {
	now := w.Runtime(1).Now(env.Monotonic)
	c := env.Command{Op: op, Key: op.String(), Token: "token", TTL: time.Hour, Count: 7}
	nodes := w.Nodes(1)
	answers = make([]env.Answer, nodes.Len())
	round := nodes.Send(env.AllNodes(nodes.Len()), c, now.Add(patience))
	for range nodes.Len() {
		reply, err := round.Next(context.Background(), env.Never)
		if err != nil {
			break
		}
		answers[reply.Node-1] = reply.Answer
	}
	return answers
}

func wantYes(t *testing.T, what string, answers []env.Answer) {
	t.Helper()
	for i, a := range answers {
		if a != env.Yes {
			t.Errorf("%s: node %d answers %v", what, i+1, a)
		}
	}
}

// Every key that a lock sets has the run's prefix and a time to live, and is deleted at the
// end, even over a cut link. Keys of the owner stay.
func TestNothingIsLeft(t *testing.T) {
	f, addrs := servertest.Lent(t, 2)
	cut := nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{2}}}, Start: nemesis.When(1, env.StepBeforeWrite, 0)}
	w := open(t, address.Backend{Addrs: addrs}, cut)
	err := w.Run(t.Context(), func(int) {
		for _, op := range []env.Op{env.OpSet, env.OpRaise, env.OpVouch, env.OpPut, env.OpAdd, env.OpIncrement} {
			wantYes(t, op.String(), ask(w, op))
		}
		w.Reach(1, env.StepBeforeWrite, 0)
		for i, s := range f.Servers() {
			all := servertest.Ours(t, s)
			if len(all) != 6 {
				t.Errorf("server %d has the keys %v", i+1, all)
			}
			for _, key := range all {
				if !strings.HasPrefix(key, address.KeyPrefix) {
					t.Errorf("a key %s", key)
				}
				if life, err := s.Do(t.Context(), "PTTL", key); err != nil || life.(int64) <= 0 {
					t.Errorf("%s lives for %v, %v", key, life, err)
				}
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	wantOnlyTheirs(t, f)
}

// The rights in the package comment are enough, over TLS and in another database.
func TestLeastRights(t *testing.T) {
	f, _ := servertest.Lent(t, 1)
	s, authority := f.Server(1), testkit.NewAuthority(t)
	servertest.Do(t, s, "ACL SETUSER locker on >secret resetkeys ~lockstorm:* resetchannels -@all +hello +info +select +set +get +del +unlink +pttl +pexpire +incr +eval +evalsha +scan")
	connect := redisnode.Options{Username: "locker", Password: "secret", DB: 3, TLS: authority.Client(t)}
	b := address.Backend{Addrs: []string{authority.Secure(t, s)}, Connect: connect}
	w := open(t, b)
	err := w.Run(t.Context(), func(int) {
		wantYes(t, "set", ask(w, env.OpSet))
		if all := servertest.Ours(t, s); len(all) > 0 {
			t.Errorf("in another database: %v", all)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	wantOnlyTheirs(t, f)
	if said := servertest.Do(t, s, "INFO keyspace").(string); strings.Contains(said, "db3") {
		t.Errorf("left in the database: %s", said)
	}
	if found := b.Servers(t.Context()); len(found) != 1 || found[0].Version == "" {
		t.Errorf("found %v", found)
	}
}

// If it is asked for, changes of the run's keys are recorded by their names without the prefix, over TLS
// and in another database. Servers that do not let a watch do that are refused.
func TestKeysAreWatched(t *testing.T) {
	f, _ := servertest.Lent(t, 1)
	s, authority := f.Server(1), testkit.NewAuthority(t)
	const rights = "ACL SETUSER locker reset on >secret ~lockstorm:* resetchannels -@all +hello +info +select +set +get +del +unlink +pttl +pexpire +incr +eval +evalsha +scan +psync +replconf +multi +exec +time +type"
	servertest.Do(t, s, rights)
	connect := redisnode.Options{Username: "locker", Password: "secret", DB: 3, TLS: authority.Client(t)}
	b := address.Backend{Addrs: []string{authority.Secure(t, s)}, Connect: connect, WatchKeys: true}
	setting := nemesis.Setting{Nodes: 1, Clients: 1, Persistence: nemesis.Nothing, Horizon: time.Minute}
	changes := make(chan string, 10)
	w, err := b.Open(t.Context(), setting, 1, recordedKeys(changes))
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(t.Context(), func(int) {
		w.Record(history.Event{Kind: history.Acquire, Client: 1, Resource: "set", Token: "token", TTL: time.Hour})
		wantYes(t, "set", ask(w, env.OpSet))
		servertest.Do(t, s, "SET theirs precious")
		for _, want := range []string{`1 key-set "set" token`} {
			select {
			case got := <-changes:
				if got != want {
					t.Errorf("recorded %s, want %s", got, want)
				}
			case <-time.After(patience):
				t.Errorf("%s was not recorded", want)
			}
		}
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Error(err)
	}
	wantOnlyTheirs(t, f)
	servertest.Do(t, s, rights+" -psync")
	if _, err := b.Open(t.Context(), setting, 1, new(history.Log)); !errors.Is(err, keywatch.ErrUnwatchable) || !strings.Contains(err.Error(), b.Addrs[0]) || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("without PSYNC: %v", err)
	}
}

// recordedKeys receives the changes of keys in a history.
type recordedKeys chan string

func (c recordedKeys) Record(e *history.Event) {
	if e.Kind == history.KeySet || e.Kind == history.KeyGone || e.Kind == history.KeyExtended {
		c <- fmt.Sprintf("%d %v %q %s", e.Node, e.Kind, e.Resource, e.Token)
	}
}

// A server that is restarted during a run ends it with an error.
func TestServerStartedAgainByItself(t *testing.T) {
	f, addrs := servertest.Lent(t, 1)
	w := open(t, address.Backend{Addrs: addrs})
	err := w.Run(t.Context(), func(int) {
		f.Server(1).Kill()
		if err := f.Server(1).Start(context.Background()); err != nil {
			t.Error(err)
		}
		for ctx := context.Background(); ; {
			_ = w.Runtime(1).Sleep(ctx, w.Runtime(1).Now(env.Monotonic).Add(time.Minute))
		}
	})
	if err == nil || !strings.Contains(err.Error(), "not because of a fault of its plan") || !strings.Contains(err.Error(), "restarted") {
		t.Errorf("got %v", err)
	}
}

// If a server cannot be reached at the end, the error names the keys that may be left.
func TestKeysThatMayBeLeft(t *testing.T) {
	f, addrs := servertest.Lent(t, 2)
	w := open(t, address.Backend{Addrs: addrs})
	f.Server(2).Kill()
	err := w.Close()
	if err == nil || !strings.Contains(err.Error(), "keys lockstorm:") || !strings.Contains(err.Error(), addrs[1]) || strings.Contains(err.Error(), addrs[0]) {
		t.Errorf("got %v", err)
	}
}

func TestUnfitServersAreRefused(t *testing.T) {
	f, addrs := servertest.Lent(t, 2)
	servertest.Do(t, f.Server(2), "ACL SETUSER default -scan")
	b := address.Backend{Addrs: addrs}
	s := nemesis.Setting{Nodes: 2, Clients: 1, Persistence: nemesis.Nothing, Horizon: time.Minute}
	if _, err := b.Open(t.Context(), s, 1, new(history.Log)); !errors.Is(err, preflight.ErrForbidden) || !strings.Contains(err.Error(), addrs[1]) {
		t.Errorf("without SCAN: %v", err)
	}
	s.Nodes = 3
	if _, err := b.Open(t.Context(), s, 1, new(history.Log)); err == nil || !strings.Contains(err.Error(), "3 nodes on 2 servers") {
		t.Errorf("too few: %v", err)
	}
	servertest.Do(t, f.Server(2), "ACL SETUSER default +@all")
	wantOnlyTheirs(t, f)
}

// Faults that need control of the servers are not offered.
func TestFaultsOnOffer(t *testing.T) {
	able := nemesis.Ability{Name: "addr", Kinds: address.Backend{}.Faults(), Features: address.Backend{}.Features()}
	kinds, _ := nemesis.Kinds()
	refused := slices.DeleteFunc(kinds, func(k nemesis.Kind) bool { return slices.Contains(able.Kinds, k) })
	slices.Sort(refused)
	want := []nemesis.Kind{"crash", "duplicate", "evict", "failover", "node-error", "node-pause", "old-snapshot", "peer-partition", "power-loss", "script-flush", "shutdown", "split-brain", "vm-restore"}
	if !slices.Equal(refused, want) {
		t.Errorf("refused are %v, want %v", refused, want)
	}
	node := nemesis.Plan{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: time.Second}}}
	if able.Refuse(node) == nil {
		t.Error("the clock of a server can be set")
	}
}
