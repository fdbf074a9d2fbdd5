//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/doctor"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// What a person sees of servers with findings of each severity, with figures that do not change.
func TestGoldenDoctor(t *testing.T) {
	f := servertest.Open(t, redisserver.Options{Nodes: 3, AppendOnly: true})
	servertest.Do(t, f.Server(2), "CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru")
	servertest.Do(t, f.Server(3), "CONFIG SET maxmemory-policy volatile-lru")
	servertest.Do(t, f.Server(3), "ACL SETUSER watcher on >secret ~* +@all -acl")
	asked := []string{f.Server(1).Addr(), f.Server(2).Addr(), "redis://watcher:secret@" + f.Server(3).Addr()}
	r, err := doctor.Examine(t.Context(), asked, doctor.Options{Pings: 3, PingInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer(f.Server(1).Addr(), "r1:6379", f.Server(2).Addr(), "r2:6379", f.Server(3).Addr(), "r3:6379")
	for i := range r.Servers {
		s := &r.Servers[i]
		s.Address, s.Version, s.Uptime = names.Replace(s.Address), "7.0.15", doctor.Duration(90*time.Minute)
		s.RoundTrip = &doctor.RoundTrip{Samples: 3, Median: doctor.Duration(210 * time.Microsecond), P99: doctor.Duration(1200 * time.Microsecond)}
		s.Clock = &doctor.Clock{Ahead: doctor.Duration(-1500 * time.Microsecond), Error: doctor.Duration(100 * time.Microsecond)}
	}
	for i := range r.Findings {
		g := &r.Findings[i]
		for j := range g.Servers {
			g.Servers[j] = names.Replace(g.Servers[j])
		}
		switch g.Check {
		case "clocks":
			g.Setting = "TIME: 0.3 ms apart, ± 0.2 ms"
		case "commands":
			g.Setting = "redis_version 7.0.15"
		case "machine":
			g.Setting = "host r"
		}
	}
	for file, markdown := range map[string]bool{"servers.txt": false, "servers.md": true} {
		var out bytes.Buffer
		printDoctor(&out, r, markdown)
		testkit.GoldenFile(t, filepath.Join("testdata/doctor", file), out.String(), "what doctor prints of servers has changed")
	}
}

// The exit code says what is known, and JSON is what tune reads.
func TestDoctorExitCodes(t *testing.T) {
	t.Parallel()
	f := servertest.Open(t, redisserver.Options{Nodes: 2, AppendOnly: true})
	addresses := []string{f.Server(1).Addr(), f.Server(2).Addr()}
	doctorSays := func(code int, args ...string) (out, problems string) {
		t.Helper()
		got, out, problems := command(t, append([]string{"doctor"}, args...)...)
		want(t, fmt.Sprint("exit code of ", args), got, code)
		return out, problems
	}
	out, _ := doctorSays(exitAsExpected, append(addresses, "--write", "--format", "json")...)
	if !json.Valid([]byte(out)) {
		t.Errorf("no JSON: %s", out)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	write(t, file, out)
	code, advice, problems := command(t, "tune", file, "hold=20ms", "clocks.rate_ppm=500", "--runs", "2")
	want(t, "exit code of tune "+problems, code, exitAsExpected)
	wantIn(t, advice, "recommended")

	doctorSays(exitUndecided, addresses[0], "127.0.0.1:1")
	servertest.Do(t, f.Server(2), "CONFIG SET requirepass secret")
	_, problems = doctorSays(exitBadInput, addresses[0], "redis://:SECRET@"+addresses[1])
	want(t, "problems", problems, "lockstorm: "+addresses[1]+": it rejects the user or the password\n")
	servertest.Do(t, f.Server(1), "CONFIG SET appendonly no")
	out, _ = doctorSays(exitContradiction, addresses[0])
	wantIn(t, out, "1 finding breaks an assumption of Redlock", "lockstorm run crash-restart")
}
