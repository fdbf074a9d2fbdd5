package host

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

const head = `{"format":"lockstorm-history","version":1,"scenario":"calm","lock":"redlock","backend":"process","seed":18446744073709551615,"nodes":1,"clients":1}` + "\n"

// served serves a page with the runs of a directory.
func served(t *testing.T, runs string, names ...string) http.Handler {
	t.Helper()
	h, err := Host{Files: fstest.MapFS{"index.html": {Data: []byte("<head>" + withoutRuns)}, "a.js": {Data: []byte("1")}}, Runs: []string{runs}, Names: names}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// get asks for a path, under the name of a host.
func get(h http.Handler, host, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// store stores the history of a run.
func store(t *testing.T, dir, name, text string, changed time.Time) {
	t.Helper()
	file := filepath.Join(dir, name, "history.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, changed, changed); err != nil {
		t.Fatal(err)
	}
}

func TestRunsAreListed(t *testing.T) {
	dir := t.TempDir()
	store(t, dir, "live", head, time.Now())
	store(t, dir, "cut-off", head, time.Now().Add(-time.Hour))
	store(t, dir, "no-history", "nothing", time.Now())
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var runs []Run
	if err := json.Unmarshal(get(served(t, dir), "localhost", "/api/runs").Body.Bytes(), &runs); err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[0].Name != "live" || !runs[0].Live || runs[1].Name != "cut-off" || runs[1].Live {
		t.Fatalf("%+v", runs)
	}
	if r := runs[0]; r.Scenario != "calm" || r.Backend != "process" || r.Seed != "18446744073709551615" {
		t.Errorf("%+v", r)
	}
}

func TestHistoryIsServed(t *testing.T) {
	dir := t.TempDir()
	store(t, dir, "live", head, time.Now())
	h := served(t, dir)
	if w := get(h, "127.0.0.1:80", "/api/runs/live/history"); w.Body.String() != head || w.Header().Get("X-Lockstorm-Live") != "true" {
		t.Errorf("%v %q", w.Header(), w.Body)
	}
	outside := filepath.Join(filepath.Dir(dir), "history.jsonl")
	testkit.Write(t, outside, head)
	defer func() { _ = os.Remove(outside) }()
	for _, name := range []string{"none", "..", ".hidden", "..%2f", "%2e%2e", "live%2f..%2f..", `live%5c..`, "."} {
		if w := get(h, "localhost", "/api/runs/"+name+"/history"); w.Code == http.StatusOK {
			t.Errorf("%s is served: %q", name, w.Body)
		}
	}
}

// Another page cannot read the runs under a name of its own that leads to this machine. A server that
// listens on all interfaces can be reached by each address of the machine.
func TestOtherNamesAreRefused(t *testing.T) {
	own := map[string]int{"localhost:8642": 200, "127.0.0.1:1": 200, "[::1]:8642": 200, "lab.example:80": 200, "LAB.example": 200, "evil.example": 403, "localhost.evil.example": 403, "10.0.0.1": 403}
	every := map[string]int{"0.0.0.0:8642": 200, "[::]:8642": 200, "10.0.0.1:8642": 200, "[2001:db8::1]:8642": 200, "localhost": 200, "evil.example": 403, "10.0.0.1.evil.example": 403, "": 403}
	for name, hosts := range map[string]map[string]int{"lab.example": own, "0.0.0.0": every, "::": every, "": every} {
		h := served(t, t.TempDir(), name)
		for host, code := range hosts {
			if w := get(h, host, "/"); w.Code != code {
				t.Errorf("on %q, as %q: %d, want %d", name, host, w.Code, code)
			}
		}
	}
}

func TestPageKnowsWhereTheRunsAre(t *testing.T) {
	h := served(t, t.TempDir())
	if text := get(h, "localhost", "/").Body.String(); !strings.Contains(text, withRuns) {
		t.Errorf("the page is %q", text)
	}
	if text := get(h, "localhost", "/a.js").Body.String(); text != "1" {
		t.Errorf("a file is %q", text)
	}
	var runs []Run
	if err := json.Unmarshal(get(served(t, "none"), "localhost", "/api/runs").Body.Bytes(), &runs); err != nil || runs == nil || len(runs) > 0 {
		t.Errorf("of no directory: %v, %v", runs, err)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for _, files := range []fstest.MapFS{{}, {"index.html": {Data: []byte("another page")}}} {
		if _, err := (Host{Files: files}).Handler(); err == nil || !strings.Contains(err.Error(), "the files of the playground") {
			t.Errorf("%v: %v", files, err)
		}
	}
}
