package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress is a line on a terminal that says how far a long work has come. It
// is silent where nobody watches, and for the first second.
type progress struct {
	out     io.Writer // nil: nobody watches
	what    string
	total   int
	n       int
	began   time.Time
	printed time.Time
}

func newProgress(out io.Writer, what string, total int) *progress {
	p := &progress{what: what, total: total, began: time.Now()}
	p.printed = p.began.Add(time.Second)
	if f, ok := out.(*os.File); ok && isTerminal(f) {
		p.out = out
	}
	return p
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// step counts one more piece of the work as done.
func (p *progress) step() {
	p.n++
	now := time.Now()
	if p.out == nil || now.Sub(p.printed) < 100*time.Millisecond {
		return
	}
	p.printed = now
	elapsed := now.Sub(p.began)
	left := time.Duration(float64(elapsed) / float64(p.n) * float64(p.total-p.n))
	_, _ = fmt.Fprintf(p.out, "\r\033[K%s %d/%d, %.0f/s, %v left", p.what, p.n, p.total, float64(p.n)/elapsed.Seconds(), left.Round(time.Second))
}

// done takes the line away.
func (p *progress) done() {
	if p.out != nil {
		_, _ = fmt.Fprint(p.out, "\r\033[K")
	}
}
