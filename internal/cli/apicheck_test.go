//go:build linux

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Law: scripts/api-check.sh names a function that was removed since the last tagged version, accepts it
// before v1.0.0 if CHANGELOG.md names it, and never after.
func TestReleaseChecksTheAPI(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"tools/apidiff/go.mod", "tools/apidiff/go.sum"} {
		text, err := os.ReadFile(filepath.Join(sources, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, name, string(text))
	}
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	check := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(sources, "scripts", "api-check.sh")).CombinedOutput()
		return string(out), err
	}
	step := func(what string, fails bool, says string) {
		t.Helper()
		git("add", ".")
		git("commit", "--quiet", "--allow-empty", "-m", what)
		out, err := check()
		if (err != nil) != fails {
			t.Errorf("%s: %v: %s", what, err, out)
		}
		wantIn(t, out, says)
	}
	const both, one = "package p\n\nfunc Kept() {}\n\nfunc Gone() {}\n", "package p\n\nfunc Kept() {}\n"
	git("init", "--quiet")
	write(t, "go.mod", "module example.test/m\n\ngo 1.26.0\n")
	write(t, "p/p.go", both)
	write(t, "CHANGELOG.md", "## Unreleased\n\n## 0.1.0\n\n- `p.Gone` is new.\n")
	step("without a tag", false, "there is no tagged version")
	git("tag", "v0.1.0")
	step("without a change", false, "no unnamed incompatible change since v0.1.0")
	write(t, "p/p.go", one)
	step("with an unnamed removal", true, "p.Gone")
	write(t, "CHANGELOG.md", "## Unreleased\n\n- `p.Gone` is gone.\n\n## 0.1.0\n")
	step("with a named removal", false, "no unnamed incompatible change since v0.1.0")
	write(t, "p/p.go", both)
	step("with both", false, "no unnamed")
	git("tag", "v1.0.0")
	write(t, "p/p.go", one)
	step("with a named removal after v1.0.0", true, "p.Gone")
}
