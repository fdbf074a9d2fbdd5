package terminal

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// fake is a terminal that keeps what is written to it.
type fake struct {
	screen Screen
	mu     sync.Mutex
	text   strings.Builder
}

func (f *fake) Screen() Screen { return f.screen }

func (f *fake) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.Write(p)
}

func (f *fake) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}

func narrow(width int) *fake {
	return &fake{screen: Screen{Width: width, Terminal: true, Colour: true, Rewritten: true}}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Output that is no terminal has the largest width of wrapped text, whatever the environment says.
func TestNoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	able := func(string) string { return "xterm-256color" }
	want(t, "a file, which keeps lines", Look(f, able), Screen{Width: Unwatched, Kept: true})
	want(t, "a buffer of a program", Look(&strings.Builder{}, able), Screen{Width: Unwatched})
	want(t, "the screen of a writer that knows none", On(io.Discard), Screen{Width: Unwatched})
}

// Law: colours change nothing in the text.
func TestColoursSayNothing(t *testing.T) {
	on := Screen{Colour: true}
	for _, text := range []string{"V1✗(✓) V2✓ V3? V4·", "? in 3 of 7 runs", "holds", "violated", "unknown", "✗ in 2 of 14", "is it? no", ""} {
		want(t, "without the colours", ansi.Strip(on.Verdicts(text)), text)
		want(t, "where there are none", Screen{}.Verdicts(text), text)
	}
	want(t, "a question", on.Verdicts("is it?"), "is it?")
	want(t, "an open verdict", on.Verdicts("L1?"), on.Strong("L1?"))
}

// Law: fitted text has the same words, on lines no wider than the terminal; commands are not
// broken, and output that is no terminal gets the original text.
func TestFit(t *testing.T) {
	text := "short\n  a line that is \033[1mindented\033[m and does not fit at all into forty columns\n" +
		"lockstorm replay v1.calm.52.g1.4.crash,partition,latency.906be8f5.2091 --trace\nthe end"
	f := narrow(40)
	out, _ := Outputs(f, io.Discard, os.Getenv)
	Fit(out)
	for part := range strings.SplitSeq(text, "that") { // as it comes
		if _, err := io.WriteString(out, part+"that"); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text += "that"
	want(t, "the words", strings.Join(strings.Fields(f.String()), " "), strings.Join(strings.Fields(text), " "))
	for l := range strings.Lines(f.String()) {
		if n := ansi.StringWidth(strings.TrimSuffix(l, "\n")); n > 40 && !strings.HasPrefix(l, "lockstorm ") {
			t.Errorf("%d characters: %q", n, l)
		}
	}
	want(t, "indented", strings.Contains(f.String(), "\n    fit at all"), true)

	var file strings.Builder
	out, _ = Outputs(&file, io.Discard, os.Getenv)
	Fit(out)
	_, _ = io.WriteString(out, text)
	want(t, "in a file", file.String(), text)
}

// The first error of all that is written is kept.
func TestFirstError(t *testing.T) {
	broken := errors.New("no space")
	out, _ := Outputs(failing{broken}, io.Discard, os.Getenv)
	calls := 0
	out.OnError(func() { calls++ })
	_, _ = io.WriteString(out, "one")
	_, _ = io.WriteString(out, "two")
	want(t, "the error", out.Close(), broken)
	want(t, "calls", calls, 1)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// impatient has bars shown at once.
func impatient(t *testing.T) {
	was, often := patience, refresh
	patience, refresh = 0, time.Millisecond
	t.Cleanup(func() { patience, refresh = was, often })
}

// A bar is shown while the work goes on, makes room for what is printed, fits the terminal,
// and is gone when the work is done.
func TestBar(t *testing.T) {
	impatient(t)
	f := narrow(50)
	out, problems := Outputs(f, f, os.Getenv)
	b := NewBar(problems, "a work", 10, Pieces)
	b.Steps(3)
	b.Say(", %s", strings.Repeat("and more ", 10))
	shown := func(n int) {
		for end := time.Now().Add(2 * time.Minute); strings.Count(f.String(), "\ra work") < n; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not shown %d times: %q", n, f.String())
			}
		}
	}
	shown(1)
	_, _ = io.WriteString(out, "a result\n")
	if !strings.Contains(f.String(), "\r\033[Ka result\n") {
		t.Errorf("the line is not taken away: %q", f.String())
	}
	shown(strings.Count(f.String(), "\ra work") + 1)
	b.Done()
	b.Done()
	text := f.String()
	for line := range strings.SplitSeq(text, "\r") {
		if n := ansi.StringWidth(strings.TrimSuffix(line, "a result\n")); n >= 50 {
			t.Errorf("%d characters: %q", n, line)
		}
	}
	want(t, "what is left at the end", text[strings.LastIndex(text, "\r"):], "\r\033[K")
	want(t, "how much is told", strings.Contains(text, " 3/10"), true)
}

// A work that is over soon tells nothing of itself, nor does one that nobody watches.
func TestSilentBars(t *testing.T) {
	dumb := narrow(50)
	dumb.screen.Rewritten = false
	for _, on := range []*fake{narrow(50), dumb} {
		_, problems := Outputs(io.Discard, on, os.Getenv)
		b := NewBar(problems, "a work", 10, Bytes)
		b.Step()
		b.At(1, 2)
		b.Add(3)
		b.Call("it")
		b.Left("some")
		b.Say("more")
		if on == dumb {
			want(t, "due", b.Due(), false)
			want(t, "the line", b.String(), "")
		}
		b.Done()
		want(t, "what is told", on.String(), "")
	}
}

// In a file each kind of work has a line now and then, without a bar, and the lines stay.
func TestLinesInAFile(t *testing.T) {
	first, last := firstLine, lastLine
	firstLine, lastLine = time.Millisecond, time.Millisecond
	t.Cleanup(func() { firstLine, lastLine = first, last })
	for _, c := range []struct {
		unit  Unit
		total int64
		want  string
	}{
		{Pieces, 10, "a work: 3/10, … left, more\n"},
		{Bytes, 2000, "a work: 3 B of 2.00 kB, … left, more\n"},
		{Steps, 0, "a work, for 0s, more\n"},
		{Told, 10, "a work: some left, more\n"},
	} {
		f := narrow(Unwatched)
		f.screen = Screen{Width: Unwatched, Kept: true}
		_, problems := Outputs(io.Discard, f, os.Getenv)
		b := NewBar(problems, "a work", c.total, c.unit)
		b.Steps(3)
		b.Left("some left")
		b.Say(", more")
		for end := time.Now().Add(2 * time.Minute); strings.Count(f.String(), c.want) < 2; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("no two lines %q in %q", c.want, f.String())
			}
		}
		b.Done()
		told := f.String()
		time.Sleep(20 * time.Millisecond)
		want(t, "what is told after the end", strings.TrimPrefix(f.String(), told), "")
		want(t, "what is written anew", strings.ContainsAny(told, "\r\033"), false)
	}
}
