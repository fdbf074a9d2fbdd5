package runner_test

import (
	"maps"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// Law: results name the program that made them, and what is compared names none.
func TestPrograms(t *testing.T) {
	built := map[string]string{"go": "go1", "lockstorm": "v1.2.0", "lockstorm revision": "3f2a"}
	later := map[string]string{"go": "go1", "lockstorm": "v1.2.1", "lockstorm revision": "9c01"}
	for _, c := range []struct {
		versions map[string]string
		want     string
	}{
		{built, "v1.2.0, revision 3f2a"},
		{map[string]string{"lockstorm": "v1.2.0"}, "v1.2.0"},
		{map[string]string{"lockstorm": "(devel)", "lockstorm revision": "3f2a"}, "revision 3f2a"},
		{map[string]string{"lockstorm": "(devel)"}, ""},
		{nil, ""},
		{runner.WithoutProgram(built), ""},
	} {
		if got := runner.Program(c.versions); got != c.want {
			t.Errorf("%v were made by %q, want %q", c.versions, got, c.want)
		}
	}
	if !maps.Equal(runner.WithoutProgram(built), runner.WithoutProgram(later)) || len(built) != 3 {
		t.Error("versions differ in more than the program")
	}
}
