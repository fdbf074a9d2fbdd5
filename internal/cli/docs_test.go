//go:build linux

package cli

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/scenarios"
)

const readme = "../../README.md"

// headlines finds the rows that the marker in README.md names, and the table behind it.
var headlines = regexp.MustCompile(`(?s)(<!-- debate (.*?) -->\n)(.*?)(<!-- /debate -->\n)`)

// The rows of the debate in README.md are those of the reference results, which internal/runner compares with the
// program.
func TestReadmeTableIsCurrent(t *testing.T) {
	text := read(t, readme)
	parts := headlines.FindStringSubmatch(text)
	if parts == nil {
		t.Fatal("README.md has no table between the markers")
	}
	args := append(append([]string{"debate"}, strings.Fields(parts[2])...), "--from", "../../results/reference", "--format", "markdown")
	code, table, problems := command(t, args...)
	want(t, "exit code, "+problems, code, exitAsExpected)
	testkit.GoldenFile(t, readme, strings.Replace(text, parts[0], parts[1]+table+parts[4], 1), "The table is not that of the stored results.")
}

// docs/which-lock.md has the advice that "lockstorm list advice" prints, row by row.
func TestAdviceIsCurrent(t *testing.T) {
	const path, begin, end = "../../docs/which-lock.md", "<!-- advice -->\n", "<!-- end of advice -->"
	text := read(t, path)
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the advice", path)
	}
	var table strings.Builder
	table.WriteString("| what bites you | row | what helps |\n|---|---|---|\n")
	for _, a := range scenarios.AdviceList() {
		if _, err := scenarios.Find(a.Row); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", a.Bites, a.Row, a.Remedy)
	}
	testkit.GoldenFile(t, path, before+begin+table.String()+end+after, "The page says something else.")
}

// pages are those whose commands are tested.
func pages(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/evidence/*.md", "examples/*.md", "testdata/cases/*.md"} {
		files, err := filepath.Glob(filepath.Join(sources, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	return all
}

// Law: the program understands every command that a page shows, in a code block or in a sentence. In a sentence
// capitals and dots stand for what the reader chooses.
func TestPageCommands(t *testing.T) {
	inBlock := regexp.MustCompile("(?m)^(?:\\$ )?(?:\\./)?(lockstorm [^\n]*)$")
	inSentence := regexp.MustCompile("`(lockstorm [a-z][^`]*)`")
	tested := 0
	for _, path := range pages(t) {
		for i, part := range strings.Split(read(t, path), "\n```") {
			commands := inBlock
			if i%2 == 0 {
				commands = inSentence
			}
			for _, line := range commands.FindAllStringSubmatch(strings.ReplaceAll(part, "\\\n", " "), -1) {
				tested++
				problem := understood(line[1])
				if i%2 == 0 && strings.HasPrefix(problem, "lockstorm: ") { // a sentence may leave arguments out
					problem = ""
				}
				if problem != "" {
					t.Errorf("%s: %q: %s", filepath.Base(path), line[1], problem)
				}
			}
		}
	}
	if tested < 80 {
		t.Errorf("only %d commands found: this test looks in the wrong place", tested)
	}
}

// said is a command that a page shows, with its output. A line "…" in the output, at most one, stands for omitted
// lines.
type said struct{ command, output string }

// long are commands whose output is compared only when the pages are written anew: they take longer than 2 s.
var long = []string{"lockstorm rare ", "lockstorm explore --quick"}

// Law: pages show what commands print: the test runs the commands of each block that has output. (With -update it
// writes their output into the page.)
func TestPageShowsWhatIsPrinted(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("runs are those of the page on amd64")
	}
	tested := 0
	for _, path := range pages(t) {
		if strings.Contains(path, "/evidence/") { // which takes minutes to days
			continue
		}
		page := read(t, path)
		if len(blocks(page)) == 0 {
			continue
		}
		tested++
		t.Run(filepath.Base(path), func(t *testing.T) {
			text := page
			for _, block := range blocks(page) {
				if !testkit.UpdateGolden() && slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(block[0].command, l) }) {
					continue
				}
				scene(t)
				for _, s := range block {
					out, problems, _ := typedIn(t, s.command)
					is := said{s.command, cutLike(out+problems, s.output)}
					if masked(s.output) != masked(is.output) {
						text = strings.Replace(text, s.String(), is.String(), 1)
					}
				}
			}
			testkit.GoldenFile(t, path, text, "The page shows what is printed no more.")
		})
	}
	if tested < 4 {
		t.Errorf("only %d pages show output: this test looks in the wrong place", tested)
	}
}

// String is the command and its output as a page shows them.
func (s said) String() string { return "\n$ " + s.command + "\n" + s.output }

// blocks returns the commands of each block of a page that shows output, up to the last that has any. Commands of
// other programs are left out: they take too long, or fail on purpose.
func blocks(page string) (all [][]said) {
	for i, part := range strings.Split(page, "\n```") {
		if i%2 == 0 || !strings.HasPrefix(part, "\n$ lockstorm ") {
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
		if len(block) > 0 {
			all = append(all, block)
		}
	}
	return all
}

// cutLike leaves lines out of a text where another does, so that as many lines stand before and after them; a text
// without that many is left whole.
func cutLike(text, like string) string {
	before, after, cut := strings.Cut(like, "…\n")
	lines := slices.Collect(strings.Lines(text))
	first, last := strings.Count(before, "\n"), strings.Count(after, "\n")
	if !cut || len(lines) <= first+last {
		return text
	}
	return strings.Join(lines[:first], "") + "…\n" + strings.Join(lines[len(lines)-last:], "")
}
