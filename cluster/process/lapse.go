//go:build linux

package process

import (
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// lapses are the ends of validity that somebody waits to see in the history.
// They need no timer: what has come due is written, with its own time, before
// the next event is.
type lapses map[lapseName]lapse

type lapseName struct {
	client int
	token  string
}

type lapse struct {
	lapseName
	resource string
	until    env.Instant
}

// watch asks for a lapse, in place of an earlier one. A dead client's last wish
// stands.
func (r *recorder) watch(client int, resource, token string, until env.Instant) {
	r.wish(client, func() {
		l := lapse{lapseName{client, token}, resource, until}
		r.lapses[l.lapseName] = l
	})
}

// unwatch takes the wish back, unless it has come due.
func (r *recorder) unwatch(client int, token string) {
	r.wish(client, func() { delete(r.lapses, lapseName{client, token}) })
}

func (r *recorder) wish(client int, change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != running || r.dead[client] {
		return
	}
	r.flush(r.now())
	change()
	r.flush(r.now())
}

// flush writes the lapses that are due by now, the earliest first. None is
// written with a time before that of the last event: a wish can come late.
func (r *recorder) flush(now history.Time) {
	var due []lapse
	for name, l := range r.lapses {
		if r.due(l) <= now {
			due = append(due, l)
			delete(r.lapses, name)
		}
	}
	slices.SortFunc(due, func(a, b lapse) int { return int(max(-1, min(1, a.until.Sub(b.until)))) })
	for _, l := range due {
		r.pass(r.due(l), &history.Event{
			Kind: history.Lapse, Client: l.client, Resource: l.resource, Token: l.token, Until: int64(l.until),
		})
	}
}

// due is when the client's clock, which is the ground clock with another
// origin, comes to the end of validity.
func (r *recorder) due(l lapse) history.Time { return history.Time(l.until.Sub(r.origin)) }
