//go:build linux

package container

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

func TestMain(m *testing.M) {
	if version := os.Getenv(posingEnv); version != "" {
		pose(version)
	}
	testkit.OrphanMain(m, func(_ string, tell func(...any)) error {
		f, err := OpenFleet(context.Background(), Options{Nodes: 2, AppendOnly: true})
		if err == nil {
			tell(f.Server(1).name, f.Server(2).name, f.image)
		}
		return err
	})
}

// Of a program that is killed neither containers are left, nor its image, nor its files,
// whichever program removes them.
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

// remaining are those of the names that are still there.
func remaining(t *testing.T, names []string) []string {
	return slices.DeleteFunc(testkit.OurContainers(t), func(n string) bool { return !slices.Contains(names, n) })
}

// pathWithout is a PATH with what a fleet needs, and one of the removers only.
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
