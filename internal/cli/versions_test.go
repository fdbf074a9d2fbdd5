package cli

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
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

// Law: scripts that renew committed files build a program without a version. Otherwise the files would
// change with every commit; the commit of a file says which program made it.
func TestScriptsOfCommittedFilesBuildWithoutAVersion(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sources, "scripts", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	builds := regexp.MustCompile(`(?m)^.*(?:go|\(GO\)) (?:build|run) .*\./cmd/lockstorm.*$`)
	commits := regexp.MustCompile(`(?:docs/evidence|results)/`)
	found := 0
	for _, f := range append(files, filepath.Join(sources, "Makefile")) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		script := filepath.Ext(f) == ".sh"
		for _, line := range builds.FindAllString(string(text), -1) {
			if script && !commits.Match(text) || !script && !commits.MatchString(line) {
				continue
			}
			found++
			if !strings.Contains(line, "-buildvcs=false") {
				t.Errorf("%s: %s", filepath.Base(f), line)
			}
		}
	}
	if found < 8 {
		t.Errorf("%d builds found: this test looks in the wrong place", found)
	}
}
