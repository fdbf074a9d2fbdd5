package gotool

import "testing"

// Law: the pattern selects a test by its whole name, and a subtest within its test.
func TestOnly(t *testing.T) {
	for name, want := range map[string]string{"TestA": "^TestA$", "TestA/b.c": `^TestA$/^b\.c$`} {
		if got := Only(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
