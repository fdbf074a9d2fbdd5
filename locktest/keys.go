package locktest

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// unseen reports whether a history that records keys tells of none that any grant rests on.
// Recorded are strings with an expiry: a lock that keeps its holds otherwise, as in a hash,
// is not to be blamed for what its keys do not show.
func unseen(h history.Header, events history.Log) bool {
	granted := map[string]bool{}
	for i := range events {
		if events[i].Kind == history.Granted {
			granted[events[i].Token] = true
		}
	}
	return h.Keys && len(granted) > 0 && !slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Kind == history.KeySet && granted[e.Token]
	})
}

// withoutKeys is the outcome as it is judged, and stored, by who is not told of keys.
func (o outcome) withoutKeys() outcome {
	o.header.Keys = false
	panel := checker.New(o.header)
	for i := range o.history {
		panel.Record(&o.history[i])
	}
	o.Report = panel.Finish()
	return o
}
