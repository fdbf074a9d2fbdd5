//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/goldentest"
)

// said is a command that README.md shows, with what it prints; a line "…" stands for
// some lines, and there is one at most.
type said struct{ command, output string }

const readme = "../../README.md"

// Law: what README.md shows is what is printed: the commands of its blocks that show
// output are run. (With -update what they print is written there.)
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("runs are those of README.md on amd64")
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	root, err := filepath.Abs(filepath.Dir(readme))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range blocks(page) {
		last := len(block) - 1
		for last >= 0 && block[last].output == "" {
			last--
		}
		dir := t.TempDir() // one for each block, whose commands may build on each other
		if err := os.Symlink(self, filepath.Join(dir, "lockstorm")); err != nil {
			t.Fatal(err)
		}
		for _, files := range []string{"docs", "jepsen"} { // of which a command may judge some
			if err := os.Symlink(filepath.Join(root, files), filepath.Join(dir, files)); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range block[:last+1] {
			shown++
			cmd := exec.CommandContext(t.Context(), "sh", "-c", s.command)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), asCommand+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			is := said{s.command, cutLike(string(out), s.output)}
			if text := goldentest.Difference(s.output, is.output); text != "" && !goldentest.Update() {
				t.Errorf("README.md, what %q prints, %s\n%s", s.command, text, goldentest.Advice("README.md shows what is printed no more."))
			}
			page = strings.Replace(page, s.String(), is.String(), 1)
		}
	}
	if shown == 0 {
		t.Error("README.md shows no output")
	}
	if goldentest.Update() {
		goldentest.Write(t, readme, page)
	}
}

// String is the command and its output as a page shows them.
func (s said) String() string { return "\n$ " + s.command + "\n" + s.output }

// blocks returns the commands of each block of a page that has any.
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
		all = append(all, block)
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
