//go:build linux

package doctor

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var quick = Options{Pings: 5, PingInterval: time.Millisecond}

// sound starts servers against which there is nothing to say.
func sound(t *testing.T, nodes int) (f *redisserver.Fleet, addresses []string) {
	t.Helper()
	f = servertest.Open(t, redisserver.Options{Nodes: nodes, AppendOnly: true})
	for _, s := range f.Servers() {
		addresses = append(addresses, s.Addr())
	}
	return f, addresses
}

func examine(t *testing.T, o Options, addresses ...string) Report {
	t.Helper()
	r, err := Examine(t.Context(), addresses, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// severe returns what is not fine, as "severity check row", but for the machine that all servers of tests share.
func severe(r Report) (list []string) {
	for _, f := range r.Findings {
		if f.Severity != Fine && f.Check != "machine" {
			list = append(list, strings.TrimSpace(fmt.Sprint(f.Severity, " ", f.Check, " ", f.Row)))
		}
	}
	slices.Sort(list)
	return list
}

func wantSevere(t *testing.T, r Report, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := severe(r); !slices.Equal(got, want) {
		text, _ := json.MarshalIndent(r.Findings, "", " ")
		t.Errorf("found %q, want %q in %s", got, want, text)
	}
}

// Law: each trouble names an assumption of the checker, and a scenario that exists.
func TestTroublesNameWhatExists(t *testing.T) {
	for name, trouble := range troubles {
		if !slices.Contains(checker.Assumptions(), trouble.assumption) {
			t.Errorf("%s: unknown assumption %q", name, trouble.assumption)
		}
		if _, err := scenarios.Find(trouble.row); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Sound servers pass, and nothing is written to them. Their facts are a file for tune.
func TestSoundServers(t *testing.T) {
	f, addresses := sound(t, 3)
	r := examine(t, quick, addresses...)
	wantSevere(t, r)
	if r.Verdict != Fine || len(r.Servers) != 3 {
		t.Errorf("%+v", r)
	}
	for _, s := range r.Servers {
		if s.Version == "" || s.Role != "master" || s.RoundTrip == nil || s.RoundTrip.Samples != 5 || s.RoundTrip.Most < s.RoundTrip.Median || s.Clock == nil || s.Clock.Error <= 0 {
			t.Errorf("%+v", s)
		}
	}
	for _, s := range f.Servers() {
		stats := fmt.Sprint(servertest.Do(t, s, "INFO commandstats"))
		for _, writes := range []string{"cmdstat_set", "cmdstat_eval", "cmdstat_del"} {
			if strings.Contains(stats, writes) {
				t.Errorf("without --write the server was sent %s", writes)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Write(t, file, string(text))
	q := tune.Usual()
	q.Broken = []string{"eviction on r1:6379, before it was mended"}
	if err := q.Read(file); err != nil || len(q.Broken) > 0 || q.Nodes != 3 || len(q.RoundTrip.Samples) != 15 || q.Crashes.Persistence != nemesis.Always {
		t.Errorf("tune reads %+v, %v", q, err)
	}
}

// Each bad setting is found, and nothing else.
func TestBadSettings(t *testing.T) {
	for name, c := range map[string]struct {
		set  []string
		want []string
		kept string
	}{
		"volatile eviction":      {[]string{"CONFIG SET maxmemory 100mb maxmemory-policy volatile-ttl"}, []string{"broken eviction evicted-key"}, "aof-always"},
		"eviction of all":        {[]string{"CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru"}, []string{"broken eviction evicted-allkeys"}, "aof-always"},
		"eviction without limit": {[]string{"CONFIG SET maxmemory-policy allkeys-lru"}, []string{"note eviction evicted-key"}, "aof-always"},
		"synced each second":     {[]string{"CONFIG SET appendfsync everysec"}, []string{"broken persistence aof-everysec", "note uptime crash-restart"}, "aof-everysec"},
		"never synced":           {[]string{"CONFIG SET appendfsync no"}, []string{"broken persistence aof-everysec", "note uptime crash-restart"}, "none"},
		"not synced at a save":   {[]string{"CONFIG SET no-appendfsync-on-rewrite yes"}, []string{"broken persistence aof-everysec", "note uptime crash-restart"}, "none"},
		"snapshots only":         {[]string{"CONFIG SET appendonly no", "CONFIG SET save 3600"}, []string{"broken persistence rdb-restart", "note uptime crash-restart"}, "none"},
		"no persistence":         {[]string{"CONFIG SET appendonly no"}, []string{"broken persistence crash-restart", "note uptime crash-restart"}, "none"},
		"replica":                {[]string{"REPLICAOF 127.0.0.1 1"}, []string{"broken replication failover"}, "aof-always"},
	} {
		t.Run(name, func(t *testing.T) {
			f, addresses := sound(t, 1)
			for _, command := range c.set {
				if strings.HasSuffix(command, "save 3600") {
					command = "CONFIG SET save 3600\x001"
				}
				words := strings.Fields(command)
				words[len(words)-1] = strings.ReplaceAll(words[len(words)-1], "\x00", " ")
				if _, err := f.Server(1).Do(t.Context(), words...); err != nil {
					t.Fatal(err)
				}
			}
			r := examine(t, quick, addresses...)
			wantSevere(t, r, c.want...)
			if got := r.Facts.Crashes["persistence"]; got != c.kept {
				t.Errorf("a restart keeps %s, want %s", got, c.kept)
			}
			var broken []string
			for _, found := range c.want { // persistence is a fact of its own
				if words := strings.Fields(found); words[0] == "broken" && words[1] != "persistence" {
					broken = append(broken, words[1]+" on "+addresses[0])
				}
			}
			if !slices.Equal(r.Facts.Broken, broken) {
				t.Errorf("the facts have %q as broken, want %q", r.Facts.Broken, broken)
			}
		})
	}
}

// daemon starts redis-server with a configuration until the test ends, and returns its address.
func daemon(t *testing.T, lines string, args ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "redis.conf")
	testkit.Write(t, file, fmt.Sprintf("bind 127.0.0.1\nport %d\ndir %s\n%s\n", port, dir, lines))
	cmd := exec.Command("redis-server", append([]string{file}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	address := fmt.Sprintf("127.0.0.1:%d", port)
	eventually(t, "it answers", func() bool { return redisserver.Operator(address).Answers(t.Context()) })
	return address
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error("waited in vain until ", what)
			return
		}
	}
}

func TestReplicasAndFailover(t *testing.T) {
	f, addresses := sound(t, 1)
	host, port, _ := net.SplitHostPort(addresses[0])
	replica := daemon(t, "appendonly yes\nappendfsync always\nreplicaof "+host+" "+port)
	eventually(t, "the replica is connected", func() bool {
		return strings.Contains(fmt.Sprint(servertest.Do(t, f.Server(1), "INFO replication")), "connected_slaves:1")
	})
	wantSevere(t, examine(t, quick, addresses[0], replica), "note replication failover", "broken replication failover")

	sentinel := daemon(t, "sentinel monitor locks "+host+" "+port+" 1", "--sentinel")
	eventually(t, "the Sentinel subscribes", func() bool {
		return fmt.Sprint(servertest.Do(t, f.Server(1), "PUBSUB NUMSUB "+sentinelChannel)) == "["+sentinelChannel+" 1]"
	})
	wantSevere(t, examine(t, quick, addresses...), "broken replication failover")
	r := examine(t, quick, sentinel)
	wantSevere(t, r, "broken replication failover")
	if r.Servers[0].Role != "sentinel" || r.Facts.Nodes != 0 {
		t.Errorf("%+v, %+v", r.Servers, r.Facts)
	}

	cluster := daemon(t, "cluster-enabled yes\nappendonly yes\nappendfsync always")
	wantSevere(t, examine(t, quick, cluster), "broken replication failover")
}

// A server on which a command of a lock is disabled.
func TestDisabledCommand(t *testing.T) {
	address := daemon(t, "appendonly yes\nappendfsync always\nrename-command EVAL \"\"")
	wantSevere(t, examine(t, quick, address), "broken commands duplicate-delete", "unread rights")
}

func TestOneServerBehindTwoAddresses(t *testing.T) {
	_, addresses := sound(t, 2)
	_, port, _ := net.SplitHostPort(addresses[0])
	again := "localhost:" + port
	r := examine(t, quick, addresses[0], addresses[1], again)
	wantSevere(t, r, "broken identity crash-restart")
	if f := r.Findings[0]; !slices.Equal(f.Servers, []string{addresses[0], again}) {
		t.Errorf("%v", f.Servers)
	}
	if f := r.Findings[1]; f.Check != "machine" || !slices.Equal(f.Servers, addresses) {
		t.Errorf("one machine: %+v", f)
	}
	if r.Facts.Nodes != 2 {
		t.Errorf("%d nodes", r.Facts.Nodes)
	}
}

func TestClocksApart(t *testing.T) {
	f := servertest.Open(t, redisserver.Options{Nodes: 2, AppendOnly: true, Clocks: true})
	if err := f.Server(2).SetClock(3*time.Second, 0); err != nil {
		t.Fatal(err)
	}
	r := examine(t, quick, f.Server(1).Addr(), f.Server(2).Addr())
	wantSevere(t, r, "note clocks node-clock-jump")
	if step := time.Duration(r.Facts.Clocks["largest_step"]); step < 3*time.Second || step > 4*time.Second {
		t.Errorf("a step of %v", step)
	}
}

// Each server has its own credentials: in its URL, or in the environment.
func TestCredentials(t *testing.T) {
	f, addresses := sound(t, 3)
	servertest.Do(t, f.Server(1), "CONFIG SET requirepass one")
	servertest.Do(t, f.Server(2), "ACL SETUSER admin on >two ~* +@all")
	servertest.Do(t, f.Server(2), "ACL SETUSER default off")
	servertest.Do(t, f.Server(3), "CONFIG SET requirepass three")
	t.Setenv(PasswordEnv, "three")
	wantSevere(t, examine(t, quick, "redis://:one@"+addresses[0], "redis://admin:two@"+addresses[1], addresses[2]))

	for address, want := range map[string]string{
		"redis://:SECRET@" + addresses[0]: "rejects the user or the password",
		"redis://u:SECRET@a:1/x":          "want HOST:PORT",
		"redis://u:SECRET@a":              "want HOST:PORT",
		"u:SECRET@a:1:1":                  "want HOST:PORT",
		"redis://u:SECRET%zz@a:1":         "want HOST:PORT",
		"http://u:SECRET@a:1":             "want HOST:PORT",
		"redis://u:SECRET@a:1?ca=x":       "need rediss",
		"redis://u:SECRET@a:1?nonsense=1": "nonsense",
	} {
		_, err := Examine(t.Context(), []string{addresses[1], address}, quick)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", address, err)
		}
	}
	t.Setenv(PasswordEnv, "")
	if _, err := Examine(t.Context(), addresses[2:], quick); err == nil || !strings.Contains(err.Error(), addresses[2]+": it requires a password") {
		t.Errorf("without a password: %v", err)
	}
}

// A command that the user may not use is not read, and never fine.
func TestRights(t *testing.T) {
	f, addresses := sound(t, 1)
	as := "redis://locker:secret@" + addresses[0]
	for rights, want := range map[string][]string{
		"~* +@all -config":       {"unread persistence", "note uptime crash-restart"},
		"~* +@all -config -info": {"unread persistence", "unread eviction", "unread replication", "unread uptime"},
		"~* +@all -time":         {"unread clocks"},
		"~* +@all -acl":          {"unread rights"},
		"~* +@all -eval":         {"broken rights majority-partition"},
		"~* +@all -pubsub":       {"unread replication"},
		"~* +@all -command":      {"unread commands"},
		"~* +@all -ping":         {"unread round trips"},
		"~app:* +@all":           nil,
	} {
		servertest.Do(t, f.Server(1), "ACL SETUSER locker reset on >secret "+rights)
		wantSevere(t, examine(t, quick, as), want...)
	}
	write := quick
	write.Write = true
	servertest.Do(t, f.Server(1), "ACL SETUSER locker reset on >secret ~* +@all -eval")
	wantSevere(t, examine(t, write, as), "broken rights majority-partition", "broken a lock's commands majority-partition")
	servertest.Do(t, f.Server(1), "CONFIG SET min-replicas-to-write 1")
	wantSevere(t, examine(t, write, addresses...), "broken a lock's commands majority-partition")
	servertest.Do(t, f.Server(1), "CONFIG SET min-replicas-to-write 0")
	wantSevere(t, examine(t, write, addresses...))
	if keys := servertest.Do(t, f.Server(1), "DBSIZE"); keys != int64(0) {
		t.Errorf("%v keys are left", keys)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel() // it waits for a timeout
	f, addresses := sound(t, 1)
	authority := testkit.NewAuthority(t)
	address := authority.Secure(t, f.Server(1))
	client := "&cert=" + authority.File("node.pem") + "&key=" + authority.File("node.key")
	wantSevere(t, examine(t, quick, "rediss://"+address+"?ca="+authority.File("ca.pem")+client))
	for url, want := range map[string]string{
		"rediss://" + address + "?" + client:                        "not trusted",
		"rediss://" + address + "?ca=" + authority.File("ca.pem"):   "cert=FILE",
		"rediss://" + address + "?ca=" + authority.File("node.key"): "has no certificate",
		"redis://" + address:                                        "TLS",
		"rediss://" + addresses[0]:                                  "TLS",
	} {
		if _, err := Examine(t.Context(), []string{url}, quick); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

// A server that hangs, or that nobody can reach, is not read; it does not hide the others.
func TestServersThatDoNotReply(t *testing.T) {
	t.Parallel() // it waits for a timeout
	f, addresses := sound(t, 2)
	if err := f.Server(2).Stop(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Server(2).Continue() }()
	r := examine(t, quick, append(addresses, "127.0.0.1:1")...)
	wantSevere(t, r, "unread connection", "unread connection")
	if r.Facts.Nodes != 1 || !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Check == "machine" && len(f.Servers) == 3 }) {
		t.Errorf("%d nodes, %+v", r.Facts.Nodes, r.Findings)
	}
	if _, err := Examine(t.Context(), []string{"127.0.0.1:1"}, quick); err == nil || !strings.HasPrefix(err.Error(), "127.0.0.1:1: ") {
		t.Errorf("nobody there: %v", err)
	}
}

// A server that stops while it is read is not fine.
func TestServerThatStopsHalfWay(t *testing.T) {
	t.Parallel() // it waits for a timeout
	f, addresses := sound(t, 1)
	defer func() { _ = f.Server(1).Continue() }()
	go func() {
		pinged := regexp.MustCompile(`cmdstat_ping:calls=\d\d`)
		eventually(t, "it has been sent PINGs", func() bool {
			stats, _ := f.Server(1).Do(t.Context(), "INFO", "commandstats")
			return pinged.MatchString(fmt.Sprint(stats))
		})
		_ = f.Server(1).Stop()
	}()
	wantSevere(t, examine(t, Options{Pings: 100_000, PingInterval: 10 * time.Millisecond}, addresses...), "unread round trips")
}

func TestNotARedis(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	address := strings.TrimPrefix(web.URL, "http://")
	if _, err := Examine(t.Context(), []string{address}, quick); err == nil || !strings.HasPrefix(err.Error(), address+": not a Redis server") {
		t.Errorf("%v", err)
	}
}
