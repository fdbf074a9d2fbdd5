package languages

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var write = flag.Bool("write", false, "renew docs/evidence/scoreboard-languages.md and testdata (go -C evidence run . scoreboard-languages)")

// built builds the command.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockstorm")
	cmd := exec.Command("go", "build", "-pgo=off", "-o", path, "./cmd/lockstorm")
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return path
}

// need fails the test unless all of some subjects can run.
func need(t *testing.T, subjects ...Subject) {
	t.Helper()
	for _, s := range subjects {
		if what := s.missing(); what != "" {
			t.Fatalf("%s cannot run: %s", s.Name, what)
		}
	}
}

// TestPython runs the example in Python in a calm. It is short enough for every pull request.
func TestPython(t *testing.T) { calm(t, built(t), t.TempDir(), subject("redis-py")) }

// calm checks that a subject keeps its promises in a calm.
func calm(t *testing.T, lockstorm, out string, s Subject) {
	t.Helper()
	need(t, s)
	kept := func(r Run) bool { return r.Verdicts[nameOf("V1")] == "holds" && r.Verdicts[nameOf("L1")] == "holds" }
	if r := decided(t, lockstorm, out, s, usualTTL, "calm", kept); !kept(r) {
		t.Errorf("%s in calm: %v", s.Name, r.Verdicts)
	}
}

// The examples keep their promises in a calm, and each finding is seen where it was, and not in its
// control.
func TestFindings(t *testing.T) {
	need(t, Subjects...)
	lockstorm, out := built(t), t.TempDir()
	for _, s := range Subjects {
		calm(t, lockstorm, out, s)
	}
	for _, f := range Findings {
		name := nameOf(f.Code)
		if r := decided(t, lockstorm, out, subject(f.Subjects[0]), f.TTL, f.Storms[0], func(r Run) bool { return r.Verdicts[name] == "violated" }); r.Verdicts[name] != "violated" {
			t.Errorf("%s is not seen in %s: %s is %s", f.Name, f.Storms[0], f.Code, r.Verdicts[name])
		}
		if r := decided(t, lockstorm, out, subject(f.Control), f.TTL, f.Storms[0], func(r Run) bool { return r.Verdicts[name] == "holds" }); r.Verdicts[name] != "holds" {
			t.Errorf("%s is seen in its control %s, too: %s is %s", f.Name, f.Control, f.Code, r.Verdicts[name])
		}
	}
}

// tries is how often a run is made until it shows what it should: real time does not repeat, and
// the machine may be too slow.
const tries = 4

// decided runs a subject through a storm until it shows something.
func decided(t *testing.T, lockstorm, out string, s Subject, ttl, storm string, shows func(Run) bool) (r Run) {
	t.Helper()
	for range tries {
		runs, err := s.try(lockstorm, out, ttl, []string{storm})
		if err != nil {
			t.Fatal(err)
		}
		if r = runs[0]; !r.Slipped && shows(r) {
			break
		}
	}
	return r
}

// reruns is how often the example run of a finding is made again.
const reruns = 3

// TestScoreboard renews the page.
func TestScoreboard(t *testing.T) {
	if !*write {
		t.Skip("not run: it renews the page (go -C evidence run . scoreboard-languages)")
	}
	need(t, Subjects...)
	lockstorm, out := built(t), t.TempDir()
	p := page{map[string][]Run{}, map[string]string{}, map[string]string{}, map[string]Run{}}
	for _, s := range Subjects {
		var err error
		if p.versions[s.Name], err = s.version(); err != nil {
			t.Fatal(err)
		}
		if p.runs[s.Name], err = s.try(lockstorm, out, usualTTL, Storms); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range Findings {
		name := nameOf(f.Code)
		w := decided(t, lockstorm, out, subject(f.Subjects[0]), f.TTL, f.Storms[0], func(r Run) bool { return r.Verdicts[name] == "violated" })
		if w.Verdicts[name] != "violated" {
			t.Fatalf("%s is not seen in %s", f.Name, f.Storms[0])
		}
		p.witness[f.Name] = w
		if err := keep(w.Dir, filepath.Join("testdata", f.Name)); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for range reruns {
			runs, err := subject(f.Subjects[0]).try(lockstorm, out, f.TTL, []string{f.Storms[0]})
			if err != nil {
				t.Fatal(err)
			}
			if runs[0].Verdicts[name] == "violated" {
				seen++
			}
		}
		p.again[f.Name] = fmt.Sprintf("%d of %d further runs", seen, reruns)
	}
	if err := os.WriteFile(filepath.Join(root, "docs/evidence/scoreboard-languages.md"), []byte(p.text()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keep stores a run as the example of a finding.
func keep(dir, as string) error {
	if err := os.RemoveAll(as); err != nil {
		return err
	}
	if err := os.MkdirAll(as, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"run.json", "history.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(as, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
