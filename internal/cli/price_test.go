package cli

import (
	"strings"
	"testing"
)

// The price of a lock has figures for each number of clients, and what the lock keeps.
func TestPrice(t *testing.T) {
	code, out, said := command(t, "price", "--backend", "sim", "--locks", "single-node", "--runs", "1")
	if code != 0 || said != "" {
		t.Fatalf("exit code %d, %s", code, said)
	}
	lines := strings.Split(out, "\n")
	cells := strings.Fields(lines[1])
	if len(cells) < 14 || cells[0] != "single-node" || strings.Count(lines[1], "–") != 1 || cells[11] != "–" {
		t.Errorf("no price in %q, or syncs that nobody has counted", lines[1])
	}
	if requests := cells[10]; requests != "2.00" {
		t.Errorf("%s requests per grant, want 2.00: SET and the deletion", requests)
	}
	if keeps := strings.Join(cells[13:], " "); keeps != "L1 C" {
		t.Errorf("it keeps %q", keeps)
	}
}

// What the backend cannot run is said once for each lock.
func TestPriceOfWhatCannotBeRun(t *testing.T) {
	code, out, _ := command(t, "price", "--locks", "chubby", "--runs", "1")
	if code != 0 || strings.Count(out, "cannot be run: chubby: ") != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestPriceRefuses(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--locks=paxos", `unknown lock "paxos"`},
		{"--runs=0", "--runs 0: want at least 1"},
		{"--format=csv", `unknown format "csv"`},
		{"--backend=tin", `unknown backend "tin"`},
	} {
		code, _, said := command(t, "price", c.arg)
		if code != exitBadInput || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, want %q", c.arg, code, said, c.want)
		}
	}
}
