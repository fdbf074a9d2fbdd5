package checker

import "github.com/lockstorm/lockstorm/history"

// waiting is how clients wait for one resource.
type waiting struct {
	since history.Time // of the first try of those that follow each other, or the grant before
	tried history.Time // when a try last began or was refused
	freed history.Time // when the last hold ended
	clear history.Time // when the last old key expired
	open  int          // tries that have not returned
	owed  bool         // nobody has been granted the resource since a try was refused
	long  bool         // the wait has been found too long
	kept  []kept       // keys on the nodes
}

// kept is a key of a resource on a node.
type kept struct {
	node int
	set  history.Time
}

// longWait is a wait that was too long.
type longWait struct {
	resource *resource
	at       history.Time
	start    history.Time // when it began to count
	story    string
}

func (l *longWait) where() *Place { return &Place{Resource: l.resource.name, From: l.start, To: l.at} }

// key follows the keys on the nodes. That one expires which was set before a wait
// began tells that the longest TTL had not passed, as its node counts it.
func (p *progress) key(f *fact) {
	r := p.ledger.resource(f.Resource)
	w := &r.waiting
	set := f.Time
	w.kept = without(w.kept, func(k *kept) bool {
		if k.node == f.Node {
			set = k.set
		}
		return k.node == f.Node
	})
	switch {
	case f.Kind == history.KeySet:
		w.kept = append(w.kept, kept{f.Node, f.Time})
	case f.Reason == history.Expired:
		if set <= p.start(w) {
			w.clear, w.long = f.Time, false
		}
		p.long = without(p.long, func(l *longWait) bool { return l.resource == r && set <= l.start && l.at <= f.Time })
	}
}

// start is when the present wait begins to count.
func (p *progress) start(w *waiting) history.Time { return max(p.quiet, w.since, w.freed) }

func (h *hold) wait() {
	if !h.client.dead {
		h.waits = true
		h.resource.waiting.open++
	}
}

func (h *hold) stopWaiting() {
	if h.waits {
		h.waits = false
		h.resource.waiting.open--
	}
}

// due is the instant by which somebody has to be granted the resource.
func (p *progress) due(w *waiting) history.Time {
	return max(p.start(w).Add(p.ttl), w.clear).Add(p.bound)
}

// held reports whether somebody's window is open, other than one hold's, that
// something can still end.
func (r *resource) held(but *hold) bool {
	for _, h := range r.holds {
		if h != but && h.leased() && !h.orphaned() {
			return true
		}
	}
	return false
}
