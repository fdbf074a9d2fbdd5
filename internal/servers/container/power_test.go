//go:build linux

package container

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// A loss of power takes what was written after the last sync, and nothing else; where
// each write is synced it takes nothing.
func TestContainerLosesPower(t *testing.T) {
	const never = time.Hour
	for name, c := range map[string]struct {
		options Options
		kept    string
	}{
		"every second": {Options{Nodes: 1, AppendOnly: true, EverySecond: true, Power: true}, "redis: nil"},
		"always":       {Options{Nodes: 1, AppendOnly: true}, "token"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openFleet(t, c.options).Server(1)
			s.must(t, "OK", "SET", "old", "token")
			if c.options.EverySecond {
				s.SyncFrom(never) // and what is there is on the disk
			}
			s.must(t, "OK", "SET", "young", "token")
			if err := s.LosePower(aof.Loss{}); err != nil {
				t.Fatal(err)
			}
			s.mustStart(t)
			s.must(t, "token", "GET", "old")
			s.must(t, c.kept, "GET", "young")
			s.must(t, "OK", "SET", "young", "token")
			s.Kill()
			s.mustStart(t)
			s.must(t, "token", "GET", "young") // for a process that dies loses nothing
		})
	}
}

// A container starts with what it had a time before, though it keeps nothing otherwise;
// with a clock of its own as well, for that is another directory that it shares with us.
func TestContainerIsTakenBack(t *testing.T) {
	options := Options{Nodes: 1, Journal: true}
	if _, err := redisserver.FindFakeTime(); err == nil {
		options.Clocks = true
	}
	s := openFleet(t, options).Server(1)
	const age = 300 * time.Millisecond
	s.must(t, "OK", "SET", "old", "token")
	time.Sleep(age)
	then := time.Now()
	time.Sleep(age)
	s.must(t, "OK", "SET", "young", "token")
	if err := s.Restore(time.Since(then)); err != nil {
		t.Fatal(err)
	}
	s.mustStart(t)
	s.must(t, "token", "GET", "old")
	s.must(t, "redis: nil", "GET", "young")
	s.Kill()
	s.mustStart(t)
	s.must(t, "redis: nil", "GET", "old")
}

// Servers that are linked follow one another, on loopback and nowhere else.
func TestContainersThatAreLinked(t *testing.T) {
	f := openFleet(t, Options{Nodes: 2, Linked: []int{1, 2}})
	master, replica := f.Server(1), f.Server(2)
	master.must(t, "[bind 127.0.0.1]", "CONFIG", "GET", "bind")
	master.must(t, "OK", "SET", "key", "token")
	replica.must(t, "OK", "REPLICAOF", "127.0.0.1", fmt.Sprint(master.port.Number()))
	for last := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if reply, err := replica.Do(t.Context(), "GET", "key"); err == nil && reply == "token" {
			break
		}
		if time.Now().After(last) {
			t.Fatal("the key does not come")
		}
	}
	master.Kill()
	replica.must(t, "OK", "REPLICAOF", "NO", "ONE")
	replica.must(t, "token", "GET", "key")
	master.mustStart(t)
	master.must(t, "redis: nil", "GET", "key")
}

// What an engine keeps from us is known before anything is started.
func TestAdmission(t *testing.T) {
	us := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	cut, linked := Options{Journal: true}, Options{Linked: []int{1}}
	for _, c := range []struct {
		options  Options
		security []string
		user     string
		err      error
	}{
		{cut, []string{"name=seccomp,profile=builtin", "name=cgroupns"}, us, nil},
		{linked, nil, us, nil},
		{cut, []string{"name=rootless"}, "0:0", nil},
		{linked, []string{"name=rootless"}, "", errApart},
		{cut, []string{"name=seccomp,profile=builtin", "name=userns"}, "", errOthers},
		{linked, []string{"name=userns"}, "", errOthers},
	} {
		if user, err := admission(c.options, c.security); user != c.user || !errors.Is(err, c.err) {
			t.Errorf("%+v on %v: as %q, %v", c.options, c.security, user, err)
		}
	}
}
