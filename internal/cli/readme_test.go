//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// The reference results, which internal/runner compares with the program.
const referenceDir = "../../results/reference"

const readme = "../../README.md"

// headlines finds the rows that the marker in README.md names, and the table behind it.
var headlines = regexp.MustCompile(`(?s)(<!-- debate (.*?) -->\n)(.*?)(<!-- /debate -->\n)`)

// The rows of the debate in README.md are those of the reference results.
func TestReadmeTableIsCurrent(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	parts := headlines.FindStringSubmatch(string(text))
	if parts == nil {
		t.Fatal("README.md has no table between the markers")
	}
	args := append(append([]string{"debate"}, strings.Fields(parts[2])...), "--from", referenceDir, "--format", "markdown")
	code, table, problems := command(t, args...)
	want(t, "exit code, "+problems, code, exitAsExpected)
	switch {
	case parts[3] == table:
	case testkit.UpdateGolden():
		testkit.WriteGolden(t, readme, strings.Replace(string(text), parts[0], parts[1]+table+parts[4], 1))
	default:
		t.Errorf("the table in README.md, %s\n%s", testkit.FirstDifference(parts[3], table), testkit.GoldenAdvice("It is not that of the stored results."))
	}
}

// said is a command that a page shows, with its output. A line "…" in the output, at most
// one, stands for omitted lines.
type said struct{ command, output string }

// took matches a real duration, which differs from run to run.
var took = regexp.MustCompile(`\d+\.\d\d s`)

// Law: README.md and docs/*.md show what commands print: the test runs the commands of
// each block that has output. (With -update it writes their output into the page.)
func TestPageShowsWhatIsPrinted(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("runs are those of the page on amd64")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, path := range append(pages, readme) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(blocks(string(text))) == 0 {
			continue
		}
		tested++
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			showsWhatIsPrinted(t, path, string(text))
		})
	}
	if tested < 5 {
		t.Errorf("only %d pages show output: this test looks in the wrong place", tested)
	}
}

// showsWhatIsPrinted runs the commands of a page that have output. It ignores durations.
func showsWhatIsPrinted(t *testing.T, path, page string) {
	t.Helper()
	for _, block := range blocks(page) {
		dir := scene(t)
		for _, s := range block {
			is := said{s.command, cutLike(s.printed(t, dir), s.output)}
			difference := testkit.FirstDifference(took.ReplaceAllString(s.output, ""), took.ReplaceAllString(is.output, ""))
			if difference == "" {
				continue
			}
			if !testkit.UpdateGolden() {
				t.Errorf("%s, what %q prints, %s\n%s", path, s.command, difference, testkit.GoldenAdvice("The page shows what is printed no more."))
			}
			page = strings.Replace(page, s.String(), is.String(), 1)
		}
	}
	if testkit.UpdateGolden() {
		testkit.WriteGolden(t, path, page)
	}
}

// scene makes a directory for a block, whose commands may build on each other, and may
// judge what stands in some directories of the project.
func scene(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"lockstorm": self, "docs": filepath.Join(sources, "docs"), "internal": filepath.Join(sources, "internal"), "testdata": filepath.Join(sources, "testdata")}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// printed runs the command in a directory, in which lockstorm is this program.
func (s said) printed(t *testing.T, dir string) string {
	t.Helper()
	out, _ := session(t, dir, s.command)
	return out
}

// String is the command and its output as a page shows them.
func (s said) String() string { return "\n$ " + s.command + "\n" + s.output }

// blocks returns the commands of each block of a page that shows output, up to the last
// that has any. Commands of go are left out: they take too long, or fail on purpose.
func blocks(page string) (all [][]said) {
	for i, part := range strings.Split(page, "\n```") {
		if i%2 == 0 || !strings.HasPrefix(part, "\n$ ") {
			continue
		}
		var block []said
		for _, c := range strings.Split(part, "\n$ ")[1:] {
			command, output, _ := strings.Cut(c+"\n", "\n")
			block = append(block, said{command, output})
		}
		for len(block) > 0 && block[len(block)-1].output == "" {
			block = block[:len(block)-1]
		}
		if len(block) > 0 && !strings.HasPrefix(block[0].command, "go ") {
			all = append(all, block)
		}
	}
	return all
}

// cutLike leaves lines out of a text where another does, so that as many lines stand
// before and after them; a text without that many is left whole.
func cutLike(text, like string) string {
	before, after, cut := strings.Cut(like, "…\n")
	lines := slices.Collect(strings.Lines(text))
	first, last := strings.Count(before, "\n"), strings.Count(after, "\n")
	if !cut || len(lines) <= first+last {
		return text
	}
	return strings.Join(lines[:first], "") + "…\n" + strings.Join(lines[len(lines)-last:], "")
}

func TestLinesAreLeftOutAsBefore(t *testing.T) {
	for _, c := range []struct{ text, like, want string }{
		{"a\nb\n", "A\n", "a\nb\n"},
		{"a\nb\nc\nd\n", "a\n…\nd\n", "a\n…\nd\n"},
		{"a\nb\nc\nd\n", "A\nB\n…\n", "a\nb\n…\n"},
		{"a\nb\nc\nd\n", "…\nD\n", "…\nd\n"},
		{"a\nb\n", "a\n…\nd\n", "a\nb\n"},
	} {
		want(t, c.like, cutLike(c.text, c.like), c.want)
	}
}
