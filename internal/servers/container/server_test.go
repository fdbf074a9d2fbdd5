//go:build linux

package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// A power loss removes writes after the last sync. If every write is synced, it removes nothing.
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

// A container starts with an earlier state, even if it keeps nothing otherwise, and also
// with its own clock, which is in another shared directory.
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

// Linked servers replicate from each other, on loopback only.
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

// Faults that an engine does not support are known before anything is started.
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
		{linked, []string{"name=rootless"}, "", errRootless},
		{cut, []string{"name=seccomp,profile=builtin", "name=userns"}, "", errUsernsRemap},
		{linked, []string{"name=userns"}, "", errUsernsRemap},
	} {
		if user, err := decideUser(c.options, c.security); user != c.user || !errors.Is(err, c.err) {
			t.Errorf("%+v on %v: as %q, %v", c.options, c.security, user, err)
		}
	}
}

func TestMain(m *testing.M) {
	testkit.OrphanMain(m, func(_ string, tell func(...any)) error {
		f, err := OpenFleet(context.Background(), Options{Nodes: 2, AppendOnly: true})
		if err == nil {
			tell(f.Server(1).name, f.Server(2).name, f.image)
		}
		return err
	})
}

// A program that is killed leaves no containers, no image and no files, whichever program
// removes them.
func TestContainersDoNotSurviveAProgramThatIsKilled(t *testing.T) {
	testkit.NeedEngine(t)
	for _, with := range removers {
		t.Run("by "+with, func(t *testing.T) {
			tmp := t.TempDir()
			o := testkit.StartOrphan(t, "", "TMPDIR="+tmp, "PATH="+pathWithout(t, with))
			if left := remaining(t, o.Told); len(o.Told) != 3 || len(left) != 3 {
				t.Fatalf("the program tells of %v; there are %v", o.Told, left)
			}
			o.Kill(t)
			for last := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
				left := remaining(t, o.Told)
				files, _ := filepath.Glob(filepath.Join(tmp, "*"))
				if left = append(left, files...); len(left) == 0 {
					return
				}
				if time.Now().After(last) {
					t.Fatalf("left behind: %v", left)
				}
			}
		})
	}
}

// remaining returns the names of containers that still exist.
func remaining(t *testing.T, names []string) []string {
	return slices.DeleteFunc(testkit.OurContainers(t), func(n string) bool { return !slices.Contains(names, n) })
}

// pathWithout returns a PATH with what a fleet needs and only one of the removers.
func pathWithout(t *testing.T, with string) string {
	dir := t.TempDir()
	for _, name := range []string{with, "redis-server", "sh", "ldd", "mktemp", "rm", "sleep"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("there is no %s", name)
		}
		if err := os.Symlink(at, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
