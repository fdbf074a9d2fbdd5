package checker

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
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

// contender is what is known about the newcomer of a conflict.
type contender struct {
	client int
	token  string
	kept   nodes       // nodes with its key
	voted  nodes       // nodes that had it at its grant
	fate   *keyHistory // nil: nothing happened to its keys or its entry
}

func (h *hold) contender() contender {
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
func (x *exclusion) newConflict(a *hold, b contender, now history.Time) *conflict {
	l := x.state
	c := &conflict{
		faultLog: x.faultLog, stored: l.header.Keepers < 0, late: l.header.Keys && l.header.Watched,
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
	c.emptied = l.emptiedUnder(a, c.vouched, now)
	c.entry, c.its = a.history().entry, b.entry()
	c.early = c.vouched.at.Add(c.vouched.left).Sub(c.entry.at)
	if w := &a.windows[leaseRule]; w.over && w.by == history.Lapse && w.end <= now {
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
func (l *state) emptiedUnder(a *hold, vouched extension, now history.Time) (last comeback) {
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
	if w := &a.windows[leaseRule]; w.over {
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
		over := Event{Role: RoleAccess, From: c.lapse, Client: c.client}.say("client %d's validity was over at %s", c.client, at(c.lapse))
		return broken(StopsInTime, append([]Event{over}, c.paused.of(c.client)...)...)
	case len(c.losses) > 0:
		return c.losing()
	case !c.quorum.None():
		return c.voting()
	case c.stored && (c.entry.gone || c.its.gone):
		return c.storing()
	case c.slow():
		return broken(ClocksAgree, c.slowHolder())
	case c.overran() && !c.vouched.agrees && c.at > c.vouched.at.Add(c.vouched.left):
		return unbroken(deadlineLate)
	case c.stored && c.emptied.how == history.WithWhatItSynced: // nothing has watched the store's entries
		return broken(StoreKeeps, c.emptied.back("the history does not record keys"))
	case c.stored:
		return unbroken(c.grantedBoth(""))
	case c.emptied.node != 0 && c.late:
		return broken(KeepsOrStaysAway, c.emptied.back("the history records keys too late to tell more"))
	case c.emptied.node != 0:
		return broken(KeepsOrStaysAway, c.emptied.back("the history does not record keys"))
	case c.late:
		return unbroken(c.grantedBoth(", as far as can be told from a history that records the nodes' keys late"))
	}
	return unbroken(c.grantedBoth(", as far as can be told from a history that does not record the nodes' keys"))
}

// grantedBoth says that nothing but the lock explains the conflict.
func (c *conflict) grantedBoth(known string) Event {
	return Event{Role: RoleAccess, Client: c.other}.say("the lock itself granted it to both%s", known)
}

// back describes a node that came back without keys.
func (c comeback) back(known string) Event {
	return Event{Role: RoleLoss, From: c.at, Nodes: oneNode(c.node)}.say("node %d came back %s at %s; %s", c.node, c.how, at(c.at), known)
}

// storing returns the causes for a lock that keeps an entry of each hold in a store.
func (c *conflict) storing() []Cause {
	e := c.entry
	if !e.gone {
		return unbroken(c.its.lost(c.other, fmt.Sprintf("; the lock granted it to client %d all the same", c.other)))
	}
	if e.reason == history.Forgotten {
		without := Event{Role: RoleLoss, From: e.at, Client: c.client, Nodes: oneNode(e.leader)}
		return broken(StoreKeeps, without.say("node %d leads the store since %s without client %d's entry", e.leader, at(e.at), c.client))
	}
	evidence := []Event{e.lost(c.client, ", and it went on holding the lock")}
	if c.early > noticeable && len(c.faultLog.onClock(nodeOrClient{node: e.leader}, c.since, e.at)) > 0 {
		ahead := Event{Role: RoleFault, Nodes: oneNode(e.leader)}
		evidence = append(evidence, ahead.say("the clock of node %d, which led, got ahead by %s or more", e.leader, span4(c.early)))
	}
	if c.slow() {
		evidence = append(evidence, c.slowHolder())
	}
	if len(evidence) == 1 {
		return unbroken(evidence...)
	}
	return broken(StoreAgrees, evidence...)
}

// lost says how a client's entry went away, and what happened all the same.
func (e entry) lost(client int, yet string) Event {
	how := fmt.Sprintf("%s at %s", e.reason, at(e.at))
	switch e.reason {
	case history.SessionOver:
		how = fmt.Sprintf("gone since %s, its session being over", at(e.at))
	case history.Expired:
		how = fmt.Sprintf("gone since %s, its time to live being over", at(e.at))
	case history.Forgotten:
		how = fmt.Sprintf("forgotten by the store at %s", at(e.at))
	}
	return Event{Role: RoleLoss, From: e.at, Client: client}.say("client %d's entry was %s%s", client, how, yet)
}

// voting returns the causes if the newcomer did not get its votes by losses of the holder's keys.
func (c *conflict) voting() []Cause {
	for _, v := range []struct {
		client int
		keys   nodes
	}{{c.other, c.elected}, {c.client, c.voted}} {
		if c.quorum.has(v.keys) {
			continue
		}
		few := Event{Role: RoleLoss, Client: v.client, Nodes: v.keys.listed(nil)}
		if c.missed || v.client == c.client {
			return unbroken(few.say("client %d was granted the lock with its key on %s", v.client, c.quorum.share(v.keys)))
		}
		return unbroken(few.say("no node had lost client %d's key, and client %d was granted the lock with its own on %s", c.client, v.client, c.quorum.share(v.keys)))
	}
	if both := c.kept & c.came; both != 0 {
		two := Event{Role: RoleLoss, Client: c.client, Nodes: both.listed(nil)}
		return broken(OneMaster, two.say("%v kept client %d's key and client %d's at a time", both, c.client, c.other))
	}
	if c.missed {
		return unbroken(c.grantedBoth(""))
	}
	both := Event{Role: RoleAccess, Client: c.other}
	return unbroken(both.say("no node had lost client %d's key, and the lock granted it to both", c.client))
}

// losing returns the causes if keys of the holder were lost, one for each kind of loss.
func (c *conflict) losing() (causes []Cause) {
	add := func(a Assumption, which func(countedLoss) bool, format string, more ...Event) {
		lost, when := nodes(0), map[int]history.Time{}
		for _, v := range c.losses {
			if which(v) && !c.own(v) && !v.overAnyway() {
				lost, when[v.node] = lost.with(v.node), v.at
			}
		}
		if lost != 0 {
			causes = append(causes, Cause{Assumption: a, Evidence: append([]Event{c.lost(lost, when, format)}, more...)})
		}
	}
	because := func(reason string) func(countedLoss) bool {
		return func(v countedLoss) bool { return v.reason == reason && !v.restored() && !v.foreign() }
	}
	add(KeepsOrStaysAway, because(history.Forgotten), "%v forgot client %d's key %s")
	add(KeepsUntilExpiry, because(history.Evicted), "%v evicted client %d's key %s")
	add(KeepsAcknowledged, because(history.RolledBack), "%v went back to a state without client %d's key %s")
	add(KeepsAcknowledged, func(v countedLoss) bool { return v.restored() }, "%v came back with an earlier expiry of client %d's key, which was over %s")
	add(OnlyHolder, because(history.Deleted), "%v deleted client %d's key %s for "+c.asker(history.Deleted))
	add(LookAndSet, because(history.Overwritten), "%v overwrote client %d's key %s for "+c.asker(history.Overwritten))
	add(OnlyHolder, func(v countedLoss) bool { return v.foreign() }, "on %v client %d's key had expired %s, as "+c.asker(history.Expired)+" had asked")
	if clocks := c.wrongClocks(); len(clocks) > 0 {
		add(ClocksAgree, because(history.Expired), "on %v client %d's key had expired %s, and it went on holding the lock", clocks...)
	}
	if len(causes) == 0 {
		return unbroken(c.unexplained()...)
	}
	return causes
}

// lost describes the loss of the holder's key on some nodes. The format takes the nodes, the holder
// and when they lost it.
func (c *conflict) lost(lost nodes, when map[int]history.Time, format string) Event {
	e := Event{Role: RoleLoss, Client: c.client, Token: c.token, Nodes: lost.listed(func(n int) history.Time { return when[n] })}
	return e.say(format, lost, c.client, times(e.Nodes))
}

// unexplained returns the evidence if no fault explains that the keys were lost: the holder's client
// deleted them, or they were over, because the lock did not renew them.
func (c *conflict) unexplained() (told []Event) {
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
	if own != 0 {
		told = append(told, c.lost(own, when, "client %[2]d's own request took its key away on %[1]v %[3]s, and it went on holding the lock"))
	}
	if over != 0 {
		told = append(told, c.lost(over, when, fmt.Sprintf(
			"the TTL of client %%[2]d's key on %%[1]v was over %%[3]s, nobody renewed it, and client %d's key was set there after that", c.other)))
	}
	if len(told) == 0 {
		told = c.expired()
	}
	if k := c.fate.misled; k != nil {
		told = append(told, k.event("a request of client %d extended client %d's key (token %s) on node %d at %s"))
	}
	return told
}

// expired returns the evidence if keys expired and no fault made a clock wrong.
//
// If the holder was paused before the grant, either its clock or the lock may have skipped
// that time. The history cannot tell which, because it does not say when the lock reads its
// clock.
func (c *conflict) expired() []Event {
	var early time.Duration
	for _, v := range c.losses {
		early = max(early, v.early)
	}
	e := Event{Role: RoleLoss, Client: c.client, Token: c.token}
	if early > noticeable {
		return []Event{e.say("client %d's key was gone %s before its TTL was over, and no fault made a clock wrong", c.client, span4(early))}
	}
	counted := "the lock counted on it for longer"
	if c.overran() && !c.vouched.agrees {
		counted = deadlineLate.Text
	}
	told := []Event{e.say("client %d's key lived for its whole TTL, and %s", c.client, counted)}
	if s := c.delayed; s.ever {
		stood := Event{Role: RoleFault, From: s.from, To: s.to, Client: c.client}
		told = append(told, stood.say("client %d had stood still from %s to %s, before the grant", c.client, at(s.from), at(s.to)))
	}
	return told
}

// asker names the client whose request lost the key.
func (c *conflict) asker(reason string) string {
	for _, v := range c.losses {
		switch who := max(v.client, v.asked); {
		case v.reason != reason || who == 0 || c.own(v):
		case reason == history.Expired && !v.foreign():
		default:
			return fmt.Sprintf("client %d", who)
		}
	}
	return "somebody else"
}

// noticeable is the least difference of clocks that counts. On real machines every
// instant is recorded a little late.
const noticeable = time.Millisecond

// overran reports whether the holder counted on more validity than it was granted.
func (c *conflict) overran() bool { return c.behind > noticeable && !c.endless }

// slow reports whether it did because its clock fell behind. A fault must explain that.
func (c *conflict) slow() bool {
	return c.overran() && len(c.faultLog.onClock(nodeOrClient{client: c.client}, c.since, c.until)) > 0
}

// wrongClocks lists the clocks that were wrong, as far as faults explain it.
func (c *conflict) wrongClocks() (wrong []Event) {
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
		e := Event{Role: RoleFault, Nodes: ahead.listed(nil)}
		wrong = append(wrong, e.say("%s of %v got ahead by %s or more", textfmt.Plural(ahead.count(), "the clock"), ahead, span4(least)))
	}
	if c.slow() {
		wrong = append(wrong, c.slowHolder())
	}
	return wrong
}

func (c *conflict) slowHolder() Event {
	return Event{Role: RoleFault, Client: c.client}.say("the clock of client %d fell behind by %s or more", c.client, span4(c.behind))
}

// extension is the validity that was left when an extension, or the grant, returned.
type extension struct {
	at     history.Time
	left   time.Duration // 0: it is not known
	agrees bool          // its until is no later, as far as the history shows
}

// vouched returns the last extension, or the grant, and whether one has returned and says how much
// validity was left.
func (h *hold) vouched() (last extension, ever bool) {
	if h.renewed.at != 0 {
		return h.renewed, h.renewed.left != 0
	}
	return h.first, h.returned && h.first.left != 0
}
