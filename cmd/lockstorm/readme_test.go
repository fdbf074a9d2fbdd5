//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// said is a command that README.md shows, with what it prints; a line "…" stands for
// some lines, and there is one at most.
type said struct{ command, output string }

// TestReadmeShowsWhatIsPrinted runs the blocks of README.md that show output.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("runs are those of README.md on amd64")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range blocks(string(text)) {
		last := len(block) - 1
		for last >= 0 && block[last].output == "" {
			last--
		}
		dir := t.TempDir() // one for each block, whose commands may build on each other
		if err := os.Symlink(self, filepath.Join(dir, "lockstorm")); err != nil {
			t.Fatal(err)
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
			if !prints(string(out), s.output) {
				t.Errorf("README.md does not show what %q prints; if that is as it should be, copy it there:\n%s", s.command, out)
			}
		}
	}
	if shown == 0 {
		t.Error("README.md shows no output")
	}
}

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

// prints reports whether a text is what is said, up to the lines that are left out.
func prints(text, said string) bool {
	first, last, cut := strings.Cut(said, "…\n")
	if !cut {
		return text == said
	}
	rest, begins := strings.CutPrefix(text, first)
	return begins && strings.HasSuffix(rest, "\n"+last)
}

func TestPrintsWithLinesLeftOut(t *testing.T) {
	for _, c := range []struct {
		text, said string
		want       bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\nc\n", "a\nb\n", false},
		{"a\nb\nc\nd\n", "a\n…\nd\n", true},
		{"a\nb\nc\nd\n", "a\n…\nc\n", false},
		{"a\nb\nc\nd\n", "b\n…\nd\n", false},
	} {
		want(t, c.said, prints(c.text, c.said), c.want)
	}
}
