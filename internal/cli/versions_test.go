package cli

import (
	"maps"
	"runtime"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// Law: what is stored names a program that was built with a version, and has the same bytes as ever if
// it was built without one.
func TestStoredVersions(t *testing.T) {
	built := map[string]string{"go": "go1", runner.ProgramVersion: "v1.2.0", runner.ProgramRevision: "3f2a"}
	want(t, "program", runner.Program(lasting(maps.Clone(built))), "v1.2.0, revision 3f2a")
	plain := lasting(map[string]string{"go": "go1", runner.ProgramVersion: "(devel)"})
	if !maps.Equal(plain, map[string]string{"go": "go1", "arch": runtime.GOARCH}) {
		t.Errorf("a program without a version stores %v", plain)
	}
}
