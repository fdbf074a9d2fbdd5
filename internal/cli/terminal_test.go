package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/lockstorm/lockstorm/internal/terminal"
)

// screen is a terminal of so many columns.
type screen struct {
	io.Writer
	columns int
}

func (s screen) Screen() terminal.Screen {
	return terminal.Screen{Width: s.columns, Terminal: true, Colour: true, Rewritten: true}
}

func (s screen) Write(p []byte) (int, error) {
	if s.Writer == nil {
		return len(p), nil
	}
	return s.Writer.Write(p)
}

// onScreen runs a command line on a terminal with some columns, and returns its output.
func onScreen(t *testing.T, columns int, args ...string) (code int, out string) {
	t.Helper()
	var o, p bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), screen{Writer: &o, columns: columns}, &p)
	return code, o.String()
}

// Law: from 60 columns on whatever is printed fits the terminal, and says what it says
// elsewhere; commands that people copy are not broken.
func TestNarrowTerminals(t *testing.T) {
	commands := [][]string{
		{"run", "crash-restart", "--runs", "3", "--out", ""},
		{"run", "calm", "--faults", "all", "--runs", "30", "--out", ""},
		{"debate", "--from", "../../results/reference"},
		{"compare", "--from", "../../results/reference"},
		{"hunt", "crash-restart", "--property", "V1", "--runs", "60", "--out", ""},
		{"replay", "../../testdata/cases/redlock-lease-crash-restart.yaml", "--out", ""},
		{"check", "../../docs/two-holders.jsonl"},
		{"check", "../../internal/jepsen/testdata/given-away.edn"},
		{"list"},
		{"sweep"},
	}
	for _, args := range commands {
		code, plain, problems := command(t, args...)
		if code == exitBadInput {
			t.Fatalf("%v: %s", args, problems)
		}
		for _, columns := range []int{60, 119} {
			again, out := onScreen(t, columns, args...)
			want(t, "exit code", again, code)
			for l := range strings.Lines(out) {
				l = ansi.Strip(strings.TrimSuffix(l, "\n"))
				if n := ansi.StringWidth(l); n > columns && !strings.Contains(l, "lockstorm ") {
					t.Errorf("%v in %d columns: %d characters: %s", args, columns, n, l)
				}
			}
			if missing := lacking(plain, ansi.Strip(out)); missing != "" {
				t.Errorf("%v in %d columns: %s", args, columns, missing)
			}
		}
	}
}

// lacking returns a word of one text that is not in another.
func lacking(plain, shown string) string {
	there := map[string]bool{}
	for _, w := range strings.Fields(shown) {
		there[w] = true
	}
	for _, w := range strings.Fields(plain) {
		if !there[w] {
			return "no " + w
		}
	}
	return ""
}

// Output is coloured on a terminal, unless colours are turned off.
func TestColour(t *testing.T) {
	args := []string{"run", "crash-restart", "--out", ""}
	_, plain, _ := command(t, args...)
	_, coloured := onScreen(t, 119, args...)
	want(t, "without its colours", ansi.Strip(coloured), plain)
	wantIn(t, coloured, terminal.Screen{Colour: true}.Bad("violated"))
	_, out := onScreen(t, 119, append(args, "--color", "never")...)
	want(t, "--color never", out, plain)
	_, out, _ = command(t, append(args, "--color", "always")...)
	want(t, "--color always", out, coloured)
	code, _, problems := command(t, append(args, "--color", "sometimes")...)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, `--color "sometimes": want auto, always or never`)
}
