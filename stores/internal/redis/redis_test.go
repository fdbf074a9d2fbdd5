//go:build linux

package redis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

type opener = func(context.Context) (live.Fleet, error)

// opens returns how a product is opened, with as many members as it needs.
func opens(kind Store) opener {
	s := nemesis.Setting{Nodes: 3, Persistence: nemesis.Always}
	if kind.Cluster {
		s.Nodes = 5
	}
	return func(ctx context.Context) (live.Fleet, error) { return kind.Open(ctx, s, 1) }
}

// each runs a test for both products.
func each(t *testing.T, test func(t *testing.T, kind Store)) {
	for _, kind := range []Store{{}, {Cluster: true}} {
		t.Run(kind.Name(), func(t *testing.T) { test(t, kind) })
	}
}

func TestMain(m *testing.M) { storetest.OrphanMain(m, opens(Store{})) }

// A program that is killed leaves no servers, no Sentinels, and no files.
func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) {
	storetest.NothingSurvives(t, 3)
	tmp := os.Getenv("TMPDIR")
	storetest.Eventually(t, "no process works below "+tmp, func() bool {
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range links {
			if dir, err := os.Readlink(link); err == nil && strings.HasPrefix(dir, tmp) {
				return false
			}
		}
		return true
	})
}

var listA = env.StoreRequest{Op: env.StoreList, Key: "a/"}

// Names and values of keys are any text.
func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, kind Store) {
		f := storetest.Open(t, opens(kind))
		odd := f.Create(expiring("b %=é.*>{}[", "", long))
		first := f.Create(expiring("a/x", "first value\r\n", long))
		if got := f.Ask(env.StoreRequest{Op: env.StoreList}).Entries; !reflect.DeepEqual(got, []env.Entry{odd, first}) || first.Value != "first value\r\n" {
			t.Errorf("listed %+v", got)
		}
	})
}

// A key expires by itself. A renewal prolongs its life, and never shortens it.
func TestKeyExpires(t *testing.T) {
	each(t, func(t *testing.T, kind Store) {
		f := storetest.Open(t, opens(kind))
		short := f.Create(expiring("a/short", "", time.Millisecond/2))
		storetest.Eventually(t, "the key is gone", func() bool { return len(f.Ask(listA).Entries) == 0 })
		f.Declined(renewal(short, long))
		f.Declined(deletion(short))
		kept := f.Create(expiring("a/kept", "", long))
		kept = f.Done(renewal(kept, time.Millisecond)).Entries[0]
		brief := f.Create(expiring("a/brief", "", 2*time.Second))
		reply := f.Ask(renewal(brief, long))
		time.Sleep(3 * time.Second)
		want := []env.Entry{kept}
		if reply.Done { // it is declined on a machine that took two seconds for it
			want = append(want, reply.Entries...)
		}
		if got := f.Ask(listA).Entries; !reflect.DeepEqual(got, want) {
			t.Errorf("there are %+v, not %+v", got, want)
		}
	})
}

// settle waits until all replicas follow one master and have everything that it has. It returns the
// master.
func settle(f *storetest.Fleet, kind Store) (master *Server) {
	f.T.Helper()
	storetest.Eventually(f.T, "all replicas follow one master", func() bool {
		for _, server := range f.Servers {
			s := server.(*Server)
			role, err := s.Do(f.T.Context(), "ROLE") // "master", offset, replicas as host, port and offset
			fields, _ := role.([]any)
			if err != nil || len(fields) != 3 {
				continue
			}
			replicas, _ := fields[2].([]any)
			behind := 0
			for _, r := range replicas {
				if fmt.Sprint(r.([]any)[2]) != fmt.Sprint(fields[1]) {
					behind++
				}
			}
			if len(replicas) == kind.copies(len(f.Servers))-1 && behind == 0 {
				master = s
				return true
			}
		}
		return false
	})
	return master
}

// The master is killed, shut down or stopped. A replica with all keys takes its place, and the
// former master becomes a replica when it is back.
func TestFailover(t *testing.T) {
	each(t, func(t *testing.T, kind Store) {
		for _, c := range []struct {
			name   string
			rounds int
			leave  func(*Server) error
			comeIn func(*Server) error
		}{
			{"killed", 2, func(s *Server) error { s.Kill(); return nil }, func(s *Server) error { return s.Start(t.Context()) }},
			{"shutdown", 1, func(s *Server) error { s.Quit(); return nil }, func(s *Server) error { return s.Start(t.Context()) }},
			{"stopped", 1, (*Server).Stop, (*Server).Continue},
		} {
			t.Run(c.name, func(t *testing.T) {
				f := storetest.Open(t, opens(kind))
				want := []env.Entry{f.Create(expiring("a/0", "first", long))}
				if first := settle(f, kind); first != f.Servers[0] {
					t.Fatalf("%s is the master", first.Name)
				}
				for round := range c.rounds {
					away := settle(f, kind)
					if err := c.leave(away); err != nil {
						t.Fatal(err)
					}
					key := fmt.Sprintf("a/%d", round+1)
					f.Insist(expiring(key, "", long)) // perhaps twice
					got := f.Insist(listA).Entries
					if len(got) != len(want)+1 || !reflect.DeepEqual(got[:len(want)], want) || got[len(want)].Key != key {
						t.Fatalf("there are %+v, not %+v and %s", got, want, key)
					}
					want = got
					if err := c.comeIn(away); err != nil {
						t.Fatal(err)
					}
					if now := settle(f, kind); now == away {
						t.Errorf("%s is the master again", now.Name)
					}
				}
				if got := f.Insist(listA).Entries; !reflect.DeepEqual(got, want) {
					t.Errorf("there are %+v, not %+v", got, want)
				}
			})
		}
	})
}

// cutOff holds back what a member sends to the others.
func cutOff(s *Server) { s.link.Replies.Impose(cutOffRule, nemesis.HoldAll()) }

const cutOffRule = killRule + 1

// waitsOrNot returns two clients of a fleet that are connected to its master: one that waits for
// replicas, and one that does not.
func waitsOrNot(f *storetest.Fleet, kind Store) (clients map[bool]live.StoreClient) {
	f.T.Helper()
	clients = map[bool]live.StoreClient{}
	for _, waits := range []bool{true, false} {
		own := *f
		kind.Asynchronous = !waits
		own.Store = kind
		own.Client = own.Connect()
		own.Ask(listA)
		clients[waits] = own.Client
	}
	return clients
}

// createUnreplicated creates keys on a master that no replica follows. A client that waits for
// replicas does not get its key.
func createUnreplicated(t *testing.T, clients map[bool]live.StoreClient) {
	t.Helper()
	for waits, c := range clients {
		reply, err := storetest.Try(t, c, time.Second, expiring(fmt.Sprintf("a/waits=%t", waits), "of the old master", long))
		if reply.Done == waits || errors.Is(err, env.ErrNoLeader) {
			t.Errorf("waits for replicas: %t, reply %+v, error %v", waits, reply, err)
		}
	}
}

// A key that no replica has received is lost with the master. Its holder does not delete the key of
// the next holder, although that has the same revision.
func TestFailoverLosesKey(t *testing.T) {
	each(t, func(t *testing.T, kind Store) {
		f := storetest.Open(t, opens(kind))
		clients := waitsOrNot(f, kind)
		f.Create(expiring("a/old", "", long))
		master := settle(f, kind)
		cutOff(master)
		createUnreplicated(t, clients)
		holder := *f
		holder.Client = clients[false]
		lost := holder.Create(expiring("b/lost", "of the old master", long))
		for range 100 { // so that the next master's counter is behind this one's for long enough
			lost = holder.Done(renewal(lost, long)).Entries[0]
		}
		master.Kill()
		if got := f.Insist(env.StoreRequest{Op: env.StoreList}).Entries; len(got) != 1 || got[0].Key != "a/old" {
			t.Errorf("the next master has %+v", got)
		}
		filler := f.Create(expiring("c/filler", "", long))
		for filler.Revision < lost.Revision-1 {
			filler = f.Done(renewal(filler, long)).Entries[0]
		}
		next := f.Create(expiring("b/lost", "of the new master", long))
		if next.Revision != lost.Revision {
			t.Errorf("%+v, want the revision of %+v", next, lost)
		}
		holder.Insist(listA) // connects it to the new master
		holder.Declined(renewal(lost, long))
		holder.Declined(deletion(lost))
		f.Done(deletion(next))
	})
}

// Sentinel replaces a master that the other members cannot reach. Until it is demoted, clients that are
// connected to it use it: both masters give away one key.
func TestTwoMasters(t *testing.T) {
	kind := Store{}
	f := storetest.Open(t, opens(kind))
	clients := waitsOrNot(f, kind)
	old := f.Servers[0].(*Server)
	cutOff(old)
	elsewhere := *f
	elsewhere.Client = f.ConnectTo(f.Servers[1].Addr(), f.Servers[2].Addr())
	elsewhere.Insist(expiring("a/waits=false", "of the new master", long))
	createUnreplicated(t, clients)
	old.link.Replies.Lift(cutOffRule)
	if now := settle(f, kind); now == old {
		t.Error("the old master has not been demoted")
	}
	if got := f.Insist(listA).Entries; len(got) != 1 || got[0].Value != "of the new master" {
		t.Errorf("there are %+v", got)
	}
}

// A client goes on from members that are down, and requests that they refuse have no effect.
func TestNoMaster(t *testing.T) {
	each(t, func(t *testing.T, kind Store) {
		f := storetest.Open(t, opens(kind))
		for _, s := range f.Servers[1:] { // no majority is left
			s.(*Server).Kill()
		}
		f.Servers[0].(*Server).Kill()
		for range f.Servers {
			if _, err := storetest.Try(t, f.Client, storetest.Patience, expiring("a/x", "", long)); !errors.Is(err, env.ErrNoLeader) {
				t.Errorf("without a server: %v", err)
			}
		}
		for _, s := range f.Servers {
			if err := s.(*Server).Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f.Insist(expiring("a/x", "", long))
	})
}

// A server that keeps nothing is empty when it is back, also if it has synced replicas from its
// disk.
func TestPersistence(t *testing.T) {
	for persistence, kept := range map[nemesis.Persistence]bool{nemesis.Nothing: false, nemesis.EverySecond: true, nemesis.Always: true} {
		t.Run(string(persistence), func(t *testing.T) {
			kind := Store{}
			f := storetest.Open(t, func(ctx context.Context) (live.Fleet, error) {
				return kind.Open(ctx, nemesis.Setting{Nodes: 3, Persistence: persistence}, 1)
			})
			f.Create(expiring("a/x", "", long))
			settle(f, kind)
			for _, s := range f.Servers {
				s.(*Server).Kill()
			}
			for _, s := range f.Servers {
				if err := s.(*Server).Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			settle(f, kind)
			if got := len(f.Insist(listA).Entries) > 0; got != kept {
				t.Errorf("the key is there: %t", got)
			}
		})
	}
}

func TestNumberOfMembers(t *testing.T) {
	for kind, want := range map[Store]string{{}: "2 nodes: redis-sentinel needs at least 3", {Cluster: true}: "2 nodes: redis-cluster needs at least 4"} {
		if _, err := kind.Open(t.Context(), nemesis.Setting{Nodes: 2}, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMissingServer(t *testing.T) {
	storetest.MissingServer(t, opens(Store{}), Store{}.Version, "redis-server")
}

// Servers that are too old, or do not start, are named.
func TestUnfitServers(t *testing.T) {
	for script, want := range map[string]string{
		"echo Redis server v=6.2.7 sha=0":                                        "redis-sentinel 6.2.7 is too old: want 7.0 or newer",
		`[ "$1" = --version ] && echo v=7.0.1 && exit; echo out of luck; exit 1`: "out of luck",
	} {
		tmp := storetest.OwnTemp(t)
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "redis-server"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		_, err := Store{}.Servers().Fleet(t.Context(), nemesis.Setting{Nodes: 3}, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if left := storetest.Entries(t, tmp); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// Another server is found by its path.
func TestBinary(t *testing.T) {
	found, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/usr/bin:/bin") // for the shell
	other := filepath.Join(t.TempDir(), "other-server")
	if err := os.WriteFile(other, []byte("#!/bin/sh\nexec "+found+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	kind := Store{Binary: other}
	f := storetest.Open(t, func(ctx context.Context) (live.Fleet, error) {
		return kind.Open(ctx, nemesis.Setting{Nodes: 3}, 1)
	})
	f.Create(expiring("a/x", "", long))
	if name := f.Servers[0].(*Server).Name; !strings.HasPrefix(name, "other-server") || kind.Version(t.Context()) == "" {
		t.Errorf("%s, version %q", name, kind.Version(t.Context()))
	}
}

// Only errors after which a command certainly has no effect are [env.ErrNoLeader].
func TestRefusals(t *testing.T) {
	for text, noEffect := range map[resp.Error]bool{
		"READONLY You can't write against a read only replica.": true,
		"LOADING Redis is loading the dataset in memory":        true,
		"UNBLOCKED force unblock from blocking operation":       false,
		"MOVED": false,
	} {
		if err := refusal(text); errors.Is(err, env.ErrNoLeader) != noEffect || !strings.Contains(err.Error(), string(text)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	to := redirection{}
	if err := refusal("MOVED 866 127.0.0.1:7001"); !errors.As(err, &to) || to != (redirection{7001}) {
		t.Errorf("MOVED: %v", err)
	}
}

// long is a TTL that no key of a test reaches.
const long = 10 * time.Minute

// expiring returns the request that creates a key which expires by itself.
func expiring(key, value string, ttl time.Duration) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: value, TTL: ttl, Expires: true}
}

// renewal returns the request that renews an entry at its revision.
func renewal(e env.Entry, ttl time.Duration) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreRenew, Key: e.Key, Revision: e.Revision, TTL: ttl}
}

// deletion returns the request that deletes an entry at its revision.
func deletion(e env.Entry) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreDelete, Key: e.Key, Revision: e.Revision}
}

// A master of a cluster hands over to a replica, which has every key that it has, and requests that it held back
// meanwhile are carried out by the next one.
func TestHandOver(t *testing.T) {
	f := storetest.Open(t, opens(Store{Cluster: true}))
	want := []env.Entry{f.Create(expiring("a/0", "first", long))}
	before := settle(f, Store{Cluster: true})
	do := func(words ...string) {
		t.Helper()
		if _, err := before.Do(t.Context(), words...); err != nil {
			t.Fatal(err)
		}
	}
	do("CLIENT", "PAUSE", "1000000000", "WRITE")
	created := make(chan env.Entry)
	go func() { created <- f.Insist(expiring("a/1", "second", long)).Entries[0] }()
	storetest.Eventually(t, "the master holds the request back", func() bool {
		info, err := before.Do(t.Context(), "INFO", "clients")
		return err == nil && !strings.Contains(fmt.Sprint(info), "blocked_clients:0\r\n")
	})
	if err := before.HandOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-created:
		t.Errorf("a master that pauses its clients has created %+v", e)
	default:
	}
	do("CLIENT", "UNPAUSE")
	want = append(want, <-created)
	if after := settle(f, Store{Cluster: true}); after == before {
		t.Errorf("%s is still the master", after.Name)
	}
	if got := f.Insist(listA).Entries; !reflect.DeepEqual(got, want) {
		t.Errorf("there are %+v, not %+v", got, want)
	}
	if err := before.HandOver(t.Context()); err != nil { // it leads no more
		t.Error(err)
	}
}
