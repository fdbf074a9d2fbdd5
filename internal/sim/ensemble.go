package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ensemble is the nodes as members of one store. One of them leads. Their replicated log
// is reduced to the time that replication takes, so there is one state machine for all of
// them.
type ensemble struct {
	setting  *nemesis.Store
	machine  stateMachine
	replicas []*replica // of each node, in their order; without acknowledgements all have the same. None: what is answered is replicated
	backends backends   // of the leader
	tries    world.Tries
	leader   int    // 0: none
	last     int    // who led last
	lastRun  uint64 // of its server then
	electing bool
	cut      env.NodeSet // the nodes that a fault has cut off from the others; empty: all reach each other

	counted     map[int]int     // how many other nodes were connected at a client's first change
	held        []*storeRequest // in the hands of the leader, in the order in which they came
	postponed   []*storeRequest // of these: the leader pauses its clients, and has not begun with them
	committed   int64           // ground time at which all changes are replicated
	expiryCheck int64           // ground time of the earliest scheduled check for expiry

	election, commit   *nemesis.Table
	elections, commits *source
}

// newEnsemble returns nil if the setting has no store.
func (w *World) newEnsemble(s nemesis.Setting) *ensemble {
	if s.Store == nil {
		return nil
	}
	r := &ensemble{
		setting: s.Store, leader: 1, last: 1, expiryCheck: noTimer, counted: map[int]int{},
		election: s.Store.Election.Table(), elections: w.source(choice.ForElections, 0, "elections of the store"),
		commit: s.Store.Commit.Table(), commits: w.source(choice.ForCommits, 0, "commits of the store"),
	}
	if s.Store.Forgets() {
		shared := &replica{}
		for range s.Nodes {
			if s.Store.Acknowledged != "" {
				shared = &replica{follows: true}
			}
			r.replicas = append(r.replicas, shared)
		}
	}
	return r
}

// leaderChanged has to be called when a node's server starts or stops running, or is cut off from
// others. A leader that is paused, or cut off, is replaced like one that is down, and does not lead
// when it is back.
func (w *World) leaderChanged() {
	s := w.store
	if s == nil {
		return
	}
	if s.leader != 0 && !w.canLead(s.leader) {
		w.depose()
	}
	w.followLeader()
	if s.leader == 0 && !s.electing && w.candidate() != 0 {
		s.electing = true
		w.later(w.now+s.elections.draw(s.election), w.elect)
	}
}

// runs reports whether a node takes part in the store: also if it only pauses its clients.
func (n *node) runs() bool { return !n.down && (!n.stopped || n.frozen) }

// connects reports whether two nodes reach each other.
func (s *ensemble) connects(a, b int) bool { return s.cut.Has(a) == s.cut.Has(b) }

// canLead reports whether a node runs and reaches enough others that do.
func (w *World) canLead(id int) bool {
	run := 0
	for i := range w.nodes {
		if n := &w.nodes[i]; n.runs() && w.store.connects(id, n.id) {
			run++
		}
	}
	return w.node(id).runs() && (run > len(w.nodes)/2 || w.store.setting.Asynchronous)
}

// candidate returns the node that is elected next: in a circle, the next one after the last leader
// that can lead; 0: none can.
func (w *World) candidate() int {
	for i := range w.nodes {
		if id := (w.store.last+i)%len(w.nodes) + 1; w.canLead(id) {
			return id
		}
	}
	return 0
}

// cutPeers cuts some nodes off from the others, in place of those that were cut off before. Clients
// of a node that does not reach the leader any more learn nothing of their requests.
func (w *World) cutPeers(nodes ...int) {
	s := w.store
	s.cut = env.SetOf(nodes...)
	w.leaderChanged()
	for _, q := range slices.Clone(s.held) {
		if node := int(w.network.messages.at(q.message).node); !s.connects(node, s.leader) {
			w.finish(q, leaderLost)
		}
	}
}

// fallBehind keeps the state of nodes that follow no leader any more, for serializable reads.
func (w *World) fallBehind(nodes ...int) {
	for _, id := range nodes {
		if n := w.node(id); w.store != nil && n.behind == nil {
			then := w.store.machine.clone()
			n.behind = &then
		}
	}
}

// keepUp lets nodes that follow a leader again have its state.
func (w *World) keepUp(nodes ...int) {
	for _, id := range nodes {
		if n := w.node(id); n.behind != nil && n.runs() && w.store.connects(id, cmp.Or(w.store.leader, id)) {
			n.behind = nil
		}
	}
}

// stateOf returns the state that a node has. One that follows the leader lags behind by nothing.
func (s *ensemble) stateOf(n *node) *stateMachine { return cmp.Or(n.behind, &s.machine) }

// depose removes the leader. Requests that it has not answered may have taken effect, but
// nobody learns whether they did.
func (w *World) depose() {
	s := w.store
	w.endBackends(func(*backend) bool { return true })
	s.last, s.lastRun, s.leader = s.leader, w.node(s.leader).run, 0
	for _, r := range s.replicas {
		r.catchUp(w.now)
	}
	w.injector.Record(history.Event{Kind: history.Leader})
	for _, q := range slices.Clone(s.held) {
		w.finish(q, leaderLost)
	}
}

// elect makes the candidate the leader, if there still is one.
func (w *World) elect() {
	s := w.store
	s.electing = false
	id := w.candidate()
	if id == 0 {
		return
	}
	before := slices.Clone(s.machine.entries)
	leads := history.Event{Kind: history.Leader, Node: id}
	if lost := s.takeOver(w.node(id), w.now); lost > 0 {
		leads.Detail = lostChanges(lost)
	}
	w.followLeader()
	w.injector.Record(leads)
	w.recordGone(before, history.Forgotten)
	w.recordBack(before)
	w.awaitExpiry()
}

// recordBack records which entries there are that were not there before: their deletion is
// forgotten.
func (w *World) recordBack(before []entry) {
	for _, e := range w.store.machine.entries {
		if !slices.ContainsFunc(before, func(b entry) bool { return b.Key == e.Key && b.Token() == e.Token() }) {
			w.recordEntry(history.Event{Kind: history.EntrySet, Token: e.Token(), Reason: history.RolledBack})
		}
	}
}

func lostChanges(n uint64) string {
	if n == 1 {
		return "without the last change"
	}
	return fmt.Sprintf("without the last %d changes", n)
}

// handOver makes another node lead, with every change, if a node leads that has paused its clients and another can.
func (w *World) handOver(n *node) {
	postponed := w.takePostponed()
	if s := w.store; s.leader == n.id {
		w.expireEntries()
		for _, r := range s.replicas {
			r.catchUp(math.MaxInt64)
		}
		w.depose()
		w.elect()
	}
	for _, i := range postponed {
		w.handleAtNode(i)
	}
}

// leaderClocks reads the clocks of the leader's machine.
func (w *World) leaderClocks() clockReading {
	n := w.node(w.store.leader)
	return clockReading{mono: n.mono.At(w.now), wall: n.wall.At(w.now)}
}

// lead processes a request at the leader. It takes effect at this instant; only StoreAwait
// may have to wait. Reads go to the leader too, while those of ZooKeeper are answered by
// the node asked, and may be stale.
func (w *World) lead(q *storeRequest) {
	w.expireEntries()
	switch q.request.Op {
	case env.StoreAwait:
		if w.store.machine.has(q.request.Key, q.request.Revision) {
			return
		}
		fallthrough
	case env.StoreList:
		q.reply = w.store.machine.do(&q.request, w.leaderClocks())
		w.finish(q, answered)
	default:
		w.change(&q.request, q)
		w.awaitExpiry()
	}
}

// change changes the leader's state machine. The client that requested it (nil: none) and
// those that wait for it are answered when the change is replicated, unless the leader is
// lost first; with asynchronous replication, at once.
func (w *World) change(r *env.StoreRequest, asker *storeRequest) {
	s := w.store
	now, gone := w.leaderClocks(), s.machine.deleted
	reply := w.recordingChange(r, asker, func() env.StoreReply { return s.machine.do(r, now) })
	w.trace.words(uint64(r.Op), s.machine.revision, uint64(s.machine.deleted))
	var hear []*storeRequest
	if asker != nil {
		asker.reply = reply
		hear = append(hear, asker)
	}
	if s.machine.deleted > gone || r.Op == env.StoreRenew || r.Op == env.StoreUpdate {
		hear = append(hear, s.wake()...)
	}
	if s.setting.Acknowledged != "" {
		w.acknowledge(logged{request: *r, now: now}, asker, hear)
		return
	}
	s.committed = max(s.committed, w.now+s.commits.draw(s.commit))
	if s.replicas != nil {
		s.replicas[0].enter(logged{*r, now, s.committed}, w.now)
		w.answerAll(hear)
		return
	}
	w.later(s.committed, func() { w.answerAll(hear) })
}

// acknowledge sends a change to every node that follows the leader, and answers those who wait for it as soon as
// enough nodes have it. Otherwise they learn nothing.
func (w *World) acknowledge(l logged, asker *storeRequest, hear []*storeRequest) {
	s := w.store
	missing := s.acknowledgements(asker)
	if missing == 0 {
		w.answerAll(hear)
	}
	leader := s.leader
	for i, r := range s.replicas {
		if i+1 == leader || !r.follows {
			continue
		}
		r.last = max(r.last, w.now+s.commits.draw(s.commit))
		l.arrives = r.last
		r.enter(l, w.now)
		w.later(l.arrives, func() {
			if r.follows && s.leader == leader {
				if missing--; missing == 0 {
					w.answerAll(hear)
				}
			}
		})
	}
}

// acknowledgements is the number of nodes that have to have a change before its client counts the answer. A change
// without a client is an expiry, for which nobody waits.
func (s *ensemble) acknowledgements(asker *storeRequest) int {
	connected := 0
	for i, r := range s.replicas {
		if r.follows && i+1 != s.leader {
			connected++
		}
	}
	if asker == nil {
		return connected
	}
	first, asked := s.counted[asker.client]
	if !asked {
		first, s.counted[asker.client] = connected, connected
	}
	return s.setting.Acknowledged.Of(connected, first)
}

// followLeader connects nodes that run to the leader, which sends them all that it has, and disconnects those that
// do not run: what was on its way to them is lost.
func (w *World) followLeader() {
	s := w.store
	for i, r := range s.replicas {
		switch {
		case s.setting.Acknowledged == "":
		case !w.node(i + 1).runs():
			r.follows, r.log = false, nil
		case !r.follows && s.leader != 0:
			r.follows, r.machine = true, s.machine.clone()
		}
	}
}

// recordingChange makes a change and records which entries it creates and deletes. Entries of
// expired sessions, and swept rows, no client has deleted. An update that leaves an entry to
// another try deletes the entry of one and creates that of the other; one that does not is not
// recorded, like a renewal.
func (w *World) recordingChange(r *env.StoreRequest, asker *storeRequest, change func() env.StoreReply) env.StoreReply {
	switch r.Op {
	case env.StoreOpen, env.StoreKeep:
		return change()
	case env.StoreCreate:
		reply := change()
		if reply.Done {
			w.recordEntry(history.Event{Kind: history.EntrySet, Client: asker.client, Token: reply.Entries[0].Token()})
		}
		return reply
	}
	before := slices.Clone(w.store.machine.entries)
	reply := change()
	switch r.Op {
	case 0: // nothing but what time brings about
		w.recordGone(before, history.SessionOver)
	case env.StoreSweep:
		w.recordGone(before, history.Swept)
	default:
		for _, e := range before {
			if w.store.machine.lost(e) {
				w.recordEntry(history.Event{Kind: history.EntryDeleted, Client: asker.client, Token: e.Token()})
				if r.Op == env.StoreUpdate {
					w.recordEntry(history.Event{Kind: history.EntrySet, Client: asker.client, Token: reply.Entries[0].Token()})
				}
			}
		}
	}
	return reply
}

// recordEntry records a change of a client's entry, if the entry is that of a try. It is no part
// of the trace, which has the requests: so traces are those of programs that did not record
// entries.
func (w *World) recordEntry(e history.Event) {
	if w.sealed || !w.store.tries.Complete(&e) {
		return
	}
	w.catchUp()
	p := w.place()
	*p = e
	p.Time = w.time()
	w.passOn(p)
}

// recordGone records which of the entries no longer exist. Those of sessions share a reason;
// what time takes from an entry that expires by itself is its own.
func (w *World) recordGone(before []entry, shared string) {
	s := w.store
	for _, e := range before {
		if s.machine.lost(e) {
			reason := shared
			if e.expires() && shared == history.SessionOver {
				reason = history.Expired
			}
			w.injector.Record(history.Event{Kind: history.EntryGone, Node: s.leader, Token: e.Token(), Reason: reason})
		}
	}
}

// wake returns the requests that wait for an entry which is now gone.
func (s *ensemble) wake() []*storeRequest {
	var woken []*storeRequest
	for _, q := range s.held {
		if r := &q.request; r.Op == env.StoreAwait && !q.woken && !s.machine.has(r.Key, r.Revision) {
			q.woken, q.reply = true, env.StoreReply{Done: true}
			woken = append(woken, q)
		}
	}
	return woken
}

// answerAll answers the requests that the store still holds.
func (w *World) answerAll(requests []*storeRequest) {
	for _, q := range requests {
		if q.message != noMessage {
			w.finish(q, answered)
		}
	}
}

// awaitExpiry schedules a check of the leader's clock for when the first session or entry expires. A
// check that comes too early schedules the next one.
func (w *World) awaitExpiry() {
	s := w.store
	due := s.machine.due()
	if due == noTimer {
		return
	}
	at := max(w.node(s.leader).mono.When(due), w.now)
	if at < s.expiryCheck {
		s.expiryCheck = at
		w.later(at, func() { w.checkExpiry(at) })
	}
}

func (w *World) checkExpiry(at int64) {
	s := w.store
	if s.expiryCheck != at {
		return
	}
	s.expiryCheck = noTimer
	if s.leader != 0 && !w.node(s.leader).frozen {
		w.expireEntries()
		w.awaitExpiry()
	}
}

// expireEntries ends the sessions and deletes the entries whose time has passed.
func (w *World) expireEntries() {
	if w.store.machine.due() <= w.leaderClocks().mono {
		w.change(&env.StoreRequest{}, nil)
	}
}

// flushStore makes the changes that a leader has in memory safe, before it ends cleanly.
func (w *World) flushStore(n *node) {
	if s := w.store; s != nil && s.leader == n.id && s.setting.Durability == nemesis.Off {
		s.replicas[0].catchUp(math.MaxInt64)
	}
}

// takeOver gives a new leader its state. If it is another node than the last leader, that
// is the replica's state when the leader was lost: changes on their way are lost, and
// their revisions are used again. The same holds for the last leader if it kept changes in memory and
// has been restarted. The other nodes catch up with the new leader at once. It
// returns the number of lost changes.
func (s *ensemble) takeOver(n *node, now int64) (lost uint64) {
	restarted := s.setting.Durability == nemesis.Off && n.run != s.lastRun
	if s.replicas != nil && (n.id != s.last || restarted) {
		heir := s.replicas[n.id-1]
		lost = s.machine.revision - heir.machine.revision
		s.machine = heir.machine
	}
	s.machine.restartTimers(n.mono.At(now))
	for _, r := range s.replicas {
		if r.follows || s.setting.Acknowledged == "" {
			r.machine, r.log = s.machine.clone(), nil
		}
	}
	s.leader = n.id
	return lost
}
