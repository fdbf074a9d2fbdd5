//go:build linux

package disk

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// mappedVariable is set if the program writes a file through a mapping.
const mappedVariable = "LOCKSTORM_TEST_MAPPED"

// A program with two servers whose data is on disks, or one that writes a mapped file. The word says how
// it ends.
func TestMain(m *testing.M) {
	testkit.OrphanMain(m, func(word string, tell func(words ...any)) error {
		if path := os.Getenv(mappedVariable); path != "" {
			err := writeMapped(path, word == "unmaps")
			if err == nil {
				tell("written")
			}
			return err
		}
		g, err := child.NewGroup()
		if err != nil {
			return err
		}
		for _, name := range []string{"one", "two"} {
			d, err := g.Add(name, 0)
			if err != nil {
				return err
			}
			_, data, err := Attach(true, g, d)
			if err != nil {
				return err
			}
			d.Name, d.StartTimeout, d.QuitTimeout, d.QuitSignal = name, patience, patience, syscall.SIGTERM
			d.Command = func() (*exec.Cmd, error) { // it writes all the time
				return exec.Command("sh", "-c", `cd "$1"; while :; do echo x >>file; done`, "sh", data), nil
			}
			d.Await = func(ctx context.Context, run *child.Run) error {
				return child.Await(ctx, name, run, func(context.Context) bool {
					_, err := os.Stat(filepath.Join(data, "file"))
					return err == nil
				})
			}
		}
		if err := g.Start(context.Background()); err != nil {
			return err
		}
		if word == "closes" {
			err = g.Close()
		}
		tell("ready")
		return err
	})
}

// patience is for everything that has to happen at some time.
const patience = 2 * time.Minute

// mountsBelow returns the mounts below a directory, as the kernel lists them.
func mountsBelow(t *testing.T, dir string) (list []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, filepath.Base(dir)) {
			list = append(list, line)
		}
	}
	return list
}

// A program that is killed, or closes its servers, leaves no mount and no directory, whatever the directory is called.
func TestNothingSurvives(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	for _, end := range []string{"closes", "is killed"} {
		t.Run(end, func(t *testing.T) {
			tmp := filepath.Join(t.TempDir(), "a directory with spaces, \\040", "kept-by-nobody")
			must(t, os.MkdirAll(tmp, 0o700))
			o := testkit.StartOrphan(t, end, "TMPDIR="+tmp)
			if end != "closes" {
				if n := len(mountsBelow(t, tmp)); n != 2 {
					t.Fatalf("there are %d mounts, not 2", n)
				}
			}
			o.Kill(t)
			for limit := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
				mounts := mountsBelow(t, tmp)
				left, err := os.ReadDir(tmp)
				must(t, err)
				if len(mounts) == 0 && len(left) == 0 {
					return
				}
				if time.Now().After(limit) {
					t.Fatalf("left behind: %q, %v", mounts, left)
				}
			}
		})
	}
}
