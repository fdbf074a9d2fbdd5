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

// The sum of a file is that of sha256sum.
func TestSum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := Sum(path); got != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if _, err := Sum(path + "-none"); !os.IsNotExist(err) {
		t.Errorf("of no file: %v", err)
	}
}
