package locktest

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/external"
)

// judge compares the findings of a run with what is promised under its plan.
func (o runResult) judge(c Config) external.Judgment {
	known := o.header.Keys && (!o.header.Watched || external.KeysKnown(o.Result))
	return external.Judge(o.Result, o.traits, c.Promises, known)
}

// keysUnrecorded reports whether a history records keys, but none of those that grants rely
// on. Only strings are recorded that have an expiry or are set if they are absent, so a
// lock that stores its holds otherwise must not be judged by keys. Neither must one with permits
// whose keys are overwritten: several holds share such a key, as a counter.
func keysUnrecorded(h history.Header, events history.Log) bool {
	if h.Capacity > 1 && slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.KeyGone && e.Reason == history.Overwritten }) {
		return true
	}
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

// withoutKeys returns the result judged as if keys were not recorded.
func (o runResult) withoutKeys() runResult {
	o.header.Keys = false
	panel := checker.New(o.header)
	for i := range o.history {
		panel.Record(&o.history[i])
	}
	o.Report = panel.Finish()
	return o
}
