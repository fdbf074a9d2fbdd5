package checker

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Waits is how clients went on trying. A row is the tries of one client for one
// resource that follow one another: from the first call to the grant or, if there
// was none, to the last return (to the client's death, or the history's end, if a
// try was under way). A row ends with a grant, and where longer than the longest
// TTL no try was under way.
type Waits struct {
	LongestWait    time.Duration `json:"longest_wait" runs:"max"`     // the longest row
	MostPassedOver int           `json:"most_passed_over" runs:"max"` // the most grants to others during one
}

func (w *Waits) figures(int) []Figure {
	if w.LongestWait == 0 {
		return nil
	}
	passedOver := "passed over by nobody"
	if w.MostPassedOver > 0 {
		passedOver = "passed over by up to " + textfmt.Count(w.MostPassedOver, "grant")
	}
	return []Figure{{"longest wait", []string{textfmt.Duration(w.LongestWait), passedOver}}}
}

type waitMeter struct {
	Waits
	state  *state
	ttl    time.Duration // the longest
	grants perResource[int32]
	before perHold[int32] // the grants of the resource, as of the call

	each func(Wait) // nil: nobody wants to be told
}

// row is tries that were refused. There is none before the first of them is: what
// one try needs is in its hold.
type row struct {
	resource *resource
	since    history.Time // the first call
	last     history.Time // the last return
	grants   int32        // that the resource had seen at the first call
	tries    int          // that were refused
}

func newWaitMeter(h history.Header, l *state) meter { return &waitMeter{state: l, ttl: h.LongestTTL} }

func (*waitMeter) wants() kinds {
	return kindSet(history.Acquire, history.Granted, reentered, history.Refused, history.Kill)
}

func (w *waitMeter) observe(f *fact) {
	switch h := f.hold; {
	case f.Kind == history.Kill:
		w.endRows(f.client, f.Time)
	case h == nil:
	case f.Kind == history.Acquire:
		w.goOn(h, f.Time)
	case f.Kind == history.Granted:
		w.granted(h, f.Time)
		*w.grants.of(h.resource)++
	case f.Kind == reentered:
		w.granted(f.try, f.Time)
	case f.Kind == history.Refused:
		w.giveUp(h, f.Time)
	}
}

// goOn goes on with a row, or ends it if it was a while ago.
func (w *waitMeter) goOn(h *hold, now history.Time) {
	if h.client.dead {
		return
	}
	*w.before.of(h) = *w.grants.of(h.resource)
	if row := h.client.row(h.resource); row != nil && now.Sub(row.last) > w.ttl && !h.alongside() {
		w.gaveUp(h.client, row)
		h.client.endRow(h.resource)
	}
}

// granted ends a row with a grant.
func (w *waitMeter) granted(try *hold, now history.Time) {
	w.waited(try, now)
	w.tell(try, Wait{To: now, Granted: true})
	try.client.endRow(try.resource)
}

// alongside reports whether the client tries for the resource in another way too.
func (h *hold) alongside() bool {
	return slices.ContainsFunc(h.client.holds, func(o *hold) bool { return o != h && o.resource == h.resource && o.trying })
}

// giveUp ends a try without a grant.
func (w *waitMeter) giveUp(h *hold, now history.Time) {
	w.waited(h, now)
	r := h.client.row(h.resource)
	if r == nil {
		h.client.rows = append(h.client.rows, row{resource: h.resource, since: h.acquire.at, grants: *w.before.of(h)})
		r = &h.client.rows[len(h.client.rows)-1]
	}
	r.last = now
	r.tries++
}

// endRows ends what a client waits for when it dies, or the history ends.
func (w *waitMeter) endRows(c *client, now history.Time) {
	for _, h := range c.holds {
		if h.trying {
			w.waited(h, now)
			w.tell(h, Wait{To: now, Open: !c.dead})
			c.endRow(h.resource)
		}
	}
	for i := range c.rows {
		w.gaveUp(c, &c.rows[i])
	}
	c.rows = nil
}

// waited measures the row of a try up to now.
func (w *waitMeter) waited(h *hold, now history.Time) {
	since, grants := h.acquire.at, *w.before.of(h)
	if row := h.client.row(h.resource); row != nil {
		since, grants = row.since, row.grants
	}
	w.LongestWait = max(w.LongestWait, now.Sub(since))
	w.MostPassedOver = max(w.MostPassedOver, int(*w.grants.of(h.resource)-grants))
}

func (w *waitMeter) measure(m *Measurements, end history.Time) {
	for _, c := range w.state.clients {
		w.endRows(c, end)
	}
	m.Waits = w.Waits
}

// row returns the client's row for the resource, or nil.
func (c *client) row(r *resource) *row {
	for i := range c.rows {
		if c.rows[i].resource == r {
			return &c.rows[i]
		}
	}
	return nil
}

// endRow takes a row out, if there is one; the order of rows says nothing.
func (c *client) endRow(r *resource) {
	w := c.row(r)
	if w == nil {
		return
	}
	last := len(c.rows) - 1
	*w = c.rows[last]
	c.rows[last] = row{}
	c.rows = c.rows[:last]
}
