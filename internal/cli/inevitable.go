package cli

import (
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/internal/search/inevitable"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// futures are those of an event. Tests have fewer.
var futures = inevitable.DefaultFutures

// printInevitable prints the curve where it changes, what decided, and the but-for table.
func printInevitable(out io.Writer, a inevitable.Analysis) {
	_, _ = fmt.Fprintf(out, "How the violation of %s became inevitable (%s from each of %s, %s runs):\n\n", a.Property.Title(),
		textfmt.Count(futures, "future"), textfmt.Count(len(a.Points), "event"), textfmt.Grouped(a.Runs))
	t := textfmt.Table{Head: []string{"time", "probability", "", "what has just happened"}}
	for _, p := range a.Decisive() {
		t.Add(textfmt.Duration(p.Time.Sub(0)), inevitable.Bar(p.Violated.Share(), 20), p.Violated.Percent()+" "+p.Violated.Interval(), p.Text())
	}
	t.Text(out, textfmt.Look{})
	_, _ = fmt.Fprintln(out)
	tell(out, a.Sentences()...)
	if len(a.ButFor) > 0 {
		_, _ = fmt.Fprintln(out)
		b := textfmt.Table{Head: []string{"without fault", "violated", "with it", "role"}}
		for _, x := range a.ButFor {
			b.Add(fmt.Sprintf("%d: %s", x.Fault, x.What), x.Violated.Percent(), x.With.Percent(), string(x.Role))
		}
		b.Text(out, textfmt.Look{})
	}
	if n := len(a.Messages) + a.Others; n > 0 {
		_, _ = fmt.Fprintf(out, "\nIf one of the last %s before the violation had taken another time: %s.\n", textfmt.Count(n, "message"), a.MessagesSentence())
		m := textfmt.Table{Head: []string{"sent", "message", "violated", "role"}}
		for _, x := range a.Messages {
			m.Add(textfmt.Duration(x.Sent.Sub(0)), x.Message.String(), x.Violated.Percent(), string(x.Role))
		}
		if len(a.Messages) > 0 {
			m.Text(out, textfmt.Look{})
		}
	}
	if a.Stopped {
		_, _ = fmt.Fprintln(out, "Stopped: events, futures or faults are missing.")
	}
	_, _ = fmt.Fprintln(out)
}
