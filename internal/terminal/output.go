package terminal

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Output is a stream of the program: what it prints, or what it says of problems. A line
// that is written anew on the same terminal is taken away before anything else is written
// there.
type Output struct {
	to     io.Writer
	screen func() Screen // it may become wider or narrower
	colour When
	stage  *stage

	fitted bool
	begun  []byte // a line that is to be fitted, as far as it has come
	err    error
	failed func() // called at the first error
}

// Outputs are what a program prints, and what it says of problems, which may be one
// terminal.
func Outputs(out, problems io.Writer, getenv func(string) string) (printed, said *Output) {
	s := &stage{to: problems}
	over := func(w io.Writer) *Output {
		return &Output{to: w, screen: func() Screen { return Look(w, getenv) }, stage: s, colour: Auto}
	}
	return over(out), over(problems)
}

// Screen is what is written to.
func (o *Output) Screen() Screen {
	s := o.screen()
	switch o.colour {
	case Always:
		s.Colour = true
	case Never:
		s.Colour = false
	}
	return s
}

// Coloured says when text is coloured.
func (o *Output) Coloured(when When) { o.colour = when }

// OnError has f called once, at the first error of a write.
func (o *Output) OnError(f func()) { o.failed = f }

// Fit has w, from now on, break lines between words where they are longer than a terminal is
// wide. It is for text that people read; elsewhere than on a terminal nothing is broken.
func Fit(w io.Writer) {
	if o, is := w.(*Output); is {
		o.fitted = true
	}
}

// Write writes, and keeps the first error, which those who print do not look at.
func (o *Output) Write(p []byte) (int, error) {
	text := p
	if s := o.Screen(); o.fitted && s.Terminal {
		o.begun = append(o.begun, p...)
		end := bytes.LastIndexByte(o.begun, '\n') + 1
		text = []byte(fit(string(o.begun[:end]), s.Width))
		o.begun = o.begun[end:]
	}
	if err := o.write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (o *Output) write(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	o.stage.mu.Lock()
	defer o.stage.mu.Unlock()
	if o.stage.line && o.Screen().Terminal {
		o.stage.clear()
	}
	_, err := o.to.Write(text)
	if o.err == nil && err != nil {
		o.err = err
		if o.failed != nil {
			o.failed()
		}
	}
	return err
}

// Close writes the rest of a line without an end, and returns the first error of all writes.
func (o *Output) Close() error {
	_ = o.write(o.begun)
	o.begun = nil
	return o.err
}

// stage is a terminal on which several write.
type stage struct {
	mu   sync.Mutex
	to   io.Writer // where the line stands that is written anew
	line bool      // there is one
}

// clear takes the line away.
func (s *stage) clear() {
	if s.line {
		s.line = false
		_, _ = io.WriteString(s.to, "\r\033[K")
	}
}

// Write writes the line anew.
func (s *stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = true
	return s.to.Write(p)
}

// fit breaks the lines of a text that are longer than width between words. The continuation of a
// line is indented a little more than its start.
func fit(text string, width int) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		line := strings.TrimSuffix(l, "\n")
		plain := strings.TrimLeft(line, " ")
		if ansi.StringWidth(line) <= width || textfmt.IsCommand(plain) {
			b.WriteString(l)
			continue
		}
		indent := strings.Repeat(" ", min(len(line)-len(plain), width/2))
		for i, part := range textfmt.LinesOf(plain, width-len(indent)-hanging, ansi.StringWidth) {
			b.WriteString(indent)
			if i > 0 {
				b.WriteString(strings.Repeat(" ", hanging))
			}
			b.WriteString(strings.TrimRight(part, " ") + "\n")
		}
	}
	return b.String()
}

// Flow is a text of several lines as w breaks it: on a terminal where that has room.
func Flow(w io.Writer, text string) string {
	if On(w).Terminal {
		return strings.ReplaceAll(text, "\n", " ")
	}
	return text
}

// hanging is by how much what is broken off a line is indented.
const hanging = 2
