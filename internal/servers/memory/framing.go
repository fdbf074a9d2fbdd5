package memory

import (
	"bytes"
	"strconv"
)

// framing tells the commands apart in what is asked, which are arrays of strings: it may come
// in pieces of any size.
type framing struct {
	line    []byte // that has begun
	strings int    // of a command that are still to come
	bytes   int    // of a string that are still to come, with the end of its line
}

// ends returns how many commands end in the next piece.
func (f *framing) ends(piece []byte) (commands int) {
	for len(piece) > 0 {
		if f.bytes == 0 {
			piece = f.read(piece)
			continue
		}
		n := min(f.bytes, len(piece))
		f.bytes, piece = f.bytes-n, piece[n:]
		if f.bytes > 0 {
			break
		}
		if f.strings--; f.strings == 0 {
			commands++
		}
	}
	return commands
}

// read reads up to the end of a line that says how much follows, and returns the rest.
func (f *framing) read(piece []byte) (rest []byte) {
	line, rest, whole := bytes.Cut(piece, []byte("\n"))
	f.line = append(f.line, line...)
	if !whole {
		return nil
	}
	if text := bytes.TrimSuffix(f.line, []byte("\r")); len(text) > 1 {
		switch n, _ := strconv.Atoi(string(text[1:])); text[0] {
		case '*':
			f.strings = n
		case '$':
			f.bytes = n + len("\r\n")
		}
	}
	f.line = f.line[:0]
	return rest
}
