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

// Law: make bless renews every golden file. It runs the packages that call these functions, and of their
// tests those with such a name.
func TestBlessRunsEveryGoldenTest(t *testing.T) {
	const root = "../.."
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	const calls, names = `testkit\.(GoldenFile|WriteGolden)\(`, `Golden|IsCurrent|ShowsWhatIsPrinted`
	if !strings.Contains(string(makefile), calls) || !strings.Contains(string(makefile), "-run 'Golden|IsCurrent'") {
		t.Error("make bless finds golden tests in another way than this test")
	}
	golden, function, named := regexp.MustCompile(calls), regexp.MustCompile(`^func (\w+)\(`), regexp.MustCompile("(?i)"+names)
	found := 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		of := ""
		for l := range strings.Lines(string(text)) {
			if begins := function.FindStringSubmatch(l); begins != nil {
				of = begins[1]
			}
			if !golden.MatchString(l) || strings.Contains(l, calls) {
				continue
			}
			found++
			if !named.MatchString(of) {
				t.Errorf("%s: %s compares with a golden file, and make bless does not run it: want a name with %s", path, of, names)
			}
		}
		return err
	})
	if err != nil || found < 20 {
		t.Errorf("%v, of %d calls", err, found)
	}
}
