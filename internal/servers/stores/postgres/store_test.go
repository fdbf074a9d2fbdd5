//go:build linux

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
)

// patience is how long tests wait for what has to happen.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	testkit.OrphanMain(m, func(_ string, tell func(...any)) error {
		f, err := Open(context.Background(), setting(3), 1)
		if err == nil {
			var pids []any
			for _, s := range f.Servers {
				for _, p := range s.(*Server).processes() {
					pids = append(pids, p.Pid)
				}
			}
			tell(pids...)
		}
		return err
	})
}

func setting(nodes int, changes ...func(*nemesis.Setting)) nemesis.Setting {
	s := nemesis.Setting{Nodes: nodes, Store: &nemesis.Store{
		Election: nemesis.Distribution{Range: nemesis.Range{Min: 50 * time.Millisecond, Max: 100 * time.Millisecond}},
		Commit:   nemesis.Distribution{Range: nemesis.Range{Min: time.Millisecond, Max: 2 * time.Millisecond}},
	}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// asynchronous makes replication so slow that it never arrives.
func asynchronous(s *nemesis.Setting) {
	s.Store.Asynchronous = true
	s.Store.Commit.Range = nemesis.Range{Min: time.Second, Max: time.Second}
}

// ownTemp makes the test's directory for temporary files one that the servers can enter.
func ownTemp(t *testing.T) string {
	tmp := t.TempDir()
	if err := os.Chmod(filepath.Dir(tmp), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	return tmp
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// sharedMemory returns the System V segments that belong to servers of this machine.
func sharedMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// fleet is a fleet with a record of its leaders.
type fleet struct {
	live.Fleet
	mu      sync.Mutex
	leaders []int
}

func (f *fleet) server(node int) *Server { return f.Servers[node-1].(*Server) }

func (f *fleet) led() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.leaders)
}

// leader waits for a leader other than some, and returns it.
func (f *fleet) leader(t *testing.T, not ...int) int {
	t.Helper()
	led := 0
	eventually(t, "there is a new leader", func() bool {
		all := f.led()
		if len(all) > 0 {
			led = all[len(all)-1]
		}
		return led != 0 && !slices.Contains(not, led)
	})
	return led
}

func openFleet(t *testing.T, s nemesis.Setting) *fleet {
	t.Helper()
	tmp := ownTemp(t)
	before := sharedMemory(t)
	began := time.Now()
	opened, err := Open(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d servers after %v", s.Nodes, time.Since(began))
	f := &fleet{Fleet: opened}
	f.Keys(func(e history.Event, _ env.Instant) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.leaders = append(f.leaders, e.Node)
	})
	t.Cleanup(func() {
		select {
		case err := <-f.Died:
			t.Error(err)
		default:
		}
		var pids []int
		for _, s := range f.Servers {
			for _, p := range s.(*Server).processes() {
				pids = append(pids, p.Pid)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if left := entries(t, tmp); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		for _, pid := range pids {
			eventually(t, "all processes are gone", func() bool { return !alive(pid) })
		}
		if after := sharedMemory(t); after > before {
			t.Errorf("shared memory left behind: %d segments, there were %d", after-1, before-1)
		}
	})
	return f
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return !strings.Contains(string(stat), ") Z ")
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", patience, what)
		}
	}
}

// session is a client in a test.
type session struct {
	t *testing.T
	live.StoreClient
}

func (f *fleet) connect(t *testing.T, first int) session {
	t.Helper()
	var addrs []string
	for i := range f.Servers {
		addrs = append(addrs, f.Servers[(first-1+i)%len(f.Servers)].Addr())
	}
	c, err := Store{}.Connect(addrs, func(ctx context.Context, addr string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return session{t, c}
}

// ask repeats a request until it is answered.
func (s session) ask(r env.StoreRequest) env.StoreReply {
	s.t.Helper()
	var reply env.StoreReply
	eventually(s.t, fmt.Sprintf("%v is answered", r.Op), func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
		defer cancel()
		var err error
		reply, err = s.Do(ctx, r)
		return err == nil
	})
	return reply
}

func (s session) create(key, value string) env.StoreReply {
	s.t.Helper()
	return s.ask(env.StoreRequest{Op: env.StoreCreate, Key: key, Value: value})
}

func (s session) keys(prefix string) (keys []string) {
	s.t.Helper()
	for _, e := range s.ask(env.StoreRequest{Op: env.StoreList, Key: prefix}).Entries {
		keys = append(keys, e.Key)
	}
	return keys
}

func TestOperations(t *testing.T) {
	f := openFleet(t, setting(3))
	c := f.connect(t, 2) // a standby: it is found out
	first := c.create("a/2", "x")
	if !first.Done || len(first.Entries) != 1 || first.Entries[0].Value != "x" || first.Entries[0].Revision == 0 {
		t.Fatalf("created %+v", first)
	}
	if again := c.create("a/2", "y"); again.Done || !slices.Equal(again.Entries, first.Entries) {
		t.Errorf("created twice: %+v", again)
	}
	second := c.create("a/1", "y")
	c.create("b", "z")
	c.create("a_", "z")
	if keys := c.keys("a/"); !slices.Equal(keys, []string{"a/2", "a/1"}) {
		t.Errorf("the list is %v", keys)
	}
	revision := second.Entries[0].Revision
	if revision <= first.Entries[0].Revision {
		t.Errorf("revisions %d, then %d", first.Entries[0].Revision, revision)
	}
	del := func(key string, revision uint64) bool {
		return c.ask(env.StoreRequest{Op: env.StoreDelete, Key: key, Revision: revision}).Done
	}
	if del("a/1", revision+1) {
		t.Error("deleted another revision")
	}

	await := env.StoreRequest{Op: env.StoreAwait, Key: "a/1", Revision: revision}
	gone := make(chan env.StoreReply)
	go func() {
		reply, err := c.Do(t.Context(), await)
		if err != nil {
			t.Error(err)
		}
		gone <- reply
	}()
	if !del("a/1", revision) || !del("b", 0) || del("b", 0) {
		t.Error("an entry is deleted once, by its revision or any")
	}
	if reply := <-gone; !reply.Done {
		t.Errorf("awaited %+v", reply)
	}
	if reply := c.ask(await); !reply.Done {
		t.Errorf("awaited %+v", reply)
	}
	if later := c.create("a/1", "z"); !later.Done || later.Entries[0].Revision <= revision {
		t.Errorf("created anew: %+v", later)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	await.Revision = c.create("a/1", "z").Entries[0].Revision
	if _, err := c.Do(ctx, await); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that is given up: %v", err)
	}
}

func TestRowsAreSweptAfterTheirTTL(t *testing.T) {
	f := openFleet(t, setting(1))
	c := f.connect(t, 1)
	row := func(key string, ttl time.Duration) { c.ask(env.StoreRequest{Op: env.StoreCreate, Key: key, TTL: ttl}) }
	row("r/short", time.Microsecond)
	row("r/long", time.Hour)
	row("s/short", time.Microsecond)
	row("r/none", 0)
	eventually(t, "the row is swept", func() bool {
		c.ask(env.StoreRequest{Op: env.StoreSweep, Key: "r/"})
		return slices.Equal(c.keys("r/"), []string{"r/long", "r/none"})
	})
	if keys := c.keys("s/"); len(keys) != 1 {
		t.Errorf("other rows: %v", keys)
	}
	for _, r := range []env.StoreRequest{
		{Op: env.StoreOpen, TTL: time.Second}, {Op: env.StoreKeep, Session: 1}, {Op: env.StoreClose, Session: 1},
		{Op: env.StoreCreate, Key: "k", Session: 1}, {Op: env.StoreCreate, Key: "k", Sequential: true},
	} {
		if _, err := c.Do(t.Context(), r); !errors.Is(err, live.ErrStoreOp) || errors.Is(err, env.ErrNoLeader) {
			t.Errorf("%v: %v", r.Op, err)
		}
	}
}

// Of many clients that create the same entry, each holder's revision is above those before.
func TestRevisionsIncreaseUnderContention(t *testing.T) {
	f := openFleet(t, setting(3))
	var mu sync.Mutex
	var last uint64
	var all sync.WaitGroup
	for range 8 {
		c := f.connect(t, 1)
		all.Go(func() {
			for range 30 {
				reply, err := c.Do(t.Context(), env.StoreRequest{Op: env.StoreCreate, Key: "k"})
				if err != nil {
					t.Error(err)
					return
				}
				if !reply.Done {
					continue
				}
				mu.Lock()
				if got := reply.Entries[0].Revision; got <= last {
					t.Errorf("revision %d after %d", got, last)
				} else {
					last = got
				}
				mu.Unlock()
				if reply, err := c.Do(t.Context(), env.StoreRequest{Op: env.StoreDelete, Key: "k", Revision: reply.Entries[0].Revision}); err != nil || !reply.Done {
					t.Error(reply, err)
				}
			}
		})
	}
	all.Wait()
}

// replace makes a primary fail and come back, twice, and checks that nothing is lost.
func replace(t *testing.T, fail func(*Server), back func(*Server)) {
	f := openFleet(t, setting(3))
	c := f.connect(t, 1)
	leader := 1
	var keys []string
	for round := range 3 {
		for i := range 5 {
			keys = append(keys, fmt.Sprintf("k/%d/%d", round, i))
			c.create(keys[len(keys)-1], "")
		}
		fail(f.server(leader))
		next := f.leader(t, leader)
		if got := c.keys("k/"); !slices.Equal(got, keys) {
			t.Fatalf("after node %d there is %v, want %v", leader, got, keys)
		}
		c.create(fmt.Sprintf("other/%d", round), "")
		back(f.server(leader))
		c.inSync(f, next)
		leader = next
	}
	want := 0
	for i, led := range f.led() {
		if (led == 0) != (i%2 == 0) {
			t.Errorf("leaders were %v", f.led())
			break
		}
		want = led
	}
	if want != leader {
		t.Errorf("the last leader is %d, not %d", want, leader)
	}
	// A deposed primary is a standby.
	for node := 1; node <= 3; node++ {
		var standby bool
		if err := f.server(node).ask(t.Context(), "select pg_is_in_recovery()", &standby); err != nil || standby == (node == leader) {
			t.Errorf("node %d: standby %v (%v), and node %d leads", node, standby, err, leader)
		}
	}
}

// inSync waits until all other servers replicate from the leader.
func (s session) inSync(f *fleet, leader int) {
	s.t.Helper()
	eventually(s.t, "all standbys are in sync", func() bool {
		var n int
		err := f.server(leader).ask(s.t.Context(), "select count(*) from pg_stat_replication where application_name like 'node%' and state = 'streaming'", &n)
		return err == nil && n == len(f.Servers)-1
	})
}

func TestPrimaryIsKilled(t *testing.T) {
	replace(t, (*Server).Kill, func(s *Server) {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPrimaryIsShutDown(t *testing.T) {
	replace(t, (*Server).Quit, func(s *Server) {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPrimaryIsStopped(t *testing.T) {
	replace(t, func(s *Server) {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}, func(s *Server) {
		if err := s.Continue(); err != nil {
			t.Fatal(err)
		}
	})
}

// A stopped server answers nothing, not even over connections that are open, and can be
// killed.
func TestStoppedServerIsSilent(t *testing.T) {
	f := openFleet(t, setting(1))
	c := f.connect(t, 1)
	c.create("k", "")
	if err := f.server(1).Stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if reply, err := c.Do(ctx, env.StoreRequest{Op: env.StoreList}); err == nil {
		t.Errorf("answered %v", reply)
	}
	f.server(1).Kill()
	if left := f.server(1).processes(); len(left) > 0 {
		t.Errorf("%d processes are left", len(left))
	}
	if err := f.server(1).Continue(); err != nil {
		t.Error(err)
	}
	if err := f.server(1).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := c.keys("k"); len(keys) != 1 {
		t.Errorf("after the restart: %v", keys)
	}
}

// Without a majority nobody is elected, requests have no effect, and nothing is lost.
func TestNoElectionWithoutMajority(t *testing.T) {
	f := openFleet(t, setting(3))
	c := f.connect(t, 1)
	c.create("k", "")
	f.server(2).Kill()
	f.server(1).Kill()
	_, _ = c.Do(t.Context(), env.StoreRequest{Op: env.StoreList}) // over a connection that has ended
	for range 2 * len(f.Servers) {
		if _, err := c.Do(t.Context(), env.StoreRequest{Op: env.StoreCreate, Key: "never"}); !errors.Is(err, env.ErrNoLeader) {
			t.Fatalf("without a leader: %v", err)
		}
	}
	if led := f.led(); !slices.Equal(led, []int{0}) {
		t.Errorf("leaders were %v", led)
	}
	for _, node := range []int{1, 2} {
		if err := f.server(node).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if keys := c.keys(""); !slices.Equal(keys, []string{"k"}) {
		t.Errorf("afterwards: %v", keys)
	}
	c.inSync(f, f.leader(t))
}

// All servers fail at once and come back in any order.
func TestAllServersFail(t *testing.T) {
	f := openFleet(t, setting(3))
	c := f.connect(t, 3)
	for round, order := range [][]int{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}} {
		c.create(fmt.Sprint(round), "")
		for _, node := range order {
			f.server(node).Kill()
		}
		for _, node := range order {
			if err := f.server(node).Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if keys := c.keys(""); len(keys) != round+1 {
			t.Fatalf("after round %d: %v", round, keys)
		}
		c.inSync(f, f.leader(t))
	}
}

func TestAsynchronousFailoverLosesWhatWasOnItsWay(t *testing.T) {
	f := openFleet(t, setting(3, asynchronous))
	c := f.connect(t, 1)
	c.create("early", "")
	eventually(t, "the first entry has arrived", func() bool {
		var n int
		return f.server(2).ask(t.Context(), "select count(*) from entries", &n) == nil && n == 1 &&
			f.server(3).ask(t.Context(), "select count(*) from entries", &n) == nil && n == 1
	})
	c.create("late", "")
	f.server(1).Kill()
	f.leader(t, 1)
	if keys := c.keys(""); !slices.Equal(keys, []string{"early"}) {
		t.Errorf("after the failover: %v", keys)
	}
	if err := f.server(1).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.inSync(f, f.leader(t))
	if keys := c.keys(""); !slices.Equal(keys, []string{"early"}) {
		t.Errorf("after the restart: %v", keys)
	}
}

func TestClockOfAServerCanBeSet(t *testing.T) {
	f := openFleet(t, setting(1, func(s *nemesis.Setting) {
		s.Plan = nemesis.Plan{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: time.Hour}}}
	}))
	c := f.connect(t, 1)
	row := func() { c.ask(env.StoreRequest{Op: env.StoreCreate, Key: "row", TTL: 10 * time.Minute}) }
	sweep := func() []string { c.ask(env.StoreRequest{Op: env.StoreSweep}); return c.keys("") }
	row()
	if keys := sweep(); len(keys) != 1 {
		t.Errorf("swept too early: %v", keys)
	}
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 3 * time.Hour} {
		if err := f.server(1).SetClock(ahead, 0); err != nil {
			t.Fatal(err)
		}
		var shown time.Time
		if err := f.server(1).ask(t.Context(), "select clock_timestamp()", &shown); err != nil {
			t.Fatal(err)
		}
		if off := time.Until(shown) - ahead; off.Abs() > 10*time.Minute {
			t.Errorf("the clock is off by %v", off)
		}
		if keys := sweep(); (len(keys) == 0) != (ahead > 0) {
			t.Errorf("%v ahead: %v", ahead, keys)
		}
		row()
	}
	if err := f.server(1).SetClock(0, -1_000_000); err != nil { // frozen
		t.Fatal(err)
	}
	f.server(1).Kill()
	if err := f.server(1).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.keys("")
}

func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) {
	tmp, before := ownTemp(t), sharedMemory(t)
	o := testkit.StartOrphan(t, "")
	if len(entries(t, tmp)) != 1 {
		t.Fatalf("one directory is wanted, there are %v", entries(t, tmp))
	}
	o.Kill(t)
	for _, told := range o.Told {
		pid, err := strconv.Atoi(told)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
	}
	eventually(t, "the directory is gone", func() bool { return len(entries(t, tmp)) == 0 })
	eventually(t, "the shared memory is gone", func() bool { return sharedMemory(t) <= before })
}

func TestMissingServer(t *testing.T) {
	was := installed
	installed = filepath.Join(t.TempDir(), "*")
	defer func() { installed = was }()
	t.Setenv("PATH", "")
	tmp := ownTemp(t)
	_, err := Open(t.Context(), setting(1), 1)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Errorf("the error is %v", err)
	}
	if left := entries(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if v := Version(t.Context()); v != "" {
		t.Errorf("version %q", v)
	}
}

func TestVersion(t *testing.T) {
	if v := Version(t.Context()); v == "" {
		t.Error("no version: apt-get install postgresql")
	}
}
