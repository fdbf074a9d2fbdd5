package files_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/internal/files"
)

func TestStat(t *testing.T) {
	dir := t.TempDir()
	if info, err := files.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("of a directory: %v, %v", info, err)
	}
	none := filepath.Join(dir, "none")
	if _, err := files.Stat(none); !errors.Is(err, fs.ErrNotExist) || err.Error() != none+" does not exist" {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := files.Stat(""); err == nil || err.Error() != `the file "" does not exist` {
		t.Errorf("of an empty name: %v", err)
	}
}
