package contract

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goVersion = regexp.MustCompile(`(?m)^go (.*)$`)
	modulesOf = regexp.MustCompile(`(?m)^[A-Z_]*ADAPTERS = (.*)$`)
)

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

// Law: each module of this repository is linted and tested, is named after its folder, is of the Go
// of the root, and is built with the root of the same commit.
func TestEveryModuleIsTested(t *testing.T) {
	rootText, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{"evidence": true}
	for _, m := range modulesOf.FindAllSubmatch(makefile, -1) {
		for _, folder := range strings.Fields(string(m[1])) {
			tested[folder] = true
		}
	}
	found := modules(t)
	for folder, text := range found {
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
		if !tested[folder] {
			t.Errorf("the Makefile tests no module in %s: add it to ADAPTERS or STORE_ADAPTERS", folder)
		}
	}
	for folder := range tested {
		if found[folder] == "" {
			t.Errorf("the Makefile names %s, which is no module", folder)
		}
	}
}

// storeTest matches the name of a test that needs a store, as the Makefile does.
var storeTest = regexp.MustCompile(`(?m)^func (TestRealStore\w*)`)

// Law: each package of which make test leaves something out because of the stores is in make
// test-stores: whole, if make test leaves out all of it.
func TestWhatNeedsStoresIsTested(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"grep -v $(STORES:%=-e /%))\n", // in test-plain
		"\n\t$(TEST) -race $(STORES:%=./%/...)\n",
		"\n\t$(TEST) -race -run '$(STORED)' ./internal/contract\n",
	} {
		if !strings.Contains(string(makefile), want) {
			t.Errorf("the Makefile does not have %q", want)
		}
	}
	whole := strings.Fields(regexp.MustCompile(`(?m)^STORES = (.*)$`).FindStringSubmatch(string(makefile))[1])
	own, seen := modules(t), 0
	err = fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		names := storeTest.FindAllString(string(text), -1)
		seen += len(names)
		below := func(folder string) bool { return strings.HasPrefix(path, folder+"/") }
		if len(names) > 0 && !below("internal/contract") && !slices.ContainsFunc(whole, below) && !slices.ContainsFunc(slices.Collect(maps.Keys(own)), below) {
			t.Errorf("no target runs %q in %s", names, path)
		}
		return err
	})
	if err != nil || seen == 0 {
		t.Errorf("%d tests found, %v", seen, err)
	}
}
