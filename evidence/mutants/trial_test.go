package mutants

import (
	"path"
	"testing"
)

// Every defect compiles. (That hunts find them is measured: go -C evidence run . mutants.)
func TestMutantsCompile(t *testing.T) {
	for _, m := range all(t) {
		t.Run(m.Number, func(t *testing.T) {
			t.Parallel()
			packages := map[string]bool{}
			var args []string
			for _, e := range m.edits {
				if p := module + "/" + path.Dir(e.file); !packages[p] {
					packages[p] = true
					args = append(args, p)
				}
			}
			if err := Checkout(root).compile(t.Context(), m, t.TempDir(), args...); err != nil {
				t.Error(err)
			}
		})
	}
}

// A hunt finds a defect, and nothing without one.
func TestTry(t *testing.T) {
	for _, m := range append(all(t)[:1], Mutant{Lock: "redlock"}) {
		r, err := Checkout(root).Try(t.Context(), m, 500)
		if err != nil {
			t.Fatal(err)
		}
		if f, named := r.Caught(m); named != (m.Number != "") || (f != nil) != named || r.Grants == 0 {
			t.Errorf("%q: %d runs, found %+v", m.Title, r.Runs, r.Finds)
		}
	}
}
