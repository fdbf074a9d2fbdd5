package runner

import "github.com/lockstorm/lockstorm/history"

// callerLinks is a sink for the history of locks that clients share. The connections of a lock are those of
// the first of its clients, so that all of them are cut off if that one is. While the first one is
// paused, or after its death, its connections stand still, or are closed: then the others are cut off.
type callerLinks struct {
	next  history.Sink
	nodes int
	share int          // how many clients share a lock
	down  map[link]int // reasons why it is down
}

// link is that of a client to a node.
type link struct{ client, node int }

// Record implements [history.Sink].
func (l *callerLinks) Record(e *history.Event) {
	first := (e.Client-1)%l.share == 0
	switch e.Kind {
	case history.LinkDown, history.LinkUp:
		if !first {
			return // no connection uses that link
		}
		l.next.Record(e)
		l.others(e, e.Kind, e.Node)
	case history.Pause, history.Kill, history.Resume:
		l.next.Record(e)
		kind := history.LinkDown
		if e.Kind == history.Resume {
			kind = history.LinkUp
		}
		for node := 1; first && node <= l.nodes; node++ {
			l.others(e, kind, node)
		}
	default:
		l.next.Record(e)
	}
}

// others records that the links of the other clients of the lock of a client are down or up, if that is new.
func (l *callerLinks) others(by *history.Event, kind history.Kind, node int) {
	first := link{by.Client, node}
	was := l.down[first] > 0
	if kind == history.LinkDown {
		l.down[first]++
	} else {
		l.down[first]--
	}
	if was == (l.down[first] > 0) {
		return
	}
	for client := by.Client + 1; client < by.Client+l.share; client++ {
		l.next.Record(&history.Event{Time: by.Time, Kind: kind, Client: client, Node: node, Fault: by.Fault})
	}
}
