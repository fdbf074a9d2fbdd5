package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// statusLine is a line on a terminal that is written anew while a long work goes on. It
// is silent where nobody watches, and for the first second.
type statusLine struct {
	out     io.Writer // nil: nobody watches
	began   time.Time
	printed time.Time
}

func newStatusLine(out io.Writer) *statusLine {
	l := &statusLine{began: time.Now()}
	l.printed = l.began.Add(time.Second)
	if f, ok := out.(*os.File); ok && isTerminal(f) {
		l.out = out
	}
	return l
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// due reports whether it is time to write the line anew, and after how long since the
// work began.
func (l *statusLine) due() (elapsed time.Duration, due bool) {
	now := time.Now()
	if l.out == nil || now.Sub(l.printed) < 100*time.Millisecond {
		return 0, false
	}
	l.printed = now
	return now.Sub(l.began), true
}

// print writes the line anew. The terminal is told not to wrap it: of a line that has
// gone on to the next one only the end could be taken away.
func (l *statusLine) print(format string, args ...any) {
	_, _ = fmt.Fprintf(l.out, "\r\033[K\033[?7l"+format+"\033[?7h", args...)
}

// done takes the line away.
func (l *statusLine) done() {
	if l.out != nil {
		_, _ = fmt.Fprint(l.out, "\r\033[K")
	}
}

// progress says how many pieces of a work are done.
type progress struct {
	*statusLine
	what  string
	total int
	n     int
}

func newProgress(out io.Writer, what string, total int) *progress {
	return &progress{statusLine: newStatusLine(out), what: what, total: total}
}

// step counts one more piece of the work as done.
func (p *progress) step() { p.steps(1) }

// steps counts some more pieces of the work as done.
func (p *progress) steps(n int) {
	p.n += n
	if elapsed, due := p.due(); due {
		left := float64(elapsed) / float64(max(p.n, 1)) * float64(p.total-p.n)
		p.print("%s %d/%d, %.0f/s, %v left", p.what, p.n, p.total, float64(p.n)/elapsed.Seconds(), time.Duration(left).Round(time.Second))
	}
}
