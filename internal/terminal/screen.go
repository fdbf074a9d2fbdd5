// Package terminal adapts output to its reader: the width of lines, colours, and progress while
// long work goes on. Output into a file or a pipe is always the same.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Screen is what the form of a text depends on.
type Screen struct {
	// Width is how many characters of a line there is room for.
	Width int

	// Terminal tells a terminal from a file or a pipe, where nothing has to be fitted.
	Terminal bool

	// Colour says that text may be coloured.
	Colour bool

	// Rewritten says that a line can be written anew, so that somebody can watch a work.
	Rewritten bool

	// Kept says that lines go to a file or a pipe, such as the log of a CI job. Progress is then told
	// in lines of its own, seldom.
	Kept bool
}

const (
	// Unwatched is how wide a text is that goes to no terminal, where it is wrapped at all.
	Unwatched = 119

	unknownWidth = 80 // of a terminal that does not tell
	narrowest    = 40 // below which nothing would be readable
	widestProse  = Unwatched
)

// Look finds out what w is, by the environment that getenv reads: NO_COLOR
// (https://no-color.org) and TERM.
func Look(w io.Writer, getenv func(string) string) Screen {
	if known, is := w.(interface{ Screen() Screen }); is {
		return known.Screen()
	}
	f, is := w.(*os.File)
	if !is || !term.IsTerminal(int(f.Fd())) {
		return Screen{Width: Unwatched, Kept: is}
	}
	able := getenv("TERM") != "dumb"
	return Screen{Width: widthOf(f), Terminal: true, Colour: able && getenv("NO_COLOR") == "", Rewritten: able}
}

// widthOf asks a terminal for its width.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 {
		width = unknownWidth
	}
	return max(width, narrowest)
}

// On is the screen that w writes to, if it is an [Output] or knows one.
func On(w io.Writer) Screen {
	if known, is := w.(interface{ Screen() Screen }); is {
		return known.Screen()
	}
	return Screen{Width: Unwatched}
}

// Prose is how wide text is in which sentences are read.
func (s Screen) Prose() int { return min(s.Width, widestProse) }
