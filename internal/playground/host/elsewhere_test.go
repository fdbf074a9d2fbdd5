//go:build unix

package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A run whose files lead out of the directory, or are no regular files, is neither listed nor served.
func TestFilesElsewhereAreNotServed(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	store(t, dir, "own", head, time.Now())
	store(t, elsewhere, "secret", head, time.Now())
	link := func(target, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(elsewhere, "secret")
	link(secret, "directory")
	link(filepath.Join(secret, "history.jsonl"), "history/history.jsonl")
	store(t, dir, "verdicts", head, time.Now())
	link(filepath.Join(secret, "history.jsonl"), "verdicts/run.json")
	link(filepath.Join("..", "own", "history.jsonl"), "inside/history.jsonl")
	for _, file := range []string{"pipe/history.jsonl", "verdicts-pipe/run.json"} {
		store(t, dir, filepath.Dir(file), head, time.Now())
		_ = os.Remove(filepath.Join(dir, file))
		if err := syscall.Mkfifo(filepath.Join(dir, file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := served(t, dir)
	var runs []Run
	if err := json.Unmarshal(get(h, "localhost", "/api/runs").Body.Bytes(), &runs); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Name != "own" && r.Name != "inside" && r.Name != "verdicts-pipe" {
			t.Errorf("%s is listed", r.Name)
		}
	}
	if len(runs) < 2 {
		t.Errorf("listed are %+v, want own and inside", runs)
	}
	for name, code := range map[string]int{"own": 200, "inside": 200, "directory": 404, "history": 404, "verdicts": 404, "pipe": 404} {
		if w := get(h, "localhost", "/api/runs/"+name+"/history"); w.Code != code {
			t.Errorf("%s: %d, want %d", name, w.Code, code)
		}
	}
}
