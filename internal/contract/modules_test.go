package contract

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goVersion = regexp.MustCompile(`(?m)^go (.*)$`)

// modules returns the text of each go.mod but that of the root and those of tools, by folder.
func modules(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "." || entry.Name() == "node_modules" || path == "tools"):
			return fs.SkipDir
		case entry.Name() != "go.mod" || path == "go.mod":
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		found[filepath.ToSlash(filepath.Dir(path))] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Law: each module of this repository is named after its folder, is of the Go of the root, and is built
// with the root of the same commit.
func TestModules(t *testing.T) {
	rootText, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for folder, text := range modules(t) {
		up := strings.Repeat("../", strings.Count(folder, "/")) + ".."
		if !strings.HasPrefix(text, "module "+module+"/"+folder+"\n") {
			t.Errorf("%s/go.mod does not begin with the module %s/%s", folder, module, folder)
		}
		if want := goVersion.FindString(string(rootText)); goVersion.FindString(text) != want {
			t.Errorf("%s/go.mod: want %q, as in the root", folder, want)
		}
		if !strings.Contains(text, module+" => "+up+"\n") {
			t.Errorf("%s/go.mod does not replace %s by %s: it would be built with a published version", folder, module, up)
		}
	}
}
