package mutants

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// observed are the guards that show a clause where a replay cannot tell which of two it is: a client that counts
// its validity from a later reading of its clock claims more of a TTL than the allowance leaves, and in some runs
// relies on it for longer than nodes keep its keys (A5).
var observed = map[string]string{"A6Read": "DriftFactor"}

// Law: each planted defect in the table of necessity of docs/proof.md breaks the clause that the table names,
// alone, and the hunt has found the violation that the table names. internal/conform/watch tests the other rows.
func TestNecessity(t *testing.T) {
	page := testkit.Read(t, filepath.Join(root, "docs", "proof.md"))
	planted := all(t)
	rows := regexp.MustCompile("(?m)^\\| [^|]* \\| `(\\w+)` \\| `\\w+` \\| planted defect (\\w+): ([^|]*) \\| (\\w+) \\| \\|$").FindAllStringSubmatch(page, -1)
	if len(rows) < 5 {
		t.Errorf("%d planted defects in the table", len(rows))
	}
	for _, row := range rows {
		clause, number, title, code := row[1], row[2], row[3], row[4]
		i := slices.IndexFunc(planted, func(m Mutant) bool { return m.Number == number })
		if i < 0 || planted[i].Title != title {
			t.Errorf("there is no planted defect %s with the title %q", number, title)
			continue
		}
		t.Run(number, func(t *testing.T) {
			t.Parallel()
			if m := planted[i]; clause == "A4Extends" {
				directed(t, m, "./internal/conform/watch", "TestCopiedSet", ": "+clause, "V1 violated")
			} else {
				wantFound(t, number, code)
				wantBroken(t, m, clause)
			}
		})
	}
}

// wantBroken compares runs of a mutant with the specification.
func wantBroken(t *testing.T, m Mutant, clause string) {
	t.Helper()
	r, err := Checkout(root).Conform(t.Context(), m, 2000)
	if err != nil {
		t.Fatal(err)
	}
	want := clause
	if other, ok := observed[clause]; ok {
		want = other
	}
	if clause == "A1" { // the quorums of the specification meet: the lock has none of them
		want = "HasQuorum"
	}
	f := r.Conform.First(2000)
	if f != nil && clause == "A6Read" {
		f.Wrong = slices.DeleteFunc(f.Wrong, func(guard string) bool { return guard == "A5" })
	}
	if f == nil || len(f.Wrong) == 0 || f.Wrong[0] != want {
		t.Errorf("%d runs, found %v: want %s", r.Conform.Runs, f, want)
	}
}

// wantFound reads the results of the hunts.
func wantFound(t *testing.T, number, code string) {
	t.Helper()
	text := testkit.Read(t, "hunted.json")
	var h struct {
		Hunts []struct{ Number, Found string }
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	for _, one := range h.Hunts {
		if one.Number == number {
			codes := map[string]string{"lease": "V1", "contract": "C"}
			if codes[one.Found] != code {
				t.Errorf("the hunt has found %s, not %s", one.Found, code)
			}
			return
		}
	}
	t.Error("was not hunted")
}

// directed runs a test that a mutant has to fail, and not silently: the hunt does not find it.
func directed(t *testing.T, m Mutant, pkg, test string, wants ...string) {
	t.Helper()
	overlay, err := Checkout(root).overlay(m, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", "^"+test+"$", pkg)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	for _, want := range wants {
		if text := string(out); err == nil || !strings.Contains(text, want) {
			t.Errorf("%v, want %q in\n%s", err, want, text)
		}
	}
}

// Law: the default test of locktest finds planted defects that a hunt cannot show.
func TestFoundByStorm(t *testing.T) {
	for _, m := range all(t) {
		if strings.Contains(m.Outside, t.Name()) {
			directed(t, m, "./locktest", "TestRedlockInStorms", m.Codes()+" (", "is violated")
		}
	}
}
