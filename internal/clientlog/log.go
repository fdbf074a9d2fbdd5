package clientlog

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// maxBytes bounds the text of a [Log]. A library may log without end, and the beginning says more.
const maxBytes = 1 << 20

// Log is what was logged during one run: the first megabyte of it, and the number of lines that
// are left out. Its methods may be called by several goroutines at once, also after the run.
type Log struct {
	mu      sync.Mutex
	text    []byte
	full    bool
	omitted int // lines
}

// Write appends a text to the log. It never fails. Each text has to be one or more whole lines, as
// those that loggers write.
func (l *Log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full = l.full || len(l.text)+len(text) > maxBytes; l.full {
		l.omitted += bytes.Count(text, []byte("\n"))
	} else {
		l.text = append(l.text, text...)
	}
	return len(text), nil
}

// Text returns what was logged so far, with a last line about what is left out; nil if nothing was
// logged.
func (l *Log) Text() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := bytes.Clone(l.text)
	if l.full {
		text = fmt.Appendf(text, "… and %s more, left out beyond %d bytes\n", textfmt.Count(l.omitted, "line"), maxBytes)
	}
	return text
}
