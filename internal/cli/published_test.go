package cli

import (
	"strings"
	"testing"
)

// Published results come out in the simulator as their scenarios expect: an unchecked lock loses
// updates, and the others do not.
func TestPublishedResults(t *testing.T) {
	code, out, said := command(t, "published", "--runs", "0", "--simulated", "6")
	if code != 0 || said != "" {
		t.Fatalf("exit code %d, %s\n%s", code, said, out)
	}
	lines := strings.Split(out, "\n")
	for result, loses := range map[string]bool{"etcd-lost-updates ": true, "etcd-lost-updates-mended ": false, "etcd-lost-updates-verified ": false} {
		found := false
		for _, l := range lines {
			if strings.HasPrefix(l, result) {
				found = true
				if strings.Contains(l, " 0.0 % [0, ") == loses {
					t.Errorf("loses updates, %v: %s", loses, l)
				}
			}
		}
		if !found {
			t.Errorf("no line for %s in\n%s", result, out)
		}
	}
}

// The page says who measured what, and where.
func TestPublishedPage(t *testing.T) {
	code, out, _ := command(t, "published", "etcd-lost-updates", "--runs", "0", "--simulated", "1", "--format", "markdown")
	want := []string{"# Published results, repeated", "They measured: ", "What differs here: ", "Source: Jepsen", "https://jepsen.io/", "node 1"}
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	if code != 0 || strings.Contains(out, "mended") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestPublishedRefuses(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"etcd-lost-update", `unknown published result "etcd-lost-update"; the nearest of `},
		{"--runs=-1", "--runs -1: want at least 0"},
		{"--simulated=-3", "--simulated -3: want at least 0"},
		{"--format=csv", `unknown format "csv"`},
	} {
		code, _, said := command(t, "published", c.arg)
		if code != exitBadInput || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, want %q", c.arg, code, said, c.want)
		}
	}
}
