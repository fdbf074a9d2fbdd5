package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Law: of two texts that differ the first line that does is told, and of those that do
// not nothing.
func TestTheFirstLineThatDiffersIsTold(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"a\nb\n", "a\nb\n", ""},
		{"", "", ""},
		{"a\nb\nc\n", "a\nB\nC\n", "line 2:\nwas  b\nis   B"},
		{"a\n", "a\nb\n", "line 2:\nwas  \nis   b"},
		{"a\nb", "a", "line 2:\nwas  b\nis   (nothing: the text ends before)"},
	} {
		if got := FirstDifference(c.was, c.is); got != c.want {
			t.Errorf("of %q and %q is told\n%s\nwant\n%s", c.was, c.is, got, c.want)
		}
	}
}

// Law: make bless runs the tests of every package that has golden files.
func TestBlessReachesEveryGoldenFile(t *testing.T) {
	const root = "../.."
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, bless, _ := strings.Cut(string(makefile), "\nbless:")
	bless, _, _ = strings.Cut(bless, "\n\n")
	golden := regexp.MustCompile(`testkit\.(GoldenFile|WriteGolden)\(`)
	found := 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !golden.Match(text) {
			return err
		}
		found++
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if name := "./" + filepath.ToSlash(folder) + " "; err == nil && !strings.Contains(bless, name) {
			t.Errorf("%s compares with a golden file, and make bless does not run %s", path, name)
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%v, in %d files", err, found)
	}
}
