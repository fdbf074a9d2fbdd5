package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
)

// Bar tells on a terminal how far a long work has come: a line that is written anew five
// times a second, with how much is done, how fast it goes on (over the last seconds, for
// work changes its pace) and how long it will take. It is silent for the first second, and
// leaves nothing behind. In a file or a pipe it is a line now and then, which stays. All of its
// methods may be called by several goroutines.
type Bar struct {
	stage *stage
	bar   *pb.ProgressBar // nil: nobody watches
	timer *time.Timer     // that shows it, or writes the next line

	mu    sync.Mutex
	ended bool
	said  time.Time // when Say was last due
}

// Unit is what a work is counted in: how its line looks.
type Unit string

// The units of progress.
const (
	Pieces Unit = `{{what .}} {{bar .}} {{counters . "%s/%s"}}{{pace .}}, {{rtime . "%s left" "" "… left"}}{{more .}}`
	Bytes  Unit = `{{what .}} {{bar .}} {{counters . "%s of %s"}}{{pace .}}, {{rtime . "%s left" "" "… left"}}{{more .}}`

	// Steps are so few, or so unlike each other, that they have no pace.
	Steps Unit = `{{what .}} {{bar .}} {{counters . "%s/%s"}}, for {{since .}}{{more .}}`

	// Told is progress whose remaining part is a text, set by [Bar.Left].
	Told Unit = `{{what .}} {{bar .}} {{left .}}{{pace .}}{{more .}}`

	// waiting is the line of a work of which nothing is known before it is done.
	waiting Unit = `{{what .}}, for {{since .}}{{more .}}` + blank

	// endless is the line of a work of which nobody knows how much it is.
	endless Unit = `{{what .}}: {{counters .}}{{pace .}}, for {{since .}}{{more .}}` + blank

	blank Unit = `{{bar . " " " " " " " " " "}}` // fills the line
)

// kept are the values of a line, by their names in it.
type kept string

const (
	what  kept = "what"
	left  kept = "left"
	more  kept = "more"
	began kept = "began"
	on    kept = "on" // the terminal
)

func init() {
	for name, element := range map[string]pb.ElementFunc{
		"what": func(s *pb.State, _ ...string) string {
			if o, is := s.Get(on).(*Output); is {
				s.SetWidth(roomOn(o)) // the next time
			}
			return fmt.Sprint(s.Get(what))
		},
		"left": said(left),
		"more": said(more),
		"since": func(s *pb.State, _ ...string) string {
			at, _ := s.Get(began).(time.Time)
			return s.Time().Sub(at).Round(time.Second).String()
		},
		"pace": func(s *pb.State, _ ...string) string {
			text := pb.ElementSpeed(s, "%s/s", "0/s")
			if text == "0/s" { // or less than one
				return ""
			}
			return ", " + text
		},
	} {
		pb.RegisterElement(name, element, false)
	}
}

// said returns the stored text of a bar.
func said(what kept) pb.ElementFunc {
	return func(s *pb.State, _ ...string) string {
		text, _ := s.Get(what).(string)
		return text
	}
}

// roomOn is how wide the line may be: of a full one some terminals go on to the next, and
// behind it stands what they show of Ctrl-C.
func roomOn(o *Output) int { return o.Screen().Width - len("^C") - 1 }

var ( // which tests do not wait for
	patience = time.Second            // so long a work tells nothing of itself
	refresh  = 200 * time.Millisecond // between two lines

	firstLine = 10 * time.Second // after which there is a line in a file; the next ones take twice as long each
	lastLine  = time.Minute      // up to this
)

// NewBar begins a work of so many units; 0: nobody knows how many. Whoever begins it ends it
// by [Bar.Done].
func NewBar(problems io.Writer, name string, total int64, unit Unit) *Bar {
	b := &Bar{}
	o, is := problems.(*Output)
	if !is || !o.Screen().Rewritten && !o.Screen().Kept {
		return b
	}
	line := unit
	switch {
	case total > 0 || unit == Told:
	case unit == Steps:
		line = waiting
	default:
		line = endless
	}
	if o.Screen().Kept {
		line = withoutBar(line)
	}
	b.stage = o.stage
	b.bar = pb.New64(total).SetTemplateString(string(line)).SetWriter(o.stage).SetRefreshRate(refresh).
		Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true).
		Set(what, name).Set(began, time.Now()).Set(on, o)
	b.bar.SetWidth(roomOn(o))
	if unit == Bytes {
		b.bar.Set(pb.Bytes, true).Set(pb.SIBytesPrefix, true)
	}
	if o.Screen().Kept {
		b.writeLines(o)
		return b
	}
	b.timer = time.AfterFunc(patience, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.ended {
			b.bar.Start()
		}
	})
	return b
}

// withoutBar returns the line of a unit as it is in a file.
func withoutBar(line Unit) Unit {
	return Unit(strings.NewReplacer(" {{bar .}}", ":", string(blank), "").Replace(string(line)))
}

// writeLines writes the line as it is, now and then. The longer a work takes, the less often: a log is
// read from its end.
func (b *Bar) writeLines(o *Output) {
	wait := firstLine
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer = time.AfterFunc(wait, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.ended {
			return
		}
		_, _ = fmt.Fprintln(o, b.bar.String())
		wait = min(2*wait, lastLine)
		b.timer.Reset(wait)
	})
}

// Step counts one more unit as done.
func (b *Bar) Step() { b.Steps(1) }

// Steps counts some more units as done.
func (b *Bar) Steps(n int) {
	if b.bar != nil {
		b.bar.Add(n)
	}
}

// At says how many units are done, of how many.
func (b *Bar) At(done, total int) {
	if b.bar != nil {
		b.bar.SetTotal(int64(total)).SetCurrent(int64(done))
	}
}

// Add says that there is more to do.
func (b *Bar) Add(total int) {
	if b.bar != nil {
		b.bar.AddTotal(int64(total))
	}
}

// Call says what is done now.
func (b *Bar) Call(format string, args ...any) {
	if b.bar != nil {
		b.bar.Set(what, fmt.Sprintf(format, args...))
	}
}

// Due reports whether it is time to say more. To make the words of it each time would cost
// more than the work.
func (b *Bar) Due() bool {
	if b.bar == nil {
		return false
	}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.said) < refresh/2 {
		return false
	}
	b.said = now
	return true
}

// Left sets the text about the remaining part of a [Told] bar.
func (b *Bar) Left(format string, args ...any) {
	if b.bar != nil {
		b.bar.Set(left, fmt.Sprintf(format, args...))
	}
}

// Say says more, at the end of the line: what a narrow terminal has no room for is left out.
func (b *Bar) Say(format string, args ...any) {
	if b.bar != nil {
		b.bar.Set(more, fmt.Sprintf(format, args...))
	}
}

// String is the line as it is now, or nothing where nobody watches.
func (b *Bar) String() string {
	if b.bar == nil {
		return ""
	}
	return b.bar.String()
}

// Done takes the line away. It may be called again.
func (b *Bar) Done() {
	if b.bar == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	b.ended = true
	b.timer.Stop()
	b.bar.Finish()
	b.stage.mu.Lock()
	defer b.stage.mu.Unlock()
	b.stage.clear()
}
