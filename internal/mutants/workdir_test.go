//go:build unix && !aix && !solaris

package mutants

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Law: creating a directory removes our unlocked directories, but neither locked ones nor
// those of others.
func TestStaleDirectoriesAreRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	forsaken, foreign := filepath.Join(temp, workdirPrefix+"1"), filepath.Join(temp, "lockstorm.1")
	for _, dir := range []string{forsaken, foreign} {
		if err := os.MkdirAll(filepath.Join(dir, "go-build1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	first, err := newWorkdir()
	if err != nil {
		t.Fatal(err)
	}
	second, err := newWorkdir()
	if err != nil {
		t.Fatal(err)
	}
	if there(forsaken) || !there(foreign) || !there(first.path) || !there(second.path) {
		t.Errorf("forsaken: %t, foreign: %t, held: %t and %t", there(forsaken), there(foreign), there(first.path), there(second.path))
	}
	for _, w := range []workdir{first, second} {
		if err := w.remove(); err != nil || there(w.path) {
			t.Errorf("%s is there: %t, %v", w.path, there(w.path), err)
		}
	}
}

// Law: processes that create directories at the same time do not remove each other's.
func TestDirectoriesSideBySide(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				w, err := newWorkdir()
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(w.path, "overlay.json"), nil, 0o600); err != nil {
					t.Errorf("held, and gone: %v", err)
				}
				if err := w.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	removeStale()
	empty(t, temp)
}
