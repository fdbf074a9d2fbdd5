package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
)

// broken returns a broken assumption with its evidence.
func broken(a Assumption, evidence ...Event) []Cause {
	return []Cause{{Assumption: a, Evidence: evidence}}
}

// unbroken returns the cause if no assumption is seen to be broken, with what is seen instead.
func unbroken(evidence ...Event) []Cause { return []Cause{{Evidence: evidence}} }

// conflict is what is known about why a client was granted the lock while another held it.
// The first client is the holder, the second the newcomer.
type conflict struct {
	faults *timeline.Faults
	quorum timeline.Electorate // none: the history has no keys, or the lock keeps nothing on nodes
	stored bool                // the lock keeps nothing on nodes
	late   bool                // the history records keys, but late

	client  int // the holder
	token   string
	other   int // the newcomer
	theirs  string
	at      history.Time
	lapsed  bool // the holder's validity had ended
	lapse   history.Time
	paused  timeline.Pause // of the holder, during its hold
	delayed timeline.Pause // of the holder, before its grant
	losses  []countedLoss
	fate    *timeline.KeyHistory // of the holder
	missed  bool                 // nodes lost the holder's key whose votes the newcomer did not have
	voted   timeline.Nodes       // nodes that had the holder's key at its grant
	elected timeline.Nodes       // nodes that had the newcomer's key at its grant
	kept    timeline.Nodes       // nodes with the holder's key
	came    timeline.Nodes       // nodes with the newcomer's key
	vouched timeline.Promise
	endless bool
	behind  time.Duration      // by how much the holder counted on more validity than it was granted, at least
	since   history.Time       // when the holder called acquire
	until   history.Time       // until when the holder is known to have counted on it
	emptied timeline.Comeback  // the last node that came back without keys
	entry   timeline.EntryLoss // the holder's, in a store
	its     timeline.EntryLoss // the newcomer's
	early   time.Duration      // by how much the store ended the holder's entry early, at least
}

// contender is what is known about the newcomer of a conflict.
type contender struct {
	client int
	token  string
	kept   timeline.Nodes       // nodes with its key
	voted  timeline.Nodes       // nodes that had it at its grant
	fate   *timeline.KeyHistory // nil: nothing happened to its keys or its entry
}

func contenderOf(h *timeline.Hold) contender {
	return contender{client: h.Client.Number, token: h.Token, kept: h.Keys.Set, voted: h.Voted(), fate: h.Keys.Past}
}

// countedLoss is a key that the holder lost on a node which then set the newcomer's.
type countedLoss struct {
	timeline.KeyLoss
	vote history.Time // when it did
}

// own reports whether the holder's own client did it.
func (c *conflict) own(v countedLoss) bool {
	return v.Client == c.client && (v.Reason == history.Deleted || v.Reason == history.Overwritten)
}

// overAnyway reports whether the key's TTL would have been over before the node set the newcomer's key,
// so that the loss changed nothing.
func (v countedLoss) overAnyway() bool { return v.Reason != history.Expired && v.Due <= v.vote }

// set returns when a node set the contender's key, after it had lost that of another hold.
func (v contender) set(node int, lost history.Time) (at history.Time, is bool) {
	if v.fate == nil || !v.voted.Has(node) {
		return 0, false
	}
	for _, set := range v.fate.Votes {
		if set.Node == node && set.At >= lost {
			return set.At, true
		}
	}
	return 0, false
}

func (v contender) entry() (e timeline.EntryLoss) {
	if v.fate != nil {
		e = v.fate.Entry
	}
	return e
}

// newConflict returns the conflict between a holder and a newcomer, as known now.
func newConflict(line *timeline.Timeline, a *timeline.Hold, b contender, now history.Time) *conflict {
	c := &conflict{
		faults: &line.Faults, stored: line.Header.Keepers < 0, late: line.Header.Keys && line.Header.Watched,
		client: a.Client.Number, token: a.Token, other: b.client, theirs: b.token, at: now,
		since: a.Acquire.At, until: now,
		kept: a.Keys.Set, came: b.kept, voted: a.Voted(), elected: b.voted, fate: a.KeyHistory(),
		endless: a.Endless(),
	}
	if timeline.ExactKeys(line.Header) {
		c.quorum = timeline.ElectorateOf(line.Header)
	}
	if s := a.Client.LastPause; s.Ever && a.Acquire.At <= s.From && s.To <= a.GrantedAt {
		c.delayed = s
	}
	c.vouched, _ = a.Promised()
	c.emptied = emptiedUnder(line, a, c.vouched, now)
	c.entry, c.its = a.KeyHistory().Entry, b.entry()
	c.early = c.vouched.At.Add(c.vouched.Left).Sub(c.entry.At)
	if w := &a.Windows[timeline.LeaseWindow]; w.Over && w.By == history.Lapse && w.End <= now {
		c.lapsed, c.lapse = true, w.End
	}
	if open := a.UnknownEnd; !c.lapsed && open != nil && open.Left > 0 && now > open.At.Add(open.Left) {
		c.lapsed, c.lapse = true, open.At.Add(open.Left)
	}
	for _, v := range a.KeyHistory().Lost {
		if v.At > now {
			continue
		}
		if at, is := b.set(v.Node, v.At); is {
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
func emptiedUnder(line *timeline.Timeline, a *timeline.Hold, vouched timeline.Promise, now history.Time) (last timeline.Comeback) {
	if line.Header.Keepers < 0 {
		if v := line.LastEmptied; v.At > a.Acquire.At && v.At <= now {
			last = v
		}
		return last
	}
	for _, v := range line.Comebacks {
		soon := a.TTL == 0 || v.At.Sub(v.Down) < a.TTL && now < vouched.At.Add(max(a.TTL, a.ExtendTTL))
		if v.Down > a.Acquire.At && v.At <= now && soon {
			last = v
		}
	}
	return last
}

// counted measures how far the holder's clock is behind, at an instant at which its
// validity goes on or has just ended.
func (c *conflict) counted(a *timeline.Hold, now history.Time) {
	if a.Client.LastPause.From <= c.at {
		c.paused = a.Client.LastPause.Since(max(a.Acquire.At, a.GrantedAt))
	}
	if w := &a.Windows[timeline.LeaseWindow]; w.Over {
		now = min(now, w.End)
	}
	if v, ever := a.Promised(); ever && v.At <= now {
		c.behind = max(c.behind, now.Sub(v.At)-v.Left)
		c.until = max(c.until, now)
	}
}

// causes says which assumptions were broken.
func (c *conflict) causes() []Cause {
	switch {
	case c.lapsed:
		over := Event{Role: RoleAccess, From: c.lapse, Client: c.client}.say("client %d's validity was over at %s", c.client, at(c.lapse))
		return broken(StopsInTime, append([]Event{over}, pauseOf(c.paused, c.client)...)...)
	case len(c.losses) > 0:
		return c.losing()
	case !c.quorum.None():
		return c.voting()
	case c.stored && (c.entry.Gone || c.its.Gone):
		return c.storing()
	case c.slow():
		return broken(ClocksAgree, c.slowHolder())
	case c.overran() && !c.vouched.Agrees && c.at > c.vouched.At.Add(c.vouched.Left):
		return unbroken(deadlineLate)
	case c.stored && c.emptied.How == history.WithWhatItSynced: // nothing has watched the store's entries
		return broken(StoreKeeps, cameBack(c.emptied, "the history does not record keys"))
	case c.stored:
		return unbroken(c.grantedBoth(""))
	case c.emptied.Node != 0 && c.late:
		return broken(KeepsOrStaysAway, cameBack(c.emptied, "the history records keys too late to tell more"))
	case c.emptied.Node != 0:
		return broken(KeepsOrStaysAway, cameBack(c.emptied, "the history does not record keys"))
	case c.late:
		return unbroken(c.grantedBoth(", as far as can be told from a history that records the nodes' keys late"))
	}
	return unbroken(c.grantedBoth(", as far as can be told from a history that does not record the nodes' keys"))
}

// grantedBoth says that nothing but the lock explains the conflict.
func (c *conflict) grantedBoth(known string) Event {
	return Event{Role: RoleAccess, Client: c.other}.say("the lock itself granted it to both%s", known)
}

// cameBack describes a node that came back without keys.
func cameBack(c timeline.Comeback, known string) Event {
	return Event{Role: RoleLoss, From: c.At, Nodes: oneNode(c.Node)}.say("node %d came back %s at %s; %s", c.Node, c.How, at(c.At), known)
}

// storing returns the causes for a lock that keeps an entry of each hold in a store.
func (c *conflict) storing() []Cause {
	e := c.entry
	if !e.Gone {
		return unbroken(entryLost(c.its, c.other, fmt.Sprintf("; the lock granted it to client %d all the same", c.other)))
	}
	if e.Reason == history.Forgotten {
		without := Event{Role: RoleLoss, From: e.At, Client: c.client, Nodes: oneNode(e.Leader)}
		return broken(StoreKeeps, without.say("node %d leads the store since %s without client %d's entry", e.Leader, at(e.At), c.client))
	}
	evidence := []Event{entryLost(e, c.client, ", and it went on holding the lock")}
	if c.early > timeline.Noticeable && len(c.faults.OnClock(nemesis.Machine{Node: e.Leader}, c.since, e.At)) > 0 {
		ahead := Event{Role: RoleFault, Nodes: oneNode(e.Leader)}
		evidence = append(evidence, ahead.say("the clock of node %d, which led, got ahead by %s or more", e.Leader, textfmt.FourDigits(c.early)))
	}
	if c.slow() {
		evidence = append(evidence, c.slowHolder())
	}
	if len(evidence) == 1 {
		return unbroken(evidence...)
	}
	return broken(StoreAgrees, evidence...)
}

// entryLost says how a client's entry went away, and what happened all the same.
func entryLost(e timeline.EntryLoss, client int, yet string) Event {
	how := fmt.Sprintf("%s at %s", e.Reason, at(e.At))
	switch e.Reason {
	case history.SessionOver:
		how = fmt.Sprintf("gone since %s, its session being over", at(e.At))
	case history.Expired:
		how = fmt.Sprintf("gone since %s, its time to live being over", at(e.At))
	case history.Forgotten:
		how = fmt.Sprintf("forgotten by the store at %s", at(e.At))
	}
	return Event{Role: RoleLoss, From: e.At, Client: client}.say("client %d's entry was %s%s", client, how, yet)
}

// voting returns the causes if the newcomer did not get its votes by losses of the holder's keys.
func (c *conflict) voting() []Cause {
	for _, v := range []struct {
		client int
		keys   timeline.Nodes
	}{{c.other, c.elected}, {c.client, c.voted}} {
		if c.quorum.Quorum(v.keys) {
			continue
		}
		few := Event{Role: RoleLoss, Client: v.client, Nodes: listNodes(v.keys, nil)}
		if c.missed || v.client == c.client {
			return unbroken(few.say("client %d was granted the lock with its key on %s", v.client, votesOf(c.quorum, v.keys)))
		}
		return unbroken(few.say("no node had lost client %d's key, and client %d was granted the lock with its own on %s", c.client, v.client, votesOf(c.quorum, v.keys)))
	}
	if both := c.kept & c.came; both != 0 {
		two := Event{Role: RoleLoss, Client: c.client, Nodes: listNodes(both, nil)}
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
		lost, when := timeline.Nodes(0), map[int]history.Time{}
		for _, v := range c.losses {
			if which(v) && !c.own(v) && !v.overAnyway() {
				lost, when[v.Node] = lost.With(v.Node), v.At
			}
		}
		if lost != 0 {
			causes = append(causes, Cause{Assumption: a, Evidence: append([]Event{c.lost(lost, when, format)}, more...)})
		}
	}
	because := func(reason string) func(countedLoss) bool {
		return func(v countedLoss) bool { return v.Reason == reason && !v.Restored() && !v.Foreign() }
	}
	add(KeepsOrStaysAway, because(history.Forgotten), "%v forgot client %d's key %s")
	add(KeepsUntilExpiry, because(history.Evicted), "%v evicted client %d's key %s")
	add(KeepsAcknowledged, because(history.RolledBack), "%v went back to a state without client %d's key %s")
	add(KeepsAcknowledged, func(v countedLoss) bool { return v.Restored() }, "%v came back with an earlier expiry of client %d's key, which was over %s")
	add(OnlyHolder, because(history.Deleted), "%v deleted client %d's key %s for "+c.asker(history.Deleted))
	add(LookAndSet, because(history.Overwritten), "%v overwrote client %d's key %s for "+c.asker(history.Overwritten))
	add(OnlyHolder, func(v countedLoss) bool { return v.Foreign() }, "on %v client %d's key had expired %s, as "+c.asker(history.Expired)+" had asked")
	if clocks := c.wrongClocks(); len(clocks) > 0 {
		add(ClocksAgree, because(history.Expired), "on %v client %d's key had expired %s, and it went on holding the lock", clocks...)
	}
	if len(causes) == 0 {
		return unbroken(c.unexplained()...)
	}
	return causes
}

// entryLost describes the loss of the holder's key on some nodes. The format takes the nodes, the holder
// and when they lost it.
func (c *conflict) lost(lost timeline.Nodes, when map[int]history.Time, format string) Event {
	e := Event{Role: RoleLoss, Client: c.client, Token: c.token, Nodes: listNodes(lost, func(n int) history.Time { return when[n] })}
	return e.say(format, lost, c.client, times(e.Nodes))
}

// unexplained returns the evidence if no fault explains that the keys were lost: the holder's client
// deleted them, or they were over, because the lock did not renew them.
func (c *conflict) unexplained() (told []Event) {
	var own, over timeline.Nodes
	when := map[int]history.Time{}
	for _, v := range c.losses {
		switch {
		case c.own(v):
			own, when[v.Node] = own.With(v.Node), v.At
		case v.overAnyway():
			over, when[v.Node] = over.With(v.Node), v.Due
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
	if k := c.fate.Misled; k != nil {
		told = append(told, wrongKeyEvent(k, "a request of client %d extended client %d's key (token %s) on node %d at %s"))
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
		early = max(early, v.Early)
	}
	e := Event{Role: RoleLoss, Client: c.client, Token: c.token}
	if early > timeline.Noticeable {
		return []Event{e.say("client %d's key was gone %s before its TTL was over, and no fault made a clock wrong", c.client, textfmt.FourDigits(early))}
	}
	counted := "the lock counted on it for longer"
	if c.overran() && !c.vouched.Agrees {
		counted = deadlineLate.Text
	}
	told := []Event{e.say("client %d's key lived for its whole TTL, and %s", c.client, counted)}
	if s := c.delayed; s.Ever {
		stood := Event{Role: RoleFault, From: s.From, To: s.To, Client: c.client}
		told = append(told, stood.say("client %d had stood still from %s to %s, before the grant", c.client, at(s.From), at(s.To)))
	}
	return told
}

// asker names the client whose request lost the key.
func (c *conflict) asker(reason string) string {
	for _, v := range c.losses {
		switch who := max(v.Client, v.Asked); {
		case v.Reason != reason || who == 0 || c.own(v):
		case reason == history.Expired && !v.Foreign():
		default:
			return fmt.Sprintf("client %d", who)
		}
	}
	return "somebody else"
}

// overran reports whether the holder counted on more validity than it was granted.
func (c *conflict) overran() bool { return c.behind > timeline.Noticeable && !c.endless }

// slow reports whether it did because its clock fell behind. A fault must explain that.
func (c *conflict) slow() bool {
	return c.overran() && len(c.faults.OnClock(nemesis.Machine{Client: c.client}, c.since, c.until)) > 0
}

// wrongClocks lists the clocks that were wrong, as far as faults explain it.
func (c *conflict) wrongClocks() (wrong []Event) {
	var ahead timeline.Nodes
	least := time.Duration(0)
	for _, v := range c.losses {
		if v.Short() && len(c.faults.OnClock(nemesis.Machine{Node: v.Node}, c.since, v.At)) > 0 {
			if ahead == 0 || v.Early < least {
				least = v.Early
			}
			ahead = ahead.With(v.Node)
		}
	}
	if ahead != 0 {
		e := Event{Role: RoleFault, Nodes: listNodes(ahead, nil)}
		wrong = append(wrong, e.say("%s of %v got ahead by %s or more", textfmt.Plural(ahead.Count(), "the clock"), ahead, textfmt.FourDigits(least)))
	}
	if c.slow() {
		wrong = append(wrong, c.slowHolder())
	}
	return wrong
}

func (c *conflict) slowHolder() Event {
	return Event{Role: RoleFault, Client: c.client}.say("the clock of client %d fell behind by %s or more", c.client, textfmt.FourDigits(c.behind))
}

// event describes the fault.
func faultEvent(v timeline.Fault) Event {
	e := Event{Role: RoleFault, From: v.From, Client: v.Wrong.Client, Nodes: oneNode(v.Wrong.Node)}
	text, back := fmt.Sprintf("%s at %s", v.Text, at(v.From)), ""
	if v.Left != "" {
		back = " and is back " + v.Left
	}
	if !v.Ended {
		return e.say("%s", text)
	}
	e.To = v.To
	switch {
	case v.To == v.From:
		return e.say("%s%s at once", text, back)
	case back != "":
		return e.say("%s%s at %s", text, back, at(v.To))
	}
	return e.say("%s, until %s", text, at(v.To))
}

// after returns the faults of an ordered list that begin after an instant.
func after(list []timeline.Fault, limit history.Time) []timeline.Fault {
	if i := slices.IndexFunc(list, func(v timeline.Fault) bool { return v.From > limit }); i >= 0 {
		return list[i:]
	}
	return nil
}

// eventsOf describes the faults of a list that begin up to a limit, or after it.
func eventsOf(list []timeline.Fault, limit history.Time, after bool) (told []Event) {
	for _, v := range list {
		if v.From > limit == after {
			told = append(told, faultEvent(v))
		}
	}
	return told
}

// tellFaults describes faults.
func tellFaults(list []timeline.Fault) (told []Event) {
	for _, v := range list {
		told = append(told, faultEvent(v))
	}
	return told
}

// of describes the pause of a client, if there was one.
func pauseOf(s timeline.Pause, client int) []Event {
	e := Event{Role: RoleFault, From: s.From, Client: client}
	switch {
	case !s.Ever:
		return nil
	case s.To == timeline.Forever:
		return []Event{e.say("client %d stood still from %s on", client, at(s.From))}
	}
	e.To = s.To
	return []Event{e.say("client %d stood still from %s to %s", client, at(s.From), at(s.To))}
}

// leads describes a node that came to lead a store.
func tellLeader(c timeline.Comeback) Event {
	e := Event{Role: RoleLoss, From: c.At, Nodes: oneNode(c.Node)}
	return e.say("node %d leads the store since %s %s", c.Node, at(c.At), c.How)
}

// event describes the change. The format takes the two clients, the token, the node and the instant.
func wrongKeyEvent(k *timeline.WrongKey, format string) Event {
	e := Event{Role: RoleLoss, From: k.At, Client: k.Client, Nodes: oneNode(k.Node), Token: k.Token}
	return e.say(format, k.Client, k.Owner, short(k.Token), k.Node, at(k.At))
}

// doubted says which events are missing.
func doubted(o *timeline.UnknownEnd, held *timeline.Hold, other int, now history.Time) Event {
	why, remedy := "without an until", "write until on the clock of t"
	if o.Foreign {
		why = "with an until that is not on the clock of t"
		remedy = `write a lapse event when the validity of a hold ends, with "until_clock":"client" in the header, or write until on the clock of t`
	}
	left := ""
	if o.Left > 0 {
		left = fmt.Sprintf(" with %s of validity left", textfmt.FourDigits(o.Left))
	}
	client, lock := held.Client.Number, lockOf(held.Resource.Name, held.Token)
	e := Event{Role: RoleUnseen, From: o.At, To: now, Client: client, Resource: held.Resource.Name, Token: held.Token}
	return e.say("client %d was granted %s at %s%s, %s; client %d was granted it at %s, and whether client %d still held it then is not known: %s",
		client, lock, at(o.At), left, why, other, at(now), client, remedy)
}

// share says how much of the electorate a set is, as in "3 of 5 nodes" or "3 of 7 nodes (5 of 9 votes)".
func votesOf(e timeline.Electorate, s timeline.Nodes) string {
	text := fmt.Sprintf("%d of %d nodes", (s & e.Nodes()).Count(), e.Nodes().Count())
	if e.Weights != nil {
		text += fmt.Sprintf(" (%d of %d votes)", e.Count(uint64(s)), e.All)
	}
	return text
}

// outlivedTry is a try that took longer than its TTL: the keys that it had set expired before
// it returned, so no lock could grant it any more.
type outlivedTry struct {
	client   int
	call, at history.Time // at is when it returned, or when it was still open
	open     bool
	took     time.Duration
	ttl      time.Duration
	nodes    timeline.Nodes // whose keys expired
}

// outlived returns the try as one that took longer than its TTL, or nil. Its keys must have
// expired on a quorum, each after its whole TTL.
func outlived(h *timeline.Hold, needed timeline.Electorate, now history.Time) *outlivedTry {
	took := h.Acquire.Took(h.Client, now)
	if h.Keys.Past == nil || h.TTL == 0 || took <= h.TTL {
		return nil
	}
	var gone timeline.Nodes
	for _, v := range h.Keys.Past.Lost {
		if v.Reason == history.Expired && !v.Foreign() && !v.Short() {
			gone = gone.With(v.Node)
		}
	}
	if !needed.Quorum(gone) {
		return nil
	}
	return &outlivedTry{client: h.Client.Number, call: h.Acquire.At, at: now, open: h.Acquire.Open, took: took, ttl: h.TTL, nodes: gone}
}

func (o *outlivedTry) event() Event {
	took, gone := "took", "expired before it returned"
	if o.open {
		took, gone = "has taken", "expired already"
	}
	e := Event{Role: RoleWait, From: o.call, To: o.at, Client: o.client, Nodes: listNodes(o.nodes, nil)}
	return e.say("client %d's try, called at %s, %s %s, longer than its TTL, %v: %s on %v %s",
		o.client, at(o.call), took, textfmt.FourDigits(o.took), o.ttl, textfmt.Plural(o.nodes.Count(), "its key"), o.nodes, gone)
}

// deadlineLate is the evidence if no fault explains the delay.
var deadlineLate = Event{Role: RoleAccess, Text: "the lock's own deadline is later than its TTL allows"}

// shared is what is found for one property and is the cause of what another finds.
type shared struct {
	overlaps timeline.PerResource[[]*conflict] // the first overlaps of leases: see [maxOverlaps]
}
