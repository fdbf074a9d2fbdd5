package timeline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Faults keeps what was done to the world. An effect of a planned fault belongs to
// that fault; anything else is one of its own.
type Faults struct {
	recent []Fault
	going  map[int]bool // planned faults that go on, by number
	ended  []int        // faults that have ended since the last try or grant, at most maxNotes
}

// Fault is a fault, or a change without one.
type Fault struct {
	About Subject
	Text  string
	From  history.Time
	To    history.Time
	Open  bool   // it goes on
	Ended bool   // it has ended; neither is true of what takes no time
	Left  string // the state in which it left its subject

	Kind  nemesis.Kind    // of the fault; "": the history does not say
	Wrong nemesis.Machine // the machine whose clock it makes wrong, if any
}

// Subject is a planned fault, or a client or node that something was done to.
type Subject struct {
	kind   history.Kind // of the event that begins it
	Number int
}

// None reports whether nothing was done to the world.
func (fs *Faults) None() bool { return len(fs.recent) == 0 }

// maxNotes bounds the faults that are kept. Those that go on are kept longest.
const maxNotes = 64

// noted are the kinds of events that are observed.
var noted = KindSet(history.FaultStart, history.FaultEnd, history.NodeDown, history.NodeUp, history.Pause, history.Resume, history.Kill)

func (fs *Faults) observe(f *Fact) {
	if f.Kind == history.FaultStart {
		fs.begin(f, faultText(f))
		return
	}
	about := Subject{history.FaultStart, f.Fault}
	if f.Fault == 0 {
		about = f.Subject()
		fs.observeBare(f)
	}
	switch f.Kind {
	case history.FaultEnd:
		fs.end(about, f.Time)
	case history.NodeUp:
		fs.leave(about, f.Detail)
	}
}

// observeBare notes a change without a fault.
func (fs *Faults) observeBare(f *Fact) {
	switch f.Kind {
	case history.NodeDown:
		fs.begin(f, fmt.Sprintf("node %d goes down", f.Node))
	case history.Pause:
		fs.begin(f, fmt.Sprintf("client %d is paused", f.Client))
	case history.Kill:
		fs.begin(f, fmt.Sprintf("client %d dies", f.Client))
		fs.recent[len(fs.recent)-1].Open = false
	case history.NodeUp, history.Resume:
		fs.end(f.Subject(), f.Time)
	}
}

// Subject names what the event is done to.
func (f *Fact) Subject() Subject {
	switch f.Kind {
	case history.NodeDown, history.NodeUp:
		return Subject{history.NodeDown, f.Node}
	case history.Pause, history.Resume:
		return Subject{history.Pause, f.Client}
	}
	return Subject{f.Kind, f.Fault}
}

func faultText(f *Fact) string {
	if f.Detail == "" {
		return fmt.Sprintf("fault %d begins", f.Fault)
	}
	return f.Detail
}

func (fs *Faults) begin(f *Fact, text string) {
	if len(fs.recent) == maxNotes {
		fs.recent = slices.Delete(fs.recent, fs.oldest(), fs.oldest()+1)
	}
	v := Fault{About: f.Subject(), Text: text, From: f.Time, Open: true}
	if f.Kind == history.FaultStart {
		v.Kind, v.Wrong = nemesis.Kind(f.Name), nemesis.Machine{Node: f.Node, Client: f.Client}
	}
	fs.recent = append(fs.recent, v)
}

// OnClock lists the faults that may have made the clocks of a machine wrong between two
// instants. A fault of unknown kind may have.
func (fs *Faults) OnClock(of nemesis.Machine, from, to history.Time) (list []Fault) {
	for _, v := range fs.recent {
		unnamed := v.About.kind == history.FaultStart && v.Kind == ""
		if v.From <= to && (v.Wrong == of && v.Affects(from) || unnamed) {
			list = append(list, v)
		}
	}
	return list
}

// Clones lists the faults that made clients clones. Clones draw the same random numbers.
func (fs *Faults) Clones() (list []Fault) {
	for _, v := range fs.recent {
		if v.Kind.Does(nemesis.Clones) {
			list = append(list, v)
		}
	}
	return list
}

// Affects reports whether the fault can make a clock wrong at an instant or later. A clock
// may be corrected slowly after the fault has ended.
func (f Fault) Affects(from history.Time) bool {
	switch {
	case f.Kind.Does(nemesis.StepsClock):
		return f.From >= from || f.Ended
	case f.Kind.Does(nemesis.SettlesClock):
		return !f.Ended || f.To >= from
	}
	return true
}

// oldest returns the index of the oldest fault that has ended, or of the oldest of all.
func (fs *Faults) oldest() int {
	return max(0, slices.IndexFunc(fs.recent, func(v Fault) bool { return !v.Open }))
}

func (fs *Faults) end(about Subject, at history.Time) {
	if v := fs.last(about); v != nil && v.Open {
		v.Open, v.Ended, v.To = false, true, at
	}
}

func (fs *Faults) leave(about Subject, how string) {
	if v := fs.last(about); v != nil {
		v.Left = how
	}
}

func (fs *Faults) last(about Subject) *Fault {
	for i := len(fs.recent) - 1; i >= 0; i-- {
		if fs.recent[i].About == about {
			return &fs.recent[i]
		}
	}
	return nil
}

// Between returns the faults that went on at some time from a to b, as known at b.
func (fs *Faults) Between(a, b history.Time) []Fault {
	var list []Fault
	for _, v := range fs.recent {
		if v.From > b || !v.Open && v.From < a && v.To < a {
			continue
		}
		if v.Ended && v.To > b {
			v.Ended, v.Left = false, ""
		}
		list = append(list, v)
	}
	return list
}

// Pause is the last pause of a client.
type Pause struct {
	Ever     bool
	From, To history.Time
}

// Since returns the pause if it ended after an instant.
func (s Pause) Since(then history.Time) Pause {
	if s.To <= then {
		return Pause{}
	}
	return s
}

func (t *Timeline) faultStart(f *Fact, force bool) bool {
	if t.Faults.going[f.Fault] {
		return force && t.contradict("fault %d begins at %s, and has not ended since it began", f.Fault, textfmt.Instant(f.Time))
	}
	t.Faults.going[f.Fault] = true
	return true
}

func (t *Timeline) faultEnd(f *Fact, force bool) bool {
	if !t.Faults.going[f.Fault] {
		return force && t.contradict("fault %d ends at %s, but it has not begun", f.Fault, textfmt.Instant(f.Time))
	}
	delete(t.Faults.going, f.Fault)
	if n := &t.Faults; len(n.ended) < maxNotes {
		n.ended = append(n.ended, f.Fault)
	}
	return true
}

// Untried lists the faults after which no client has begun a try, or was granted a lock, in order: also
// those that go on.
func (fs *Faults) Untried() []int {
	all := slices.AppendSeq(slices.Clone(fs.ended), maps.Keys(fs.going))
	slices.Sort(all)
	return slices.Compact(all)
}
