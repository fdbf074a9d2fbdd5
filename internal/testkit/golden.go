package testkit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/gotool"
)

var update = flag.Bool("update", false, "write the golden files anew, instead of comparing with them; make bless does so for all")

// UpdateGolden reports whether golden files are to be written and not compared.
func UpdateGolden() bool { return *update }

// named are the tests that make bless runs.
var named = regexp.MustCompile(`Golden|IsCurrent|ShowsWhatIsPrinted`)

// GoldenFile compares a golden file with a text, or writes it. meaning says in a user's words what
// a difference means. The test has a name that make bless runs.
func GoldenFile(t testing.TB, path, made, meaning string) {
	t.Helper()
	if !named.MatchString(t.Name()) {
		t.Fatalf("make bless does not run this test: want a name with %s", named)
	}
	if *update {
		WriteGolden(t, path, made)
		return
	}
	was, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v: make bless writes it", err)
		return
	}
	if text := FirstDifference(string(was), made); text != "" {
		t.Errorf("%s, %s\n%s", path, text, GoldenAdvice(t, meaning))
	}
}

// WriteGolden writes a golden file, if that changes it.
func WriteGolden(t testing.TB, path, made string) {
	t.Helper()
	if was, err := os.ReadFile(path); err == nil && string(was) == made {
		return
	}
	if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s is written anew", path)
}

// GoldenAdvice is what to do about a difference that a test has found, behind what it means.
func GoldenAdvice(t testing.TB, meaning string) string {
	return fmt.Sprintf("%s\nIf that was meant, say why in the commit. make bless writes all golden files anew; this one:\n\tgo test %s -run '%s' -args -update",
		meaning, testedPackage(), gotool.Only(t.Name()))
}

// started is the directory in which the test was started, that of its package: some tests go elsewhere.
var started, _ = os.Getwd()

// testedPackage names the package whose test runs, as the go command takes it in the root of its module.
func testedPackage() string {
	for root := started; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return "." + filepath.ToSlash(started[len(root):])
		}
		if root == filepath.Dir(root) {
			return "PACKAGE"
		}
	}
}

// FirstDifference says where two texts differ first; it is empty where they are the same.
func FirstDifference(was, is string) string {
	if was == is {
		return ""
	}
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	n := 0
	for n < len(before) && n < len(after) && before[n] == after[n] {
		n++
	}
	return fmt.Sprintf("line %d:\nwas  %s\nis   %s", n+1, line(before, n), line(after, n))
}

func line(lines []string, n int) string {
	if n >= len(lines) {
		return "(nothing: the text ends before)"
	}
	return lines[n]
}
