package trace

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Happened is an event of the history.
type Happened struct{ *history.Event }

func (h Happened) tell(t *describer) (who Participant, what string) {
	if say := eventTexts[h.Kind]; say != nil {
		return actor(h.Event), say(t, h.Event)
	}
	return actor(h.Event), h.Kind.String()
}

// actor returns whom an event is about.
func actor(e *history.Event) Participant {
	switch e.Kind {
	case history.FaultStart, history.FaultEnd:
		return Participant{Role: Fault, Number: e.Fault}
	case history.LinkDown, history.LinkUp:
		return Participant{Role: Link, Number: e.Client, Node: e.Node}
	case history.Apply:
		return Participant{Role: Resource}
	case history.Leader, history.EntryGone, history.EntrySet, history.EntryDeleted, history.EntriesSeen:
		return Participant{Role: Store}
	case history.End:
		return Participant{Role: Run}
	}
	if e.Node > 0 && e.Kind != history.Step {
		return node(e.Node)
	}
	return client(e.Client)
}

// eventTexts has the text of each kind of event; an empty text hides the event. Other
// kinds show their name.
var eventTexts = map[history.Kind]func(t *describer, e *history.Event) string{
	history.Acquire: func(t *describer, e *history.Event) string {
		return fmt.Sprintf("tries to lock %q as %s, for %v", e.Resource, t.token(e), e.TTL)
	},
	history.Granted: (*describer).granted,
	history.Refused: func(t *describer, e *history.Event) string { return "refused " + t.token(e) + Reason(e) },
	history.Extend: func(t *describer, e *history.Event) string {
		return fmt.Sprintf("extends %s, for %v from now", t.token(e), e.TTL)
	},
	history.Extended: func(t *describer, e *history.Event) string {
		return fmt.Sprintf("EXTENDED %s, %s of validity left", t.token(e), textfmt.Duration(e.Validity))
	},
	history.ExtendFailed: func(t *describer, e *history.Event) string { return "did not extend " + t.token(e) + Reason(e) },
	history.Expiring: func(t *describer, e *history.Event) string {
		return "is warned that " + t.token(e) + " is about to end"
	},
	history.Lost: func(t *describer, e *history.Event) string {
		return "is told that " + t.token(e) + " is lost" + Reason(e)
	},
	history.Lapse: func(t *describer, e *history.Event) string {
		text := "LAPSE: its clock has come to the end of " + t.token(e)
		if e.Since != 0 {
			text += fmt.Sprintf(", which is told late: %s ago", textfmt.Duration(e.Time.Sub(e.Since)))
		}
		return text
	},
	history.Release: func(t *describer, e *history.Event) string { return "releases " + t.token(e) },
	history.Released: func(t *describer, e *history.Event) string {
		return "released " + t.token(e) + ": " + releases[e.Outcome]
	},

	history.Read:     func(_ *describer, e *history.Event) string { return "reads" + fenceText(e) },
	history.ReadDone: func(_ *describer, e *history.Event) string { return accessText(e, "has read %d", "its read") },
	history.Write:    func(_ *describer, e *history.Event) string { return fmt.Sprintf("writes %d", e.Value) + fenceText(e) },
	history.WriteDone: func(_ *describer, e *history.Event) string {
		return accessText(e, "has written %d", fmt.Sprintf("its write of %d", e.Value))
	},
	history.Apply: func(t *describer, e *history.Event) string {
		return fmt.Sprintf("takes %d of %s, under %s%s", e.Value, client(e.Client), t.token(e), fenceText(e))
	},

	history.Pause:  constText("stands still"),
	history.Resume: constText("goes on"),
	history.Kill:   constText("is gone for good"),
	history.Cancel: constText("the context of its call ends"),

	history.NodeDown: constText("server down"),
	history.NodeUp:   func(_ *describer, e *history.Event) string { return trimComma("server up, " + e.Detail) },
	history.LinkDown: constText("down"),
	history.LinkUp:   constText("up"),

	history.KeySet: (*describer).keySet,
	history.KeyExtended: func(t *describer, e *history.Event) string {
		return "key of " + t.token(e) + ": new expiry" + byClient(e)
	},
	history.KeyGone: func(t *describer, e *history.Event) string {
		return "key of " + t.token(e) + " gone: " + cmp.Or(e.Reason, "why is not known") + byClient(e)
	},

	history.FaultStart: func(_ *describer, e *history.Event) string { return "begins: " + e.Detail },
	history.FaultEnd:   func(_ *describer, e *history.Event) string { return "ends: " + e.Detail },
	history.Step:       (*describer).step,
	history.Leader:     leaderText,
	history.EntryGone:  func(t *describer, e *history.Event) string { return "entry of " + t.token(e) + " gone: " + e.Reason },
	history.EntrySet: func(t *describer, e *history.Event) string {
		return trimComma("has entry " + t.token(e) + byClient(e) + ", " + e.Reason)
	},
	history.EntryDeleted: func(t *describer, e *history.Event) string {
		return "entry of " + t.token(e) + " deleted" + byClient(e)
	},
	history.EntriesSeen: constText(""),
	history.End:         func(_ *describer, e *history.Event) string { return "ends" + Reason(e) },
}

func constText(text string) func(*describer, *history.Event) string {
	return func(*describer, *history.Event) string { return text }
}

// token returns the token, with the resource if there are several.
func (t *describer) token(e *history.Event) string {
	if t.several && e.Resource != "" && e.Kind != history.Acquire {
		return fmt.Sprintf("%s of %q", textfmt.Token(e.Token), e.Resource)
	}
	return textfmt.Token(e.Token)
}

// Reason returns the reason of an event as a suffix. It leaves out the name of the
// package, and the replies of the single nodes, which the trace shows anyway.
func Reason(e *history.Event) string {
	why, _, _ := strings.Cut(e.Reason, ";")
	if name, rest, named := strings.Cut(why, ": "); named && !strings.Contains(name, " ") {
		why = rest
	}
	if why == "" {
		return ""
	}
	return ": " + why
}

var releases = map[history.Outcome]string{
	0: "done", history.OK: "it was still held", history.Declined: "it was not held any more", history.Unknown: "nobody can tell whether it was held",
}

func fenceText(e *history.Event) string {
	if e.Fence == 0 {
		return ""
	}
	return fmt.Sprintf(", fence %d", e.Fence)
}

// accessText describes the result of an access to the guarded resource.
func accessText(e *history.Event, did, what string) string {
	switch e.Outcome {
	case history.Declined:
		return what + " is refused" + Reason(e)
	case history.Unknown:
		return what + ": nobody can tell" + Reason(e)
	}
	return fmt.Sprintf(did, e.Value)
}

func trimComma(text string) string { return strings.TrimRight(text, ", ") }

// byClient returns the client that requested the change of a key.
func byClient(e *history.Event) string {
	if e.Client == 0 {
		return ""
	}
	return ", by " + client(e.Client).String()
}

// longDelay is the travel time of a request from which it is shown.
const longDelay = 10 * time.Millisecond

func (t *describer) keySet(e *history.Event) string {
	text := "key set: " + t.token(e) + byClient(e)
	if e.Client == 0 {
		return text + ", of before"
	}
	if d := e.Time.Sub(e.Sent); d >= longDelay {
		text += fmt.Sprintf(", who sent it %s ago", textfmt.Duration(d))
	}
	return text
}

func leaderText(_ *describer, e *history.Event) string {
	if e.Node == 0 {
		return "nobody leads"
	}
	return trimComma(node(e.Node).String() + " leads, " + e.Detail)
}

// granted describes the validity and the window that the checker uses.
func (t *describer) granted(e *history.Event) string {
	text := "GRANTED " + t.token(e)
	if e.Until != 0 {
		text += fmt.Sprintf(", %s of validity left", textfmt.Duration(e.Validity))
	}
	return text + fenceText(e) + t.windows.of(e)
}

// stepWords are of the steps that are always worth a line.
var stepWords = map[string]string{
	"quorum":       "has a quorum",
	history.Queued: "waits in the queue",
	history.Woken:  "is woken",
}

// step describes a step if something happens to the client there, or if the step is of
// interest by itself.
func (t *describer) step(e *history.Event) string {
	switch text := stepWords[e.Name]; {
	case e.Node > 0:
		return "← " + node(e.Node).String() + ": counted"
	case text != "":
		return text
	case t.strikes:
		return "has come to " + e.Name
	}
	return ""
}

// Describe returns whom an event of a history is about, and what happened.
func Describe(e *history.Event) (who, what string) {
	p, what := Happened{e}.tell(&describer{})
	return p.String(), what
}
