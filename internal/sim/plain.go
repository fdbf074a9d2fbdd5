package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// executePlain carries out what pays no heed to whose key it is.
func (w *World) executePlain(n *node, m *message, held key, exists bool) env.Answer {
	switch op := m.round.command.Op; {
	case op == env.OpGet && exists:
		m.setDetail(replyDetail{token: held.token})
	case op == env.OpPut:
		w.overwrite(n, m, held, exists)
	case op == env.OpIncrement:
		return w.increment(n, m, held, exists)
	case op == env.OpAdd && !exists:
		w.create(n, m, unending)
	case op == env.OpExpire && exists:
		w.expireIn(n, m, held)
	case op == env.OpRemove && exists:
		w.forget(n, history.Event{Resource: m.round.command.Key, Token: held.token, Reason: history.Deleted, Client: int(m.client)})
	default:
		return env.No
	}
	return env.Yes
}

// overwrite is one change, of which the history tells two things.
func (w *World) overwrite(n *node, m *message, held key, exists bool) {
	if exists && !held.counter {
		w.injector.Record(history.Event{
			Kind: history.KeyGone, Node: n.id, Resource: m.round.command.Key, Token: held.token,
			Reason: history.Overwritten, Client: int(m.client),
		})
	}
	w.create(n, m, unending)
}

// expireIn gives a key a new time to live.
func (w *World) expireIn(n *node, m *message, held key) {
	command := &m.round.command
	held.expiry = n.expiry(w.now, command.TTL)
	w.put(n, command.Key, held)
	if !held.counter {
		w.injector.Record(history.Event{Kind: history.KeyExtended, Node: n.id, Resource: command.Key, Token: held.token, Client: int(m.client)})
	}
}
