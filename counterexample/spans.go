package counterexample

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/words"
)

// span is something that went on for a time, and the row in which it is shown.
type span struct {
	row      string
	text     string
	details  string
	colour   string
	from, to history.Time
	client   int          // whom it is about alone, or 0
	kind     history.Kind // that began it, or 0
}

// spans follows what went on beside the windows.
type spans struct {
	place    checker.Place
	world    around[span]
	lock     around[span] // its calls, or keys
	accused  around[span] // those of them that are of the client which the finding is about
	work     around[span] // accesses to the guarded resource
	calls    bool         // the lock's calls are of interest
	keys     bool         // so are its keys on the nodes
	accesses bool         // so are accesses to the guarded resource

	open map[subject]span
	cut  map[int][]int // by client: the nodes that it has no link to
	now  history.Time
	torn map[int]bool // clients whose links have changed in this instant
}

// subject is what an open span is about.
type subject struct {
	kind   history.Kind // that began it
	number int          // of the fault, client or node
	token  string
}

// The colours: what is wrong, what a client believes, what was done to it.
const (
	red    = "#ff9c9c"
	orange = "#ffd8a8"
	green  = "#c9ecc9"
	yellow = "#fff3b0"
	grey   = "#e4e4e4"
	blue   = "#d0e4ff"
)

func newSpans(p checker.Place) spans {
	return spans{
		place: p, world: near[span](p, keptSpans), lock: near[span](p, keptCalls),
		accused: near[span](p, keptAccused), work: near[span](p, keptWork),
		open: map[subject]span{}, cut: map[int][]int{}, torn: map[int]bool{},
	}
}

func (s *spans) begin(key subject, at history.Time, v span) {
	if _, open := s.open[key]; open {
		return
	}
	v.from, v.kind = at, key.kind
	s.open[key] = v
}

func (s *spans) end(key subject, at history.Time, how string) {
	v, open := s.open[key]
	if !open {
		return
	}
	delete(s.open, key)
	v.to = at
	if how != "" {
		v.text += ": " + how
	}
	s.keep(v)
}

func (s *spans) keep(v span) {
	switch v.kind {
	case history.Acquire, history.Extend, history.Release, history.KeySet:
		if v.client == 0 || v.client != s.place.Client {
			s.lock.add(v, v.from, v.to)
			return
		}
		if s.wrong(v) {
			v.colour = red
		}
		s.accused.add(v, v.from, v.to)
	case history.Read, history.Write, history.Apply:
		s.work.add(v, v.from, v.to)
	default:
		s.world.add(v, v.from, v.to)
	}
}

// wrong reports whether a call or a key is what the finding is about: a key that
// stayed, or else a call at the place.
func (s *spans) wrong(v span) bool {
	if s.keys {
		return v.kind == history.KeySet && v.from <= s.place.From && v.to >= s.place.To
	}
	return v.from >= s.place.From && v.to <= s.place.To
}

func (s *spans) point(kind history.Kind, at history.Time, v span) {
	v.kind, v.from, v.to = kind, at, at
	s.keep(v)
}

// observe follows an event; concerns says of a resource whether it is shown.
func (s *spans) observe(e *history.Event, concerns func(resource string) bool) {
	if e.Time != s.now {
		s.settle()
		s.now = e.Time
	}
	s.beside(e)
	if !concerns(e.Resource) || e.Resource == "" {
		return
	}
	if s.calls {
		s.call(e)
	}
	if s.keys {
		s.key(e)
	}
	if s.accesses {
		s.access(e)
	}
}

// beside follows what was done to clients, nodes and links.
func (s *spans) beside(e *history.Event) {
	client, node := fmt.Sprintf("client %d", e.Client), fmt.Sprintf("node %d", e.Node)
	switch e.Kind {
	case history.FaultStart:
		s.begin(subject{kind: history.FaultStart, number: e.Fault}, e.Time,
			span{row: "faults", text: cmp.Or(e.Detail, fmt.Sprintf("fault %d", e.Fault)), colour: orange})
	case history.FaultEnd:
		s.end(subject{kind: history.FaultStart, number: e.Fault}, e.Time, "")
	case history.Pause:
		s.begin(subject{kind: history.Pause, number: e.Client}, e.Time, span{row: client + " state", text: "paused", colour: grey, client: e.Client})
	case history.Resume:
		s.end(subject{kind: history.Pause, number: e.Client}, e.Time, "")
	case history.Kill:
		s.point(e.Kind, e.Time, span{row: client + " state", text: "dies", colour: grey, client: e.Client})
	case history.Cancel:
		s.point(e.Kind, e.Time, span{row: client + " state", text: "its call is cancelled", colour: grey, client: e.Client})
	case history.NodeDown:
		s.begin(subject{kind: history.NodeDown, number: e.Node}, e.Time, span{row: "nodes", text: node + " is down", colour: orange})
	case history.NodeUp:
		s.end(subject{kind: history.NodeDown, number: e.Node}, e.Time, cmp.Or("back "+e.Detail, "back"))
	case history.Leader:
		s.point(e.Kind, e.Time, span{row: "nodes", text: leads(e), colour: blue})
	case history.LinkDown:
		s.sever(e.Client, e.Node, true)
	case history.LinkUp:
		s.sever(e.Client, e.Node, false)
	}
}

func leads(e *history.Event) string {
	if e.Node == 0 {
		return "no leader"
	}
	return strings.TrimSpace(fmt.Sprintf("node %d leads %s", e.Node, e.Detail))
}

func (s *spans) sever(client, node int, cut bool) {
	had := slices.Contains(s.cut[client], node)
	switch {
	case cut && !had:
		s.cut[client] = append(slices.Clone(s.cut[client]), node)
		slices.Sort(s.cut[client])
	case !cut && had:
		s.cut[client] = slices.DeleteFunc(slices.Clone(s.cut[client]), func(n int) bool { return n == node })
	default:
		return
	}
	s.torn[client] = true
}

// settle makes one span of all links of a client that change in an instant.
func (s *spans) settle() {
	for _, client := range slices.Sorted(maps.Keys(s.torn)) {
		key := subject{kind: history.LinkDown, number: client}
		s.end(key, s.now, "")
		if cut := s.cut[client]; len(cut) > 0 {
			s.begin(key, s.now, span{
				row:  fmt.Sprintf("client %d is cut off", client),
				text: "from " + nodes(cut), colour: orange, client: client,
			})
		}
	}
	clear(s.torn)
}

func nodes(list []int) string {
	all := make([]string, len(list))
	for i, n := range list {
		all[i] = fmt.Sprint(n)
	}
	return words.Plural(len(all), "node") + " " + listed(all)
}

// returns are the kinds of returns, and of what each is one.
var returns = map[history.Kind]history.Kind{
	history.Granted: history.Acquire, history.Refused: history.Acquire,
	history.Extended: history.Extend, history.ExtendFailed: history.Extend,
	history.Released: history.Release,
}

func (s *spans) call(e *history.Event) {
	switch e.Kind {
	case history.Acquire, history.Extend, history.Release:
		s.begin(subject{e.Kind, e.Client, e.Token}, e.Time, span{
			row: fmt.Sprintf("client %d calls", e.Client), text: e.Kind.String() + " " + short(e.Token), colour: blue, client: e.Client,
			details: "token " + e.Token,
		})
	case history.Granted, history.Refused, history.Extended, history.ExtendFailed, history.Released:
		s.end(subject{returns[e.Kind], e.Client, e.Token}, e.Time, cmp.Or(e.Reason, outcome(e)))
	}
}

// isCall reports whether what the kind begins is a call, which returns.
func isCall(k history.Kind) bool {
	return k == history.Acquire || k == history.Extend || k == history.Release || k == history.Read || k == history.Write
}

// access follows the accesses to the guarded resource, and when writes reach it.
func (s *spans) access(e *history.Event) {
	row, token := fmt.Sprintf("client %d accesses", e.Client), "token "+e.Token
	switch e.Kind {
	case history.Read:
		s.begin(subject{e.Kind, e.Client, e.Token}, e.Time, span{row: row, text: "read", details: token, colour: blue, client: e.Client})
	case history.ReadDone:
		how := fmt.Sprint(e.Value)
		if e.Outcome != history.OK {
			how = cmp.Or(e.Reason, e.Outcome.String())
		}
		s.end(subject{history.Read, e.Client, e.Token}, e.Time, how)
	case history.Write:
		s.begin(subject{e.Kind, e.Client, e.Token}, e.Time, span{row: row, text: fmt.Sprintf("write of %d", e.Value), details: token, colour: blue, client: e.Client})
	case history.WriteDone:
		s.end(subject{history.Write, e.Client, e.Token}, e.Time, cmp.Or(e.Reason, e.Outcome.String()))
	case history.Apply:
		s.point(e.Kind, e.Time, span{row: "guarded resource", text: fmt.Sprintf("takes %d from client %d", e.Value, e.Client), details: token, colour: blue, client: e.Client})
	}
}

// outcome is how a call that tells no reason went.
func outcome(e *history.Event) string {
	if e.Kind == history.Released {
		return e.Outcome.String()
	}
	return e.Kind.String()
}

func (s *spans) key(e *history.Event) {
	key := subject{history.KeySet, e.Node, e.Token}
	switch e.Kind {
	case history.KeySet:
		text := "key of " + short(e.Token)
		if e.Client != 0 {
			text = fmt.Sprintf("key of client %d (%s)", e.Client, short(e.Token))
		}
		s.begin(key, e.Time, span{row: fmt.Sprintf("node %d keeps", e.Node), text: text, details: "token " + e.Token, colour: blue, client: e.Client})
	case history.KeyGone:
		s.end(key, e.Time, e.Reason)
	}
}

// finish closes what is open, in an order that does not vary.
func (s *spans) finish(end history.Time) {
	s.settle()
	for _, key := range slices.SortedFunc(maps.Keys(s.open), func(a, b subject) int {
		return cmp.Or(cmp.Compare(s.open[a].from, s.open[b].from), cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number), strings.Compare(a.token, b.token))
	}) {
		v := s.open[key]
		v.to, v.details = end, strings.TrimPrefix(v.details+"; it goes on", "; ")
		if isCall(v.kind) {
			v.text += ": no return"
		}
		s.keep(v)
	}
}
