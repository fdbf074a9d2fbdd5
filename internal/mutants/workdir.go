package mutants

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstorm/lockstorm/internal/files"
)

// workdirs is what the names of temporary directories of ours begin with.
const workdirs = "lockstorm-mutant-"

// workdir is a temporary directory that goes with whoever made it: with Close, or, if
// there was no time for that, when the next one is made.
type workdir struct {
	path string
	held *os.File // the directory, locked; the system lets go of it however we end
}

func newWorkdir() (workdir, error) {
	removeForsaken()
	for {
		path, err := os.MkdirTemp("", workdirs)
		if err != nil {
			return workdir{}, err
		}
		held, err := files.Hold(path)
		if err == nil || errors.Is(err, errors.ErrUnsupported) {
			return workdir{path, held}, nil
		}
		if !errors.Is(err, files.ErrHeld) && !errors.Is(err, fs.ErrNotExist) {
			return workdir{}, errors.Join(err, os.Remove(path))
		}
		// Somebody else took it for forsaken before we could hold it.
	}
}

// removeForsaken removes the directories that nobody holds. What cannot be removed is
// left to the next time.
func removeForsaken() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), workdirs+"*"))
	for _, path := range all {
		if held, err := files.Hold(path); err == nil {
			_ = os.RemoveAll(path)
			_ = held.Close()
		}
	}
}

func (w workdir) remove() (err error) {
	for range 50 { // killed compilers may still be writing there
		if err = os.RemoveAll(w.path); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = w.held.Close() // where nothing can be held it is nil, and refuses
	return err
}
