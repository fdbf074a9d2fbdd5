package timelinepage

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// told joins the label and the ending of an interval.
func told(i *timeline.Interval) string {
	if ending := ending(i); ending != "" {
		return label(i) + ": " + ending
	}
	return label(i)
}

// label says what lasted or happened: "write of 3", "from nodes 4 and 5"; "": the lane says it. It names nodes,
// but not the client that the interval is about.
func label(i *timeline.Interval) string {
	e := &i.Begin
	switch e.Kind {
	case history.FaultStart:
		return cmp.Or(e.Detail, fmt.Sprintf("fault %d", e.Fault))
	case history.Leader:
		if e.Node == 0 {
			return "no leader"
		}
		return strings.TrimSpace(fmt.Sprintf("node %d leads %s", e.Node, e.Detail))
	case history.LinkDown:
		cut := make([]string, len(i.Cut))
		for j, n := range i.Cut {
			cut[j] = fmt.Sprint(n)
		}
		return "from " + textfmt.Plural(len(cut), "node") + " " + textfmt.List(cut)
	case history.KeySet:
		if e.Client == 0 {
			return "key of " + textfmt.Token(e.Token)
		}
		return fmt.Sprintf("key of client %d (%s)", e.Client, textfmt.Token(e.Token))
	case history.Read:
		return "read"
	case history.Write:
		return fmt.Sprintf("write of %d", e.Value)
	case history.Apply:
		return fmt.Sprintf("applies %d of client %d", e.Value, e.Client)
	}
	return ""
}

// ending says how the interval ended; "": there is nothing to say.
func ending(i *timeline.Interval) string {
	e := &i.End
	switch {
	case e.Kind == 0 && i.Open && i.IsCall():
		return "no return"
	case e.Kind == history.NodeUp:
		return cmp.Or("back "+e.Detail, "back")
	case e.Kind == history.KeyGone:
		return e.Reason
	case e.Kind == history.ReadDone && e.Outcome == history.OK:
		return fmt.Sprint(e.Value)
	case e.Kind == history.ReadDone, e.Kind == history.WriteDone, e.Kind == history.Released:
		return cmp.Or(e.Reason, e.Outcome.String())
	case i.IsCall() && e.Kind != 0:
		return cmp.Or(e.Reason, e.Kind.String())
	}
	return ""
}
