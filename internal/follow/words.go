package follow

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// String says what went on, and how it ended.
func (c *Course) String() string {
	if how := c.How(); how != "" {
		return c.What() + ": " + how
	}
	return c.What()
}

// What says what went on, or happened. Nodes are named, clients are not, where they are
// those that it is about: "paused", "acquire 1f0e2d3c", "from nodes 4 and 5".
func (c *Course) What() string {
	e := &c.Begin
	switch e.Kind {
	case history.FaultStart:
		return cmp.Or(e.Detail, fmt.Sprintf("fault %d", e.Fault))
	case history.Pause:
		return "paused"
	case history.Kill:
		return "dies"
	case history.Cancel:
		return "its call is cancelled"
	case history.NodeDown:
		return fmt.Sprintf("node %d is down", e.Node)
	case history.Leader:
		return leads(e)
	case history.LinkDown:
		return "from " + nodes(c.Cut)
	case history.KeySet:
		return keyOf(e)
	case history.Read:
		return "read"
	case history.Write:
		return fmt.Sprintf("write of %d", e.Value)
	case history.Apply:
		return fmt.Sprintf("takes %d from client %d", e.Value, e.Client)
	}
	return e.Kind.String() + " " + textfmt.Token(e.Token)
}

// How says how it ended; empty: there is nothing to say of that.
func (c *Course) How() string {
	e := &c.End
	switch {
	case e.Kind == 0 && c.Open && IsCall(c.Begin.Kind):
		return "no return"
	case e.Kind == history.NodeUp:
		return cmp.Or("back "+e.Detail, "back")
	case e.Kind == history.KeyGone:
		return e.Reason
	case e.Kind == history.ReadDone && e.Outcome == history.OK:
		return fmt.Sprint(e.Value)
	case e.Kind == history.ReadDone, e.Kind == history.WriteDone, e.Kind == history.Released:
		return cmp.Or(e.Reason, e.Outcome.String())
	case IsCall(c.Begin.Kind) && e.Kind != 0:
		return cmp.Or(e.Reason, e.Kind.String())
	}
	return ""
}

func leads(e *history.Event) string {
	if e.Node == 0 {
		return "no leader"
	}
	return strings.TrimSpace(fmt.Sprintf("node %d leads %s", e.Node, e.Detail))
}

func nodes(list []int) string {
	all := make([]string, len(list))
	for i, n := range list {
		all[i] = fmt.Sprint(n)
	}
	return textfmt.Plural(len(all), "node") + " " + textfmt.List(all)
}

func keyOf(e *history.Event) string {
	if e.Client == 0 {
		return "key of " + textfmt.Token(e.Token)
	}
	return fmt.Sprintf("key of client %d (%s)", e.Client, textfmt.Token(e.Token))
}
