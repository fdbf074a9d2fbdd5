package sequence

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// holdNames names holds by client and try: "c1-2" is what the second try of client 1 acquired.
// Tokens of 40 digits are hard to compare.
type holdNames struct {
	of     map[string]string // by token
	client map[string]int    // that acquired it, by token
	long   *strings.Replacer // replaces long tokens in texts
}

func newHoldNames(lines []trace.Line) holdNames {
	n := holdNames{of: map[string]string{}, client: map[string]int{}}
	tries := map[int]int{} // by client
	var pairs []string
	for _, l := range lines {
		e, is := l.Entry.(trace.Happened)
		if !is || e.Kind != history.Acquire || n.of[e.Token] != "" {
			continue
		}
		tries[e.Client]++
		name := fmt.Sprintf("c%d-%d", e.Client, tries[e.Client])
		n.of[e.Token], n.client[e.Token] = name, e.Client
		if short := textfmt.Token(e.Token); len(e.Token) > len(short) {
			pairs = append(pairs, e.Token, name, short, name)
		}
	}
	n.long = strings.NewReplacer(pairs...)
	return n
}

// name names the hold of a token. A token that no acquire used names itself.
func (n holdNames) name(token string) string { return cmp.Or(n.of[token], textfmt.Token(token)) }

// key names a key, which may contain a token.
func (n holdNames) key(key string) string { return textfmt.Token(n.long.Replace(key)) }

func (n holdNames) replace(text string) string { return n.long.Replace(text) }

// line is the text of a trace's line with the names of holds, and of an acquire with its token.
func (n holdNames) line(l trace.Line) string {
	text := n.replace(l.What)
	if e, is := l.Entry.(trace.Happened); is && e.Kind == history.Acquire {
		text += ", token " + textfmt.Token(e.Token)
	}
	return text
}

// commandTexts are the commands of Redis for each operation.
var commandTexts = [env.Ops]string{
	env.OpSet: "SET {key} {token} NX PX {ms}", env.OpDelete: "DEL {key} if {token}", env.OpExtend: "PEXPIRE {key} {ms} if {token}",
	env.OpCount: "GET {key}", env.OpRaise: "SET {key} {count} if lower", env.OpVouch: "watched this run for {ms} ms",
	env.OpGet: "GET {key}", env.OpPut: "SET {key} {token}", env.OpAdd: "SETNX {key} {token}",
	env.OpExpire: "PEXPIRE {key} {ms}", env.OpRemove: "DEL {key}", env.OpIncrement: "INCR {key}",
}

// nativeTexts are those of native commands, as Redis names them.
var nativeTexts = [env.Ops]string{env.OpDelete: "DELEX {key} IFEQ {token}", env.OpExtend: "SET {key} {token} IFEQ {token} PX {ms}"}

func (n holdNames) command(c env.Command) string {
	text := commandTexts[c.Op]
	if c.Native {
		text = nativeTexts[c.Op]
	}
	return strings.NewReplacer(
		"{key}", n.key(c.Key), "{token}", n.name(c.Token),
		"{ms}", strconv.FormatInt(c.TTL.Milliseconds(), 10), "{count}", strconv.FormatUint(c.Count, 10),
	).Replace(text)
}

// reply is the text of a node's reply. holder names the hold whose key prevented a yes, if it
// is known.
func (n holdNames) reply(op env.Op, r *trace.Replied, holder string) string {
	switch r.Reply.Answer {
	case env.Failed:
		if r.Reply.Err == nil {
			return "error"
		}
		return "error: " + r.Reply.Err.Error()
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

func (n holdNames) refusal(op env.Op, holder string) string {
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

// storeRequest is the text of a request to the store.
func (n holdNames) storeRequest(r env.StoreRequest) string {
	text := []string{r.Op.String()}
	if r.Op == env.StoreOpen && r.Kind != env.SessionLease {
		text = append(text, "a "+r.Kind.String())
	}
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

// storeReply is the text of the store's reply.
func (n holdNames) storeReply(op env.StoreOp, r env.StoreReply) string {
	switch {
	case !r.Done:
		return "declined"
	case op == env.StoreOpen:
		return fmt.Sprintf("session %d", r.Session)
	case op == env.StoreList:
		return textfmt.Count(len(r.Entries), "entry")
	case (op == env.StoreCreate || op == env.StoreRenew || op == env.StoreUpdate) && len(r.Entries) == 1:
		return n.key(r.Entries[0].Key)
	}
	return "OK"
}

var releasedTexts = map[history.Outcome]string{
	0: "released", history.OK: "released", history.Declined: "released: no longer held", history.Unknown: "released: unknown whether held",
}

// event is the text of an event: a short one, or the trace's. An empty text is not shown.
func (n holdNames) event(e *history.Event, what string) (string, Emphasis) {
	name := n.name(e.Token)
	switch e.Kind {
	case history.Acquire:
		return fmt.Sprintf("acquire %s as %s\u00a0=\u00a0%s", n.key(e.Resource), name, textfmt.Token(e.Token)), Plain
	case history.Granted:
		text := "GRANTED " + name
		if e.Until != 0 {
			text += fmt.Sprintf(", %s left", textfmt.Duration(e.Validity))
		}
		if e.Fence != 0 {
			text += fmt.Sprintf(", fence %d", e.Fence)
		}
		return text, Good
	case history.Refused:
		return "refused " + name + trace.Reason(e), Plain
	case history.Extend:
		return "extend " + name, Plain
	case history.Extended:
		return fmt.Sprintf("EXTENDED %s, %s left", name, textfmt.Duration(e.Validity)), Good
	case history.ExtendFailed:
		return "not extended " + name + trace.Reason(e), Plain
	case history.Expiring:
		return "warned: " + name + " is about to end", Plain
	case history.Lapse:
		return "validity of " + name + " is over", Plain
	case history.Lost:
		return name + " reported lost", Plain
	case history.Release:
		return "release " + name, Plain
	case history.Released:
		return releasedTexts[e.Outcome], Plain
	case history.Apply:
		return fmt.Sprintf("applies %d of client %d", e.Value, e.Client), Plain
	case history.KeySet:
		return "keeps " + name, Plain
	case history.KeyExtended:
		return name + " extended", Plain
	case history.KeyGone:
		if e.Reason == history.Deleted || e.Reason == history.Expired {
			return name + " " + e.Reason, Plain
		}
		return name + " " + cmp.Or(e.Reason, "gone"), Fault
	case history.NodeDown:
		return "down", Fault
	case history.NodeUp:
		return strings.TrimRight("back, "+e.Detail, ", "), Fault
	case history.Pause:
		return "paused", Fault
	case history.Resume:
		return "resumed", Fault
	case history.Kill:
		return "dies", Fault
	case history.FaultStart:
		return fmt.Sprintf("F%d begins: %s", e.Fault, e.Detail), Fault
	case history.FaultEnd:
		return fmt.Sprintf("F%d ends", e.Fault), Fault
	case history.LinkDown, history.LinkUp, history.End: // shown as faults and lost messages
		return "", Plain
	case history.Step:
		if e.Node > 0 || e.Name == "quorum" {
			return "", Plain
		}
	}
	return n.replace(what), Plain
}
