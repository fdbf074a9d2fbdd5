package sequence

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/trace"
)

// call is one request of a round; to the store node is 0.
type call struct{ round, node int }

// access is one access to the guarded resource that is under way.
type access struct {
	kind   history.Kind // Read or Write
	client int
	token  string
}

// request is one that was sent to a node, to the store or to the guarded resource, and
// what has become of it.
type request struct {
	client, node int
	message      int // in the diagram
	reply        int // in the diagram; below 0: none has come
	command      env.Command
	op           env.StoreOp
	at           Point
	heard        Point // when the client knew what has become of it, or that nothing has
	answer       env.Answer
}

// say adds a message, and returns its index.
func (r *reading) say(m Message) int {
	r.d.Messages = append(r.d.Messages, m)
	return len(r.d.Messages) - 1
}

// send adds a request to somebody.
func (r *reading) send(q request, from, to string, round int, text string) *request {
	q.reply = -1
	q.message = r.say(Message{
		From: r.lanes[from], To: r.lanes[to], Round: round, Text: text, Sent: q.at, SentKnown: true, Came: q.at,
	})
	r.requests = append(r.requests, &q)
	return &q
}

// receive adds the reply to a request.
func (r *reading) receive(q *request, at Point, text string) {
	asked := r.d.Messages[q.message]
	q.heard, q.answer = at, env.Yes
	q.reply = r.say(Message{
		From: asked.To, To: asked.From, Round: asked.Round, Reply: true, Text: text, Sent: at, Came: at, CameKnown: true,
	})
}

// miss notes that no reply to a request comes.
func (q *request) miss(at Point) { q.heard, q.answer = at, env.Lost }

func (r *reading) sent(s trace.Sent, at Point) {
	text := r.names.command(s.Command)
	for _, n := range s.To.List() {
		q := request{client: s.Client, node: n, command: s.Command, at: at}
		r.asked[call{s.Round, n}] = r.send(q, client(s.Client), node(n), s.Round, text)
	}
}

func (r *reading) replied(h *trace.Replied, at Point) {
	q := r.asked[call{h.Round, h.Reply.Node}]
	if q == nil {
		return
	}
	if h.Reply.Answer == env.Lost {
		q.miss(at)
		r.silent(h, at)
		return
	}
	holder := r.holder(q.node, q.command.Key, q.at, at)
	r.receive(q, at, r.names.answer(q.command.Op, h, holder))
	q.answer = h.Reply.Answer
}

// silence is the last event that says from which nodes no answer comes.
type silence struct {
	event, round int
	at           Point
	nodes        env.NodeSet
}

// silent tells that no answer comes: once of all nodes of a round of which that is known
// at an instant.
func (r *reading) silent(h *trace.Replied, at Point) {
	s := &r.silence
	if s.round != h.Round || s.at.At != at.At {
		*s = silence{event: len(r.d.Events), round: h.Round, at: at}
		r.event(at, client(h.Client), "?", Plain)
	}
	s.nodes = s.nodes.With(h.Reply.Node)
	r.d.Events[s.event].Text = trace.Nodes(s.nodes) + ": no answer"
}

func (r *reading) ask(a trace.Asked, at Point) {
	q := request{client: a.Client, op: a.Request.Op, at: at}
	r.asked[call{round: a.Round}] = r.send(q, client(a.Client), store, a.Round, r.names.asked(a.Request))
}

func (r *reading) answer(a trace.Answered, at Point) {
	q := r.asked[call{round: a.Round}]
	if q == nil {
		return
	}
	switch {
	case errors.Is(a.Err, env.ErrNoLeader):
		r.receive(q, at, "no leader")
	case a.Err != nil:
		q.miss(at)
		r.event(at, client(a.Client), fmt.Sprintf("%v: no answer", q.op), Plain)
	default:
		r.receive(q, at, r.names.answered(q.op, a.Reply))
	}
}

// access follows the accesses to the guarded resource, and reports whether the event is
// a message from or to it.
func (r *reading) access(e *history.Event, at Point) bool {
	read, write := access{history.Read, e.Client, e.Token}, access{history.Write, e.Client, e.Token}
	switch e.Kind {
	case history.Read:
		r.accesses[read] = r.send(request{client: e.Client, at: at}, client(e.Client), resource, 0, "read")
	case history.Write:
		text := fmt.Sprintf("write %d", e.Value)
		r.accesses[write] = r.send(request{client: e.Client, at: at}, client(e.Client), resource, 0, text)
	case history.ReadDone:
		r.accessed(read, e, at, fmt.Sprintf("has read %d", e.Value))
	case history.WriteDone:
		r.accessed(write, e, at, "written")
	case history.Apply:
		if q := r.accesses[write]; q != nil {
			r.came(q, at)
		}
		return false
	default:
		return false
	}
	return true
}

func (r *reading) accessed(a access, e *history.Event, at Point, text string) {
	q := r.accesses[a]
	if q == nil {
		return
	}
	delete(r.accesses, a)
	switch e.Outcome {
	case history.Unknown:
		q.miss(at)
		r.event(at, client(e.Client), r.d.Messages[q.message].Text+": no answer", Plain)
	case history.Declined:
		r.receive(q, at, "refused"+trace.Reason(e))
	default:
		r.receive(q, at, text)
	}
	if m := r.d.Messages[q.message]; q.reply >= 0 && m.CameKnown {
		r.d.Messages[q.reply].Sent, r.d.Messages[q.reply].SentKnown = m.Came, true
	}
}

// came notes when a request was carried out: then it had come, and its reply leaves.
func (r *reading) came(q *request, at Point) {
	m := &r.d.Messages[q.message]
	if m.CameKnown {
		return
	}
	m.Came, m.CameKnown = at, true
	if q.reply >= 0 {
		r.d.Messages[q.reply].Sent, r.d.Messages[q.reply].SentKnown = at, true
	}
}

// way is that of the requests of one client to one node.
type way struct{ client, node int }

// resolve finds out which requests have changed keys, and when; and which messages are
// lost.
func (r *reading) resolve() {
	sent, waiting := 0, map[way][]*request{}
	for i, l := range r.lines {
		h, is := l.Entry.(trace.Happened)
		if !is || h.Client == 0 || h.Node == 0 {
			continue
		}
		for ; sent < len(r.requests) && r.requests[sent].at.Order < order(i); sent++ {
			q := r.requests[sent]
			waiting[way{q.client, q.node}] = append(waiting[way{q.client, q.node}], q)
		}
		at, w := Point{l.At, order(i)}, way{h.Client, h.Node}
		waiting[w] = slices.DeleteFunc(waiting[w], func(q *request) bool { return r.settled(q, at) })
		if q := cause(h.Event, waiting[w]); q != nil {
			r.came(q, at)
		}
	}
	for _, q := range r.requests {
		r.lose(q)
	}
}

// settled reports whether it is known by then that a request has been carried out, or has
// not.
func (r *reading) settled(q *request, by Point) bool {
	answered := q.answer != 0 && q.answer != env.Lost
	return r.d.Messages[q.message].CameKnown || answered && q.heard.Order < by.Order
}

// cause returns the one of the requests that has changed a key; nil if it could be
// several, or none.
func cause(e *history.Event, waiting []*request) *request {
	var silent []*request
	for _, q := range waiting {
		switch {
		case !changes(q, e):
		case q.answer == env.Yes:
			return q
		case q.answer == env.Lost, q.answer == 0:
			silent = append(silent, q)
		}
	}
	if len(silent) == 1 {
		return silent[0]
	}
	return nil
}

// changes reports whether a request asks for what an event says.
func changes(q *request, e *history.Event) bool {
	c := q.command
	mine := c.Key == e.Resource && c.Token == e.Token
	switch e.Kind {
	case history.KeySet:
		return mine && q.at.At == e.Sent && (c.Op == env.OpSet || c.Op == env.OpPut || c.Op == env.OpAdd)
	case history.KeyExtended:
		return mine && c.Op == env.OpExtend || c.Key == e.Resource && c.Op == env.OpExpire
	case history.KeyGone:
		return mine && c.Op == env.OpDelete || c.Key == e.Resource && c.Op == env.OpRemove
	}
	return false
}

// lose notes what is lost of a request without a reply: the reply, if it is known that it
// was carried out, or else the request. Of one to which nobody listens any more it is not
// known.
func (r *reading) lose(q *request) {
	m := &r.d.Messages[q.message]
	if q.reply >= 0 {
		return
	}
	to := q.heard
	if q.answer == 0 {
		to = q.at
	}
	fault := r.blame(q.client, q.node, q.at, to)
	switch {
	case m.CameKnown && q.answer == env.Lost:
		r.say(Message{From: m.To, To: m.From, Round: m.Round, Reply: true, Sent: m.Came, SentKnown: true, Came: m.Came, Lost: true, Fault: fault})
	case m.CameKnown:
	case q.answer == env.Lost, fault != 0:
		m.Lost, m.Fault = true, fault
	}
}
