package sequence

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/trace"
)

// names are what holds are called in a diagram: "c1-2" is what the second try of client 1
// has brought. Nobody compares tokens of 40 digits with his eyes.
type names struct {
	of    map[string]string // by token
	tries map[int]int
	long  *strings.Replacer // of tokens that were drawn, in texts
}

func newNames(lines []trace.Line) names {
	n := names{of: map[string]string{}, tries: map[int]int{}}
	var pairs []string
	for _, l := range lines {
		e, is := l.Entry.(trace.Happened)
		if !is || e.Kind != history.Acquire || n.of[e.Token] != "" {
			continue
		}
		n.tries[e.Client]++
		name := fmt.Sprintf("c%d-%d", e.Client, n.tries[e.Client])
		n.of[e.Token] = name
		if short := textfmt.Token(e.Token); len(e.Token) > len(short) {
			pairs = append(pairs, e.Token, name, short, name)
		}
	}
	n.long = strings.NewReplacer(pairs...)
	return n
}

// name names the hold of a token; one that nobody has tried to get by it, by itself.
func (n names) name(token string) string { return cmp.Or(n.of[token], textfmt.Token(token)) }

// key names a key, in which a token may stand.
func (n names) key(key string) string { return textfmt.Token(n.long.Replace(key)) }

// in names the tokens in a text of a trace.
func (n names) in(text string) string { return n.long.Replace(text) }

// told is a line of a trace with the names of holds; where one is given, with its token.
func (n names) told(l trace.Line) string {
	text := n.in(l.What)
	if e, is := l.Entry.(trace.Happened); is && e.Kind == history.Acquire {
		text += ", token " + textfmt.Token(e.Token)
	}
	return text
}

// requests say what each operation asks, as Redis has it.
var requests = [env.Ops]string{
	env.OpSet: "SET {key} {token} NX PX {ms}", env.OpDelete: "DEL {key} if {token}", env.OpExtend: "PEXPIRE {key} {ms} if {token}",
	env.OpCount: "GET {key}", env.OpRaise: "SET {key} {count} if lower", env.OpVouch: "watched this run for {ms} ms",
	env.OpGet: "GET {key}", env.OpPut: "SET {key} {token}", env.OpAdd: "SETNX {key} {token}",
	env.OpExpire: "PEXPIRE {key} {ms}", env.OpRemove: "DEL {key}", env.OpIncrement: "INCR {key}",
}

func (n names) command(c env.Command) string {
	return strings.NewReplacer(
		"{key}", n.key(c.Key), "{token}", n.name(c.Token),
		"{ms}", strconv.FormatInt(c.TTL.Milliseconds(), 10), "{count}", strconv.FormatUint(c.Count, 10),
	).Replace(requests[c.Op])
}

// answer says what a node has answered; holder is whose key kept it from saying yes, if
// that is known.
func (n names) answer(op env.Op, r *trace.Replied, holder string) string {
	switch r.Reply.Answer {
	case env.Failed:
		return "error" + because(r.Reply.Err)
	case env.No:
		return n.refusal(op, holder)
	}
	text := "OK"
	switch op {
	case env.OpDelete, env.OpRemove:
		text = "deleted"
	case env.OpGet:
		text = n.name(r.Reply.Token)
	case env.OpCount, env.OpIncrement:
		text = strconv.FormatUint(r.Reply.Count, 10)
	}
	if r.Counted != 0 && r.Counted != history.OK {
		text += ", not counted"
	}
	return text
}

func (n names) refusal(op env.Op, holder string) string {
	switch op {
	case env.OpSet, env.OpAdd:
		if holder != "" {
			return "held by " + holder
		}
		return "held by another"
	case env.OpRaise:
		return "no, it is higher"
	}
	return "no such key"
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// asked says what is asked of the store.
func (n names) asked(r env.StoreRequest) string {
	text := []string{r.Op.String()}
	if r.Key != "" {
		text = append(text, n.key(r.Key))
	}
	if r.Session != 0 {
		text = append(text, fmt.Sprintf("in session %d", r.Session))
	}
	if r.TTL != 0 {
		text = append(text, fmt.Sprintf("for %v", r.TTL))
	}
	return strings.Join(text, " ")
}

// answered says what the store has answered.
func (n names) answered(op env.StoreOp, r env.StoreReply) string {
	switch {
	case !r.Done:
		return "declined"
	case op == env.StoreOpen:
		return fmt.Sprintf("session %d", r.Session)
	case op == env.StoreList:
		return textfmt.Count(len(r.Entries), "entry")
	case op == env.StoreCreate && len(r.Entries) == 1:
		return n.key(r.Entries[0].Key)
	}
	return "OK"
}

// sayings are the short words of what happens often; for other kinds those of the trace
// are short enough. What says nothing is not shown.
var sayings = map[history.Kind]func(n names, e *history.Event) (string, Mood){
	history.Acquire: func(n names, e *history.Event) (string, Mood) {
		return fmt.Sprintf("acquire %s as %s\u00a0=\u00a0%s", n.key(e.Resource), n.name(e.Token), textfmt.Token(e.Token)), Plain
	},
	history.Granted: func(n names, e *history.Event) (string, Mood) {
		text := "GRANTED " + n.name(e.Token)
		if e.Until != 0 {
			text += fmt.Sprintf(", %s left", textfmt.Duration(e.Validity))
		}
		if e.Fence != 0 {
			text += fmt.Sprintf(", fence %d", e.Fence)
		}
		return text, Good
	},
	history.Refused: func(n names, e *history.Event) (string, Mood) {
		return "refused " + n.name(e.Token) + trace.Reason(e), Plain
	},
	history.Extend: func(n names, e *history.Event) (string, Mood) { return "extend " + n.name(e.Token), Plain },
	history.Extended: func(n names, e *history.Event) (string, Mood) {
		return fmt.Sprintf("EXTENDED %s, %s left", n.name(e.Token), textfmt.Duration(e.Validity)), Good
	},
	history.ExtendFailed: func(n names, e *history.Event) (string, Mood) {
		return "not extended " + n.name(e.Token) + trace.Reason(e), Plain
	},
	history.Expiring: func(n names, e *history.Event) (string, Mood) {
		return "warned: " + n.name(e.Token) + " is about to end", Plain
	},
	history.Lapse: func(n names, e *history.Event) (string, Mood) {
		return "validity of " + n.name(e.Token) + " is over", Plain
	},
	history.Lost:    func(n names, e *history.Event) (string, Mood) { return "told: " + n.name(e.Token) + " is lost", Plain },
	history.Release: func(n names, e *history.Event) (string, Mood) { return "release " + n.name(e.Token), Plain },
	history.Released: func(n names, e *history.Event) (string, Mood) {
		return released[e.Outcome], Plain
	},
	history.Apply: func(_ names, e *history.Event) (string, Mood) {
		return fmt.Sprintf("takes %d of client %d", e.Value, e.Client), Plain
	},
	history.KeySet:      func(n names, e *history.Event) (string, Mood) { return "keeps " + n.name(e.Token), Plain },
	history.KeyExtended: func(n names, e *history.Event) (string, Mood) { return n.name(e.Token) + " lives on", Plain },
	history.KeyGone: func(n names, e *history.Event) (string, Mood) {
		if e.Reason == history.Deleted || e.Reason == history.Expired {
			return n.name(e.Token) + " " + e.Reason, Plain
		}
		return n.name(e.Token) + " " + e.Reason, Fault
	},
	history.NodeDown: func(names, *history.Event) (string, Mood) { return "down", Fault },
	history.NodeUp: func(_ names, e *history.Event) (string, Mood) {
		return strings.TrimRight("back, "+e.Detail, ", "), Fault
	},
	history.Pause:  func(names, *history.Event) (string, Mood) { return "stands still", Fault },
	history.Resume: func(names, *history.Event) (string, Mood) { return "goes on", Fault },
	history.Kill:   func(names, *history.Event) (string, Mood) { return "dies", Fault },
	history.FaultStart: func(_ names, e *history.Event) (string, Mood) {
		return fmt.Sprintf("F%d begins: %s", e.Fault, e.Detail), Fault
	},
	history.FaultEnd: func(_ names, e *history.Event) (string, Mood) { return fmt.Sprintf("F%d ends", e.Fault), Fault },
	history.LinkDown: unsaid, history.LinkUp: unsaid, history.End: unsaid, // faults and lost messages say it
}

func unsaid(names, *history.Event) (string, Mood) { return "", Plain }

var released = map[history.Outcome]string{
	0: "released", history.OK: "released", history.Declined: "released: not held any more", history.Unknown: "released: held or not, unknown",
}

// said puts an event into words, or else leaves it to those of the trace.
func (n names) said(e *history.Event, what string) (string, Mood) {
	switch say := sayings[e.Kind]; {
	case say != nil:
		return say(n, e)
	case e.Kind == history.Step && (e.Node > 0 || e.Name == "quorum"):
		return "", Plain
	}
	return n.in(what), Plain
}
