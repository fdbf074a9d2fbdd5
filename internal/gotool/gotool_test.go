package gotool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inModule makes a module with the given files, and the current directory is in it.
func inModule(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var module = map[string]string{
	"go.mod":            "module example.com/m\n\ngo 1.26\n",
	"a/a_test.go":       "package a\n\nimport (\n\t_ \"strings\"\n\t\"testing\"\n)\n\nfunc TestGood(t *testing.T) { t.Log(\"fine\") }\n\nfunc TestBad(t *testing.T) {\n\tt.Run(\"sub\", func(t *testing.T) { t.Error(\"one\\ntwo\") })\n\tt.Run(\"other\", func(t *testing.T) {})\n}\n\nfunc TestParent(t *testing.T) {\n\tt.Run(\"sub\", func(t *testing.T) {})\n\tt.Error(\"outside\")\n}\n\nfunc TestSkip(t *testing.T) { t.Skip(\"why\") }\n\nfunc TestSaid(t *testing.T) {\n\tt.Run(\"sub\", func(t *testing.T) {})\n\tt.Attr(\"said\", \"one thing\")\n}\n",
	"b/b_test.go":       "package b_test\n\nimport \"strings\"\n\nvar _ = strings.NoSuchThing\n",
	"c/c.go":            "package c\n\nimport _ \"strings\"\n",
	"slow/slow_test.go": "package slow\n\nimport (\n\t_ \"strings\"\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestSlow(t *testing.T) { time.Sleep(time.Hour) }\n",
}

func TestTestsImporting(t *testing.T) {
	inModule(t, module)
	path, err := MainModule(t.Context())
	if err != nil || path != "example.com/m" {
		t.Fatalf("%q, %v", path, err)
	}
	list, err := TestsImporting(t.Context(), "strings", "./...")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range list {
		paths = append(paths, strings.TrimPrefix(p.ImportPath, "example.com/m/")+" "+filepath.Base(p.Dir))
	}
	if want := []string{"a a", "b b", "slow slow"}; !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
	if _, err := TestsImporting(t.Context(), "strings", "./nowhere"); err == nil {
		t.Error("a package that does not exist is no error")
	}
}

func TestMainModuleOutsideOfOne(t *testing.T) {
	inModule(t, nil)
	if _, err := MainModule(t.Context()); !errors.Is(err, ErrNoModule) {
		t.Errorf("got %v, want %v", err, ErrNoModule)
	}
}

func TestRunTests(t *testing.T) {
	inModule(t, module)
	list, err := TestsImporting(t.Context(), "strings", "./a", "./b")
	if err != nil {
		t.Fatal(err)
	}
	var began []string
	tests, err := RunTests(t.Context(), list, time.Minute, func(name string) { began = append(began, name) })
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, one := range tests {
		text, source := one.Lines()
		got[one.Package.ImportPath+" "+one.Name] = strings.Join([]string{string(one.Result), source, text}, "|")
	}
	for name, want := range map[string]string{
		"example.com/m/a TestGood":      "pass|a_test.go:8|fine",
		"example.com/m/a TestBad/sub":   "fail|a_test.go:11|one\ntwo",
		"example.com/m/a TestBad/other": "pass||",
		"example.com/m/a TestParent":    "fail|a_test.go:17|outside",
		"example.com/m/a TestSkip":      "skip|a_test.go:20|why",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	for _, one := range tests {
		if broken := one.Package.ImportPath == "example.com/m/b"; one.BuildFailed != broken || broken && strings.ContainsAny(one.Output, "#[") {
			t.Errorf("%s %s: built in vain %v, %q", one.Package.ImportPath, one.Name, one.BuildFailed, one.Output)
		}
	}
	if broken := got["example.com/m/b "]; !strings.HasPrefix(broken, "fail|") || !strings.Contains(broken, "undefined: strings.NoSuchThing") {
		t.Errorf("the package that does not compile: %q", broken)
	}
	if i := slices.IndexFunc(tests, func(one Test) bool { return one.Name == "TestSaid" }); i < 0 || !tests[i].OnlyAttrs || tests[i].Attrs["said"] != "one thing" {
		t.Errorf("the attribute of a test with subtests is not there: %+v", tests)
	}
	for _, one := range tests {
		if one.OnlyAttrs && one.Name != "TestSaid" {
			t.Errorf("%s is listed for its attributes", one.Name)
		}
	}
	if !slices.Contains(began, "TestBad/sub") {
		t.Errorf("began: %q", began)
	}
	if _, listed := got["example.com/m/a TestBad"]; listed {
		t.Error("a test is listed beside its failed subtest")
	}
}

// When the context ends, the tests and their processes end, and the test is unfinished.
func TestRunTestsIsStopped(t *testing.T) {
	inModule(t, module)
	ctx, cancel := context.WithCancel(t.Context())
	tests, err := RunTests(ctx, []Package{{ImportPath: "example.com/m/slow"}}, time.Hour, func(string) { cancel() })
	if err != nil || len(tests) != 1 || tests[0].Result != Unfinished {
		t.Errorf("%+v, %v", tests, err)
	}
}

// Law: the pattern selects a test by its whole name, and a subtest within its test.
func TestOnly(t *testing.T) {
	for name, want := range map[string]string{"TestA": "^TestA$", "TestA/b.c": `^TestA$/^b\.c$`} {
		if got := Only(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
