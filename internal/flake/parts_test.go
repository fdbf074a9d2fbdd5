//go:build linux

package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A failure is put down to the tests that failed, or to those that were running if none
// did; not to their parents, and not to those that waited for others in parallel.
func TestWhoFailed(t *testing.T) {
	for name, c := range map[string]struct {
		events string
		want   []string
	}{
		"a subtest": {`{"Action":"run","Test":"A"}{"Action":"run","Test":"A/b"}{"Action":"fail","Test":"A/b"}{"Action":"fail","Test":"A"}{"Action":"run","Test":"C"}`, []string{"A/b"}},
		"a panic":   {`{"Action":"run","Test":"A"}{"Action":"pause","Test":"A"}{"Action":"run","Test":"B"}{"Action":"run","Test":"B/c"}`, []string{"B/c"}},
		"nobody":    {`{"Action":"run","Test":"A"}{"Action":"pass","Test":"A"}{"Action":"fail"}`, []string{wholePackage}},
	} {
		p, err := follow(strings.NewReader(c.events), io.Discard)
		if got := p.failed(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	if _, err := follow(strings.NewReader(`{"Action":`), io.Discard); err == nil {
		t.Error("events that are cut off are read")
	}
}

// Breadth first, and of those that have run as often the one that takes least.
func TestOrder(t *testing.T) {
	of := func(name string, begun int, takes time.Duration) *job {
		return &job{testPackage: testPackage{name: name}, begun: begun, takes: takes}
	}
	p := &schedule{jobs: []*job{of("slow", 0, time.Hour), of("quick", 0, time.Second), of("ahead", 1, 0)}, target: 2}
	if n := p.left(); n != 5 {
		t.Errorf("%d runs are left, want 5", n)
	}
	var got []string
	for j := p.next(); j != nil; j = p.next() {
		got = append(got, j.testPackage.name)
	}
	if want := []string{"quick", "slow", "ahead", "quick", "slow"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPatterns(t *testing.T) {
	for pattern, want := range map[string][]string{
		"./...": {"cluster/live", "cluster", "clusters"}, "./cluster/...": {"cluster/live", "cluster"}, "./cluster": {"cluster"}, "cluster/live": {"cluster/live"},
	} {
		var got []string
		for _, name := range []string{"cluster/live", "cluster", "clusters"} {
			if (testPackage{name: name}).matches([]string{pattern}) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s means %v, want %v", pattern, got, want)
		}
	}
}

// A line that was cut off is made again; one that says nothing is an error.
func TestStoreThatWasCutOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.jsonl")
	for text, want := range map[string]int{"": 0, `{"package":"a"}` + "\n" + `{"pack`: 1} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := openStore(file)
		if err != nil || len(s.all) != want {
			t.Fatalf("%q: %d results, %v", text, len(s.all), err)
		}
		if err := s.add(result{Package: "b"}); err != nil {
			t.Fatal(err)
		}
		_ = s.file.Close()
		if s, err = openStore(file); err != nil || len(s.all) != want+1 || s.all[want].Package != "b" {
			t.Errorf("%q: afterwards %v, %v", text, s.all, err)
		}
		_ = s.file.Close()
	}
	if err := os.WriteFile(file, []byte("{}\nno\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(file); err == nil || !strings.Contains(err.Error(), ":2: ") {
		t.Errorf("got %v, want the number of the line", err)
	}
}
