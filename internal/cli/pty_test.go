//go:build linux

package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// onPseudoTerminal runs the command on a terminal of 70 columns, and returns what it wrote
// there. As soon as it has written a text it gets some keys.
func onPseudoTerminal(t *testing.T, env []string, until, keys string, args ...string) (code int, text string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), append(env, asCommand+"=1", "GOMAXPROCS=1")...) // what works until it is stopped leaves a core to others
	cmd.Dir = t.TempDir()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: ptyColumns})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	var seen bytes.Buffer
	for part := make([]byte, 4096); ; {
		n, err := terminal.Read(part)
		seen.Write(part[:n])
		if keys != "" && strings.Contains(seen.String(), until) {
			if _, err := io.WriteString(terminal, keys); err != nil {
				t.Fatal(err)
			}
			keys = ""
		}
		if err != nil { // the command has ended: Linux calls that an error
			break
		}
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

const ptyColumns = 70

// leftOn is what stands on the screen in the end: of a line that was written anew the
// last text. (All that our lines have of a terminal's orders is to begin anew and to clear
// the line.)
func leftOn(text string) string {
	var lines []string
	for l := range strings.SplitSeq(text, "\n") {
		l = l[strings.LastIndex(l, "\r")+1:]
		lines = append(lines, strings.TrimPrefix(l, "\033[K"))
	}
	return strings.Join(lines, "\n")
}

// wantFitting wants no line to be wider than the terminal, not even for a while.
func wantFitting(t *testing.T, text string) {
	t.Helper()
	for l := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if n := ansi.StringWidth(l); n > ptyColumns {
			t.Errorf("%d characters: %q", n, l)
		}
	}
}

// On a terminal there are colours, and a progress line that is gone at the end. NO_COLOR turns
// colours off. A dumb terminal has neither.
func TestOnATerminal(t *testing.T) {
	hunt := []string{"hunt", "calm", "--property", "V4", "--out", "", "--budget"}
	for _, c := range []struct {
		env             []string
		coloured, moves bool
	}{
		{[]string{"TERM=xterm-256color", "NO_COLOR="}, true, true},
		{[]string{"TERM=xterm-256color", "NO_COLOR=1"}, false, true},
		{[]string{"TERM=dumb", "NO_COLOR="}, false, false},
	} {
		budget, until, keys := "2s", "", ""
		if c.moves { // it is stopped when it has
			budget, until, keys = "1h", "\rcalm ", "\x03"
		}
		code, text := onPseudoTerminal(t, c.env, until, keys, append(hunt, budget)...)
		want(t, "exit code", code, exitUndecided)
		wantFitting(t, text)
		moves := strings.Contains(text, "\rcalm ")
		want(t, strings.Join(c.env, " ")+": a line that moves", moves, c.moves)
		left := leftOn(text)
		want(t, strings.Join(c.env, " ")+": colours", left != ansi.Strip(left), c.coloured)
		if !strings.HasPrefix(ansi.Strip(left), "calm: nothing violated (") || strings.Contains(left, " left") {
			t.Errorf("what stands there in the end:\n%s", left)
		}
	}
}

// After Ctrl-C a long command prints its results so far and says that it was stopped, and no
// progress line remains.
func TestCtrlCOnATerminal(t *testing.T) {
	for _, c := range []struct{ args, until, told string }{
		{"run calm --runs 10000000 --out=", "\rcalm ", "Stopped before the end: properties not violated so far are unknown."},
		{"debate calm crash-restart --runs 10000000", "\rthe debate ", stoppedLine},
		{"sweep restart-delay --runs 10000000", "\rrestart-delay, blocks of runs ", stoppedLine},
	} {
		code, text := onPseudoTerminal(t, []string{"TERM=xterm", "NO_COLOR=1"}, c.until, "\x03", strings.Fields(c.args)...)
		want(t, "exit code of "+c.args, code, exitUndecided)
		wantFitting(t, text)
		left := strings.Join(strings.Fields(leftOn(text)), " ")
		wantIn(t, left, c.told)
		if strings.Contains(left, "… left") || strings.Contains(left, "s left") || strings.Contains(left, "goroutine ") {
			t.Errorf("%s: what stands there in the end:\n%s", c.args, left)
		}
	}
}
