//go:build unix

package files

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// A file that cannot be written completely stays as it was, and nothing is left beside it.
func TestFailedWriteLeavesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	if err := WriteWhole(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	err := replace(path, func(f *os.File) error {
		_, err := f.WriteString("ne")
		return errors.Join(err, full)
	})
	if !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
	wantFile(t, dir, path, "old")
}

// Processes that replace the same file at the same time do not write into each other's new file.
func TestWritersDoNotMix(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	texts := map[string]bool{}
	var writers sync.WaitGroup
	for i := range 8 {
		text := bytes.Repeat([]byte{byte('a' + i)}, 1<<16)
		texts[string(text)] = true
		writers.Go(func() {
			for range 20 {
				if err := WriteWhole(path, text); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		if text, err := os.ReadFile(path); err == nil && !texts[string(text)] {
			t.Errorf("%d bytes of several writers, such as %.8q", len(text), text)
			break
		}
	}
	writers.Wait()
	last := testkit.Read(t, path)
	wantFile(t, dir, path, last)
}

// wantFile wants a file to have a text, and to be alone in its directory.
func wantFile(t *testing.T, dir, path, text string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v are left, %v", left, err)
	}
	if got, _ := os.ReadFile(path); string(got) != text {
		t.Errorf("the file is %.20q now, want %.20q", got, text)
	}
}

// The sum of a file is that of sha256sum.
func TestSum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	testkit.Write(t, path, "abc")
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := Sum(path); got != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if _, err := Sum(path + "-none"); !os.IsNotExist(err) {
		t.Errorf("of no file: %v", err)
	}
}
