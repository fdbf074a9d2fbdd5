package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goTest   = regexp.MustCompile("go test (?:'[^'\n]*'|[^'|`)\n])*")
	named    = regexp.MustCompile(`-(run|bench)[ =](?:'([^']*)'|(\S+))`)
	packages = regexp.MustCompile(`\s\.(/[\w/]+)`)
	function = regexp.MustCompile(`(?m)^func ((?:Test|Example|Benchmark|Fuzz)\w*)\(`)
)

// functions are the names of the tests of a package.
func functions(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// Law: what a page says to run is there: go test is content with a name that no test has.
func TestTestsThatPagesName(t *testing.T) {
	checked := 0
	for name := range pages(t) {
		for _, command := range goTest.FindAllString(fileText(t, name), -1) {
			if strings.Contains(command, "-locktest.witness=testdata/locktest/") {
				continue // is printed for a test of the reader's own
			}
			var known []string
			for _, p := range packages.FindAllStringSubmatch(command, -1) {
				tests := functions(t, p[1])
				if len(tests) == 0 {
					t.Errorf("%s: %q: %s has no tests", name, command, p[1])
				}
				known = append(known, tests...)
			}
			for _, m := range named.FindAllStringSubmatch(command, -1) {
				checked++
				for _, missing := range unmatched(m[2]+m[3], known) {
					t.Errorf("%s: %q: there is no %s", name, command, missing)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d commands found: this test looks in the wrong place", checked)
	}
}

// unmatched returns the alternatives of a pattern that match no name, except placeholders such as X
// in TestX.
func unmatched(pattern string, names []string) (missing []string) {
	tests, _, _ := strings.Cut(pattern, "/") // what follows is a part of a test
	for _, one := range strings.Split(strings.Trim(tests, "^()$"), "|") {
		if one == "" || one == "TestX" {
			continue
		}
		fits, err := regexp.Compile(one)
		if err != nil || !slices.ContainsFunc(names, fits.MatchString) {
			missing = append(missing, one)
		}
	}
	return missing
}

func TestUnmatched(t *testing.T) {
	names := []string{"TestOne", "TestTwo", "BenchmarkX"}
	if got := unmatched("^(TestOne|Tw|TestThree|TestX|Four.*)$/part|Five", names); !slices.Equal(got, []string{"TestThree", "Four.*"}) {
		t.Errorf("%q", got)
	}
	if got := goTest.FindAllString("`go test ./a ./b -run 'X|Y' -count 1` and go test ./c -run Z", -1); !slices.Equal(got, []string{"go test ./a ./b -run 'X|Y' -count 1", "go test ./c -run Z"}) {
		t.Errorf("%q", got)
	}
}
