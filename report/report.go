package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/report/document"
	"github.com/lockstorm/lockstorm/storm"
)

// Options are what a report knows beside what is stored.
type Options struct {
	// Backend returns the backend of a name.
	Backend func(name string) (storm.Backend, error)

	// Simulator is the backend on which a run repeats exactly from its seed.
	Simulator storm.Backend

	// Most is how many runs are shown with their history, each kind of thing by itself:
	// those that violate something, the first of them. The others are in tables.
	Most int
}

// DefaultMost is Most where nobody says how many.
const DefaultMost = 12

// stoppedNote says that what is on the page is not all that was asked for.
const stoppedNote = "Stopped before the end: this is what is known."

// Report is a page in the making.
type Report struct {
	document.Document
	options Options
	taken   map[string]bool // anchors

	timelines int // there are, up to now
}

// New returns a page without a section.
func New(title string, o Options) *Report {
	return &Report{Document: document.Document{Title: title}, options: o, taken: map[string]bool{}}
}

// section adds a section of blocks.
func (r *Report) section(title string, blocks ...document.Block) {
	r.Sections = append(r.Sections, document.Section{ID: r.anchor("s", title), Title: title, Blocks: blocks})
}

// anchor makes an anchor of words that nothing on the page has yet.
func (r *Report) anchor(words ...string) string {
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(strings.Join(words, "-")))
	id := plain
	for n := 2; r.taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", plain, n)
	}
	r.taken[id] = true
	return id
}

// made says in the foot how something was made.
func (r *Report) made(what string, versions map[string]string, command string) {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, k+" "+versions[k])
	}
	text := what
	if len(parts) > 0 {
		text += ": made with " + strings.Join(parts, ", ")
	}
	if command != "" {
		text += "; " + command + " repeats it"
	}
	r.Foot = append(r.Foot, text+".")
}
