//go:build linux

package files

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that cannot be written completely stays as it was, and nothing is left beside it.
func TestWriteWholeOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	if err := WriteWhole(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", path+".new"); err != nil {
		t.Fatal(err)
	}
	if err := WriteWhole(path, []byte("new")); err == nil {
		t.Error("no error of a full disk")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v are left, %v", left, err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("the file is %q now", text)
	}
}
