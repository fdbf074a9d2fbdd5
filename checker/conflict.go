package checker

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// conflict is what is known about why a client was granted the lock while another held it.
// The first client is the holder, the second the newcomer.
type conflict struct {
	faultLog *faultLog
	quorum   electorate // none: the history has no keys, or the lock keeps nothing on nodes
	stored   bool       // the lock keeps nothing on nodes
	late     bool       // the history records keys, but late

	client  int // the holder
	token   string
	other   int // the newcomer
	theirs  string
	at      history.Time
	lapsed  bool // the holder's validity had ended
	lapse   history.Time
	paused  clientPause // of the holder, during its hold
	delayed clientPause // of the holder, before its grant
	losses  []countedLoss
	fate    *keyHistory // of the holder
	missed  bool        // nodes lost the holder's key whose votes the newcomer did not have
	voted   nodes       // nodes that had the holder's key at its grant
	elected nodes       // nodes that had the newcomer's key at its grant
	kept    nodes       // nodes with the holder's key
	came    nodes       // nodes with the newcomer's key
	vouched extension
	endless bool
	behind  time.Duration // by how much the holder counted on more validity than it was granted, at least
	since   history.Time  // when the holder called acquire
	until   history.Time  // until when the holder is known to have counted on it
	emptied comeback      // the last node that came back without keys
	entry   entry         // the holder's, in a store
	its     entry         // the newcomer's
	early   time.Duration // by how much the store ended the holder's entry early, at least
}

// recordedLate is the Detail of [GrantedBoth] if the history records keys late.
const recordedLate = "late"

// contender is what is known about the newcomer of a conflict.
type contender struct {
	client int
	token  string
	kept   nodes       // nodes with its key
	voted  nodes       // nodes that had it at its grant
	fate   *keyHistory // nil: nothing happened to its keys or its entry
}

func contenderOf(h *hold) contender {
	return contender{client: h.client.number, token: h.token, kept: h.keys.set, voted: h.voted(), fate: h.keys.fate}
}

func (v *ended) contender() contender {
	return contender{client: v.grant.Client, token: v.grant.Token, kept: v.kept, voted: v.voted, fate: v.fate}
}

// countedLoss is a key that the holder lost on a node which then set the newcomer's.
type countedLoss struct {
	keyLoss
	vote history.Time // when it did
}

// own reports whether the holder's own client did it.
func (c *conflict) own(v countedLoss) bool {
	return v.client == c.client && (v.reason == history.Deleted || v.reason == history.Overwritten)
}

// overAnyway reports whether the key's TTL would have been over before the node set the newcomer's key,
// so that the loss changed nothing.
func (v countedLoss) overAnyway() bool { return v.reason != history.Expired && v.due <= v.vote }

// set returns when a node set the contender's key, after it had lost that of another hold.
func (v contender) set(node int, lost history.Time) (at history.Time, is bool) {
	if v.fate == nil || !v.voted.has(node) {
		return 0, false
	}
	for _, set := range v.fate.votes {
		if set.node == node && set.at >= lost {
			return set.at, true
		}
	}
	return 0, false
}

func (v contender) entry() (e entry) {
	if v.fate != nil {
		e = v.fate.entry
	}
	return e
}

// newConflict returns the conflict between a holder and a newcomer, as known now.
func newConflict(l *state, n *faultLog, a *hold, b contender, now history.Time) *conflict {
	c := &conflict{
		faultLog: n, stored: l.header.Keepers < 0, late: l.header.Keys && l.header.Watched,
		client: a.client.number, token: a.token, other: b.client, theirs: b.token, at: now,
		since: a.acquire.at, until: now,
		kept: a.keys.set, came: b.kept, voted: a.voted(), elected: b.voted, fate: a.history(),
		endless: a.endless(),
	}
	if exactKeys(l.header) {
		c.quorum = electorateOf(l.header)
	}
	if s := a.client.still; s.ever && a.acquire.at <= s.from && s.to <= a.granted {
		c.delayed = s
	}
	c.vouched, _ = a.vouched()
	c.emptied = emptiedUnder(l, a, c.vouched, now)
	c.entry, c.its = a.history().entry, b.entry()
	c.early = c.vouched.at.Add(c.vouched.left).Sub(c.entry.at)
	if w := &a.windows[leaseWindow]; w.over && w.by == history.Lapse && w.end <= now {
		c.lapsed, c.lapse = true, w.end
	}
	if open := a.openEnd; !c.lapsed && open != nil && open.left > 0 && now > open.at.Add(open.left) {
		c.lapsed, c.lapse = true, open.at.Add(open.left)
	}
	for _, v := range a.history().lost {
		if v.at > now {
			continue
		}
		if at, is := b.set(v.node, v.at); is {
			c.losses = append(c.losses, countedLoss{v, at})
		} else {
			c.missed = true
		}
	}
	c.counted(a, now)
	return c
}

// emptiedUnder returns the last node that came back without keys and may have had the key of a hold, as
// far as is known without keys. It went down after the hold called acquire, came back before the TTL of
// that key was over, and so did the other client get its vote.
func emptiedUnder(l *state, a *hold, vouched extension, now history.Time) (last comeback) {
	if l.header.Keepers < 0 {
		if v := l.emptied; v.at > a.acquire.at && v.at <= now {
			last = v
		}
		return last
	}
	for _, v := range l.comebacks {
		soon := a.ttl == 0 || v.at.Sub(v.down) < a.ttl && now < vouched.at.Add(max(a.ttl, a.asked))
		if v.down > a.acquire.at && v.at <= now && soon {
			last = v
		}
	}
	return last
}

// counted measures how far the holder's clock is behind, at an instant at which its
// validity goes on or has just ended.
func (c *conflict) counted(a *hold, now history.Time) {
	if a.client.still.from <= c.at {
		c.paused = a.client.still.since(max(a.acquire.at, a.granted))
	}
	if w := &a.windows[leaseWindow]; w.over {
		now = min(now, w.end)
	}
	if v, ever := a.vouched(); ever && v.at <= now {
		c.behind = max(c.behind, now.Sub(v.at)-v.left)
		c.until = max(c.until, now)
	}
}

// causes says which assumptions were broken.
func (c *conflict) causes() []Cause {
	switch {
	case c.lapsed:
		return broken(StopsInTime, append([]Statement{{Kind: ValidityEnded, Client: c.client, At: c.lapse}}, c.paused.tell()...)...)
	case len(c.losses) > 0:
		return c.losing()
	case !c.quorum.None():
		return c.voting()
	case c.stored && (c.entry.gone || c.its.gone):
		return c.storing()
	case c.slow():
		return broken(ClocksAgree, c.slowHolder())
	case c.overran() && !c.vouched.agrees && c.at > c.vouched.at.Add(c.vouched.left):
		return unbroken(c.faultLog, Statement{Kind: DeadlineLate})
	case c.stored && c.emptied.how == history.WithWhatItSynced: // nothing has watched the store's entries
		return broken(StoreKeeps, Statement{Kind: CameBackEmpty, Node: c.emptied.node, Detail: c.emptied.how, At: c.emptied.at})
	case c.stored:
		return unbroken(c.faultLog, Statement{Kind: GrantedBoth})
	case c.emptied.node != 0:
		return broken(KeepsOrStaysAway, Statement{Kind: CameBackEmpty, Node: c.emptied.node, Detail: c.emptied.how, At: c.emptied.at, More: c.late})
	}
	both := Statement{Kind: GrantedBoth, More: true}
	if c.late {
		both.Detail = recordedLate
	}
	return unbroken(c.faultLog, both)
}

// storing returns the causes for a lock that keeps an entry of each hold in a store.
func (c *conflict) storing() []Cause {
	e := c.entry
	if !e.gone {
		return unbroken(c.faultLog, Statement{Kind: EntryGone, Client: c.other, Other: c.other, At: c.its.at, Detail: c.its.reason})
	}
	if e.reason == history.Forgotten {
		return broken(StoreKeeps, Statement{Kind: LeadsWithout, Node: e.leader, At: e.at, Client: c.client})
	}
	evidence := []Statement{{Kind: EntryGone, Client: c.client, At: e.at, Detail: e.reason, More: true}}
	if c.early > noticeable && len(c.faultLog.onClock(nodeOrClient{node: e.leader}, c.since, e.at)) > 0 {
		evidence = append(evidence, Statement{Kind: LeaderAhead, Node: e.leader, For: c.early})
	}
	if c.slow() {
		evidence = append(evidence, c.slowHolder())
	}
	if len(evidence) == 1 {
		return unbroken(c.faultLog, evidence...)
	}
	return broken(StoreAgrees, evidence...)
}

// voting returns the causes if the newcomer did not get its votes by losses of the holder's keys.
func (c *conflict) voting() []Cause {
	for _, v := range []struct {
		client int
		keys   nodes
	}{{c.other, c.elected}, {c.client, c.voted}} {
		if !c.quorum.has(v.keys) {
			return unbroken(c.faultLog, Statement{Kind: FewVotes, Client: c.client, Other: v.client, Share: c.quorum.share(v.keys), More: c.missed})
		}
	}
	if both := c.kept & c.came; both != 0 {
		return broken(OneMaster, Statement{Kind: TwoKeys, Nodes: both.listed(nil), Client: c.client, Other: c.other})
	}
	if c.missed {
		return unbroken(c.faultLog, Statement{Kind: GrantedBoth})
	}
	return unbroken(c.faultLog, Statement{Kind: GrantedBoth, Client: c.client})
}

// losing returns the causes if keys of the holder were lost, one for each kind of loss.
func (c *conflict) losing() (causes []Cause) {
	add := func(a Assumption, how, reason string, which func(countedLoss) bool, more ...Statement) {
		lost, when := nodes(0), map[int]history.Time{}
		for _, v := range c.losses {
			if which(v) && !c.own(v) && !v.overAnyway() {
				lost, when[v.node] = lost.with(v.node), v.at
			}
		}
		if lost != 0 {
			key := Statement{Kind: KeyLost, Detail: how, Client: c.client, Nodes: lost.listed(func(n int) history.Time { return when[n] })}
			if reason != "" {
				key.Other = c.asker(reason)
			}
			causes = append(causes, Cause{Assumption: a, Evidence: append([]Statement{key}, more...)})
		}
	}
	because := func(reason string) func(countedLoss) bool {
		return func(v countedLoss) bool { return v.reason == reason && !v.restored() && !v.foreign() }
	}
	add(KeepsOrStaysAway, "forgotten", "", because(history.Forgotten))
	add(KeepsUntilExpiry, "evicted", "", because(history.Evicted))
	add(KeepsAcknowledged, "rolled-back", "", because(history.RolledBack))
	add(KeepsAcknowledged, "earlier-expiry", "", func(v countedLoss) bool { return v.restored() })
	add(OnlyHolder, "deleted", history.Deleted, because(history.Deleted))
	add(LookAndSet, "overwritten", history.Overwritten, because(history.Overwritten))
	add(OnlyHolder, "expired-for", history.Expired, func(v countedLoss) bool { return v.foreign() })
	if clocks := c.wrongClocks(); len(clocks) > 0 {
		add(ClocksAgree, "expired", "", because(history.Expired), clocks...)
	}
	if len(causes) == 0 {
		return unbroken(c.faultLog, c.unexplained()...)
	}
	return causes
}

// unexplained returns the evidence if no fault explains that the keys were lost: the holder's client
// deleted them, or they were over, because the lock did not renew them.
func (c *conflict) unexplained() (told []Statement) {
	var own, over nodes
	when := map[int]history.Time{}
	for _, v := range c.losses {
		switch {
		case c.own(v):
			own, when[v.node] = own.with(v.node), v.at
		case v.overAnyway():
			over, when[v.node] = over.with(v.node), v.due
		}
	}
	at := func(node int) history.Time { return when[node] }
	if own != 0 {
		told = append(told, Statement{Kind: KeyLost, Detail: "by-itself", Client: c.client, Other: c.client, Nodes: own.listed(at)})
	}
	if over != 0 {
		told = append(told, Statement{Kind: NotRenewed, Client: c.client, Other: c.other, Nodes: over.listed(at)})
	}
	if len(told) == 0 {
		told = c.expired()
	}
	if m := c.fate.misled; m != nil {
		told = append(told, Statement{Kind: ExtendedInstead, Node: m.node, Client: m.client, Other: m.other, Token: m.token, At: m.at})
	}
	return told
}

// expired returns the evidence if keys expired and no fault made a clock wrong.
//
// If the holder was paused before the grant, either its clock or the lock may have skipped
// that time. The history cannot tell which, because it does not say when the lock reads its
// clock.
func (c *conflict) expired() []Statement {
	var early time.Duration
	for _, v := range c.losses {
		early = max(early, v.early)
	}
	if early > noticeable {
		return []Statement{{Kind: KeyEarly, Client: c.client, For: early}}
	}
	told := []Statement{{Kind: KeyLived, Client: c.client, More: c.overran() && !c.vouched.agrees}}
	if s := c.delayed; s.ever {
		told = append(told, Statement{Kind: StoodBefore, Client: c.client, From: s.from, To: s.to})
	}
	return told
}

// asker is the client whose request lost the key; 0: unknown.
func (c *conflict) asker(reason string) int {
	for _, v := range c.losses {
		switch who := max(v.client, v.asked); {
		case v.reason != reason || who == 0 || c.own(v):
		case reason == history.Expired && !v.foreign():
		default:
			return who
		}
	}
	return 0
}

// overran reports whether the holder counted on more validity than it was granted.
func (c *conflict) overran() bool { return c.behind > noticeable && !c.endless }

// slow reports whether it did because its clock fell behind. A fault must explain that.
func (c *conflict) slow() bool {
	return c.overran() && len(c.faultLog.onClock(nodeOrClient{client: c.client}, c.since, c.until)) > 0
}

// wrongClocks lists the clocks that were wrong, as far as faults explain it.
func (c *conflict) wrongClocks() (wrong []Statement) {
	var ahead nodes
	least := time.Duration(0)
	for _, v := range c.losses {
		if v.short() && len(c.faultLog.onClock(nodeOrClient{node: v.node}, c.since, v.at)) > 0 {
			if ahead == 0 || v.early < least {
				least = v.early
			}
			ahead = ahead.with(v.node)
		}
	}
	if ahead != 0 {
		wrong = append(wrong, Statement{Kind: ClocksAhead, Nodes: ahead.listed(nil), For: least})
	}
	if c.slow() {
		wrong = append(wrong, c.slowHolder())
	}
	return wrong
}

func (c *conflict) slowHolder() Statement {
	return Statement{Kind: ClockBehind, Client: c.client, For: c.behind}
}

// correct corrects a finding that says that no fault took place, if one did after what it found.
func (n *faultLog) correct(f *Finding) {
	if n.none() {
		return
	}
	for i := range f.Causes {
		f.Causes[i].Faultless = false
	}
	for i := range f.Meanwhile {
		if f.Meanwhile[i].Kind == NoFault {
			f.Meanwhile[i].Kind = NoFaultThen
		}
	}
}

// statement describes the fault.
func (v loggedFault) statement() Statement {
	s := Statement{Kind: FaultInjected, Detail: v.text, At: v.from, Left: v.left, More: v.ended}
	if v.ended {
		s.To = v.to
	}
	return s
}

// tellFaults describes faults.
func tellFaults(list []loggedFault) (told []Statement) {
	for _, v := range list {
		told = append(told, v.statement())
	}
	return told
}

// after returns the faults of an ordered list that begin after an instant.
func after(list []loggedFault, limit history.Time) []loggedFault {
	if i := slices.IndexFunc(list, func(v loggedFault) bool { return v.from > limit }); i >= 0 {
		return list[i:]
	}
	return nil
}

// statementsOf describes the faults of a list that begin up to a limit, or after it.
func statementsOf(list []loggedFault, limit history.Time, after bool) (told []Statement) {
	for _, v := range list {
		if v.from > limit == after {
			told = append(told, v.statement())
		}
	}
	return told
}

// tell states the pause, if there was one.
func (s clientPause) tell() []Statement {
	if !s.ever {
		return nil
	}
	return []Statement{{Kind: StoodStill, From: s.from, To: s.to}}
}

// leads describes a node that came to lead a store.
func (c comeback) leads() Statement {
	return Statement{Kind: Leads, Node: c.node, At: c.at, Detail: c.how}
}
