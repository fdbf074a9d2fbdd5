package sequence

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// addMessage adds a message, and returns its index.
func (r *builder) addMessage(m Message) int {
	r.d.Messages = append(r.d.Messages, m)
	return len(r.d.Messages) - 1
}

// addRequest adds a request.
func (r *builder) addRequest(q request, from, to trace.Participant, round int, text string) *request {
	q.reply = -1
	q.message = r.addMessage(Message{
		From: r.lanes[from], To: r.lanes[to], Round: round, Text: text, Sent: q.at, SentKnown: true, Received: q.at,
	})
	r.requests = append(r.requests, &q)
	return &q
}

// addReply adds the reply to a request.
func (r *builder) addReply(q *request, at Point, text string) {
	asked := r.d.Messages[q.message]
	q.answered, q.answer = at, env.Yes
	q.reply = r.addMessage(Message{
		From: asked.To, To: asked.From, Round: asked.Round, Reply: true, Text: text, Sent: at, Received: at, ReceivedKnown: true,
	})
}

// noReply notes that the client got no reply.
func (q *request) noReply(at Point) { q.answered, q.answer = at, env.Lost }

func (r *builder) sent(s trace.Sent, at Point) {
	text := r.names.command(s.Command)
	for _, n := range s.To.List() {
		q := request{client: s.Client, node: n, command: s.Command, at: at}
		r.asked[requestKey{s.Round, n}] = r.addRequest(q, client(s.Client), node(n), s.Round, text)
	}
}

func (r *builder) replied(h *trace.Replied, at Point) {
	q := r.asked[requestKey{h.Round, h.Reply.Node}]
	if q == nil {
		return
	}
	if h.Reply.Answer == env.Lost {
		q.noReply(at)
		r.addNoAnswer(h, at)
		return
	}
	holder := r.holder(q.node, q.command.Key, q.at, at)
	r.addReply(q, at, r.names.reply(q.command.Op, h, holder))
	q.answer = h.Reply.Answer
}

// addNoAnswer adds a node to the event that lists the nodes of a round from which no answer
// came by this instant.
func (r *builder) addNoAnswer(h *trace.Replied, at Point) {
	s := &r.silence
	if s.round != h.Round || s.at.At != at.At {
		*s = noAnswerEvent{event: len(r.d.Events), round: h.Round, at: at}
		r.event(at, client(h.Client), "?", Plain)
	}
	s.nodes = s.nodes.With(h.Reply.Node)
	r.d.Events[s.event].Text = trace.Nodes(s.nodes) + ": no answer"
}

func (r *builder) storeRequest(a trace.Asked, at Point) {
	q := request{client: a.Client, op: a.Request.Op, at: at}
	r.asked[requestKey{round: a.Round}] = r.addRequest(q, client(a.Client), store, a.Round, r.names.storeRequest(a.Request))
}

func (r *builder) storeReply(a trace.Answered, at Point) {
	q := r.asked[requestKey{round: a.Round}]
	if q == nil {
		return
	}
	switch {
	case errors.Is(a.Err, env.ErrNoLeader):
		r.addReply(q, at, "no leader")
	case a.Err != nil:
		q.noReply(at)
		r.event(at, client(a.Client), fmt.Sprintf("%v: no answer", q.op), Plain)
	default:
		r.addReply(q, at, r.names.storeReply(q.op, a.Reply))
	}
}

// access adds the messages of an access to the guarded resource.
func (r *builder) access(i *timeline.Interval) {
	e := &i.Begin
	text, done := "read", fmt.Sprintf("has read %d", i.End.Value)
	if e.Kind == history.Write {
		text, done = fmt.Sprintf("write %d", e.Value), "written"
	}
	from, at := r.ends(i)
	q := r.addRequest(request{client: e.Client, at: from}, client(e.Client), resource, 0, text)
	r.accesses[i.First] = q
	switch {
	case i.Open:
	case i.End.Outcome == history.Unknown:
		q.noReply(at)
		r.event(at, client(e.Client), text+": no answer", Plain)
	case i.End.Outcome == history.Declined:
		r.addReply(q, at, "refused"+trace.Reason(&i.End))
	default:
		r.addReply(q, at, done)
	}
}

// applied notes when a write arrived, if its client still waits for it.
func (r *builder) applied(e *history.Event, at Point) {
	write := r.during(0, at, at, func(i *timeline.Interval) bool {
		return i.Begin.Kind == history.Write && i.Begin.Client == e.Client && i.Begin.Token == e.Token
	})
	if write != nil {
		r.received(r.accesses[write.First], at)
	}
}

// received notes when a request was carried out: then it arrived, and its reply was sent.
func (r *builder) received(q *request, at Point) {
	m := &r.d.Messages[q.message]
	if m.ReceivedKnown {
		return
	}
	m.Received, m.ReceivedKnown = at, true
	if q.reply >= 0 {
		r.d.Messages[q.reply].Sent, r.d.Messages[q.reply].SentKnown = at, true
	}
}

// link is the link of a client to a node.
type link struct{ client, node int }

// resolve finds out when requests arrived, by the key events that they caused, and which
// messages were lost.
func (r *builder) resolve() {
	slices.SortStableFunc(r.requests, func(a, b *request) int { return a.at.Order - b.at.Order })
	sent, waiting := 0, map[link][]*request{}
	for i, l := range r.lines {
		h, is := l.Entry.(trace.Happened)
		if !is || h.Client == 0 || h.Node == 0 {
			continue
		}
		for ; sent < len(r.requests) && r.requests[sent].at.Order < order(i); sent++ {
			q := r.requests[sent]
			waiting[link{q.client, q.node}] = append(waiting[link{q.client, q.node}], q)
		}
		at, w := Point{l.At, order(i)}, link{h.Client, h.Node}
		waiting[w] = slices.DeleteFunc(waiting[w], func(q *request) bool { return r.settled(q, at) })
		if q := cause(h.Event, waiting[w]); q != nil {
			r.received(q, at)
		}
	}
	for _, q := range r.requests {
		r.markLost(q)
	}
}

// settled reports whether it was known by then if the request was carried out.
func (r *builder) settled(q *request, by Point) bool {
	answered := q.answer != 0 && q.answer != env.Lost
	return r.d.Messages[q.message].ReceivedKnown || answered && q.answered.Order < by.Order
}

// cause returns the request that changed a key; nil if it is none, or one of several.
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

// changes reports whether an event is the effect of a request.
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

// markLost marks what was lost of a request without a reply: the reply, if the request was
// carried out, else the request. It is unknown for a request whose client stopped waiting.
func (r *builder) markLost(q *request) {
	m := &r.d.Messages[q.message]
	if q.reply >= 0 {
		return
	}
	to := q.answered
	if q.answer == 0 {
		to = q.at
	}
	fault := r.lossFault(q.client, q.node, q.at, to)
	switch {
	case m.ReceivedKnown && q.answer == env.Lost:
		r.addMessage(Message{From: m.To, To: m.From, Round: m.Round, Reply: true, Sent: m.Received, SentKnown: true, Received: m.Received, Lost: true, Fault: fault})
	case m.ReceivedKnown:
	case q.answer == env.Lost, fault != 0:
		m.Lost, m.Fault = true, fault
	}
}
