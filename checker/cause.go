package checker

import (
	"cmp"
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

// unbroken returns the cause if the history shows no broken assumption, with what is seen instead.
func unbroken(evidence ...Event) []Cause { return []Cause{{Evidence: evidence}} }

// reliance is for how long a holder counts on its hold, and what can make its clock wrong.
type reliance struct {
	faults  *timeline.Faults
	client  int
	since   history.Time     // when it called acquire
	granted timeline.Promise // by the last extension, or the grant
	endless bool             // nothing but a release ends the hold
	until   history.Time     // until when it is known to have counted on it
	behind  time.Duration    // by how much it counted on more validity than it was granted, at least
	delayed timeline.Pause   // before its grant
}

func relianceOf(line *timeline.Timeline, h *timeline.Hold) reliance {
	r := reliance{faults: &line.Faults, client: h.Client.Number, since: h.Acquire.At, endless: h.Endless()}
	r.granted, _ = h.Promised()
	if s := h.Client.LastPause; s.Ever && h.Acquire.At <= s.From && s.To <= h.GrantedAt {
		r.delayed = s
	}
	return r
}

// follow measures how far the holder's clock is behind, at an instant at which its validity goes on or has
// just ended.
func (r *reliance) follow(h *timeline.Hold, now history.Time) {
	if w := &h.Windows[timeline.LeaseWindow]; w.Over {
		now = min(now, w.End)
	}
	if v, ever := h.Promised(); ever && v.At <= now {
		r.behind = max(r.behind, now.Sub(v.At)-v.Left)
		r.until = max(r.until, now)
	}
}

// overran reports whether the holder counted on more validity than it was granted.
func (r *reliance) overran() bool { return r.behind > timeline.Noticeable && !r.endless }

// slow reports whether it did because its clock fell behind. A fault must explain that.
func (r *reliance) slow() bool {
	return r.overran() && len(r.faults.OnClock(nemesis.Machine{Client: r.client}, r.since, r.until)) > 0
}

func (r *reliance) slowHolder() Event {
	return Event{Role: RoleFault, Client: r.client}.say("the clock of client %d fell behind by %s or more", r.client, textfmt.FourDigits(r.behind))
}

// conflict is what is known about why a client was granted the lock while another held it. The first client is the
// holder, the second the contender.
type conflict struct {
	reliance               // of the holder
	lost      *backingLoss // how the holder's hold lost its backing
	contender contender
	seen      bool   // the history records keys, or entries, when they change
	stored    bool   // the lock keeps nothing on nodes
	entries   bool   // the history records the entries of the store
	granting  string // what the lock did wrong, if it did
	late      bool   // the history records keys, but late
	token     string // of the holder
	at        history.Time
	lapsed    bool // the holder's validity had ended
	lapse     history.Time
	paused    timeline.Pause     // of the holder, during its hold
	emptied   timeline.Comeback  // the last node that came back without keys
	entry     timeline.EntryLoss // the holder's, in a store
}

// contender is what is known about the second client of a conflict.
type contender struct {
	client int
	token  string
	lost   *backingLoss // nil: it has not lost its backing
	entry  timeline.EntryLoss
}

func contenderOf(h *timeline.Hold, lost *backingLoss) contender {
	c := contender{client: h.Client.Number, token: h.Token, lost: lost}
	if h.Keys.Past != nil {
		c.entry = h.Keys.Past.Entry
	}
	return c
}

// newConflict returns the conflict between a holder and a contender, as known now.
func newConflict(line *timeline.Timeline, b *backing, a *timeline.Hold, other contender, now history.Time) *conflict {
	c := &conflict{
		reliance: relianceOf(line, a), lost: b.lossOf(a), contender: other, seen: b.seen(),
		stored: line.Header.Keepers < 0, entries: line.Header.Entries, late: line.Header.Keys && line.Header.Watched,
		token: a.Token, at: now, entry: a.KeyHistory().Entry, granting: "granted it to both",
	}
	if line.Header.Permits() > 1 {
		c.granting = "granted permits that it did not have"
	}
	c.until = now
	c.emptied = emptiedUnder(line, a, c.granted, now)
	if w := &a.Windows[timeline.LeaseWindow]; w.Over && w.By == history.Lapse && w.End <= now {
		c.lapsed, c.lapse = true, w.End
	}
	if open := a.UnknownEnd; !c.lapsed && open != nil && open.Left > 0 && now > open.At.Add(open.Left) {
		c.lapsed, c.lapse = true, open.At.Add(open.Left)
	}
	c.follow(a, now)
	return c
}

// follow notes the pauses of the holder and for how long it counts on the hold.
func (c *conflict) follow(a *timeline.Hold, now history.Time) {
	if a.Client.LastPause.From <= c.at {
		c.paused = a.Client.LastPause.Since(max(a.Acquire.At, a.GrantedAt))
	}
	c.reliance.follow(a, now)
}

// emptiedUnder returns the last node that came back without keys and may have had the key of a hold, as
// far as is known without keys. It went down after the hold called acquire, came back before the TTL of
// that key was over, and so did the other client get its vote.
func emptiedUnder(line *timeline.Timeline, a *timeline.Hold, granted timeline.Promise, now history.Time) (last timeline.Comeback) {
	if line.Header.Keepers < 0 {
		if v := line.LastEmptied; v.At > a.Acquire.At && v.At <= now {
			last = v
		}
		return last
	}
	for _, v := range line.Comebacks {
		soon := a.TTL == 0 || v.At.Sub(v.Down) < a.TTL && now < granted.At.Add(max(a.TTL, a.ExtendTTL))
		if v.Down > a.Acquire.At && v.At <= now && soon {
			last = v
		}
	}
	return last
}

// causes says which assumptions were broken. Where keys are seen that is the event that took the backing away, of the
// holder or, if it was backed, of the contender. Otherwise the faults are the evidence.
func (c *conflict) causes() []Cause {
	known := ", as far as can be told from a history that does not record the nodes' keys"
	switch {
	case c.lapsed:
		over := Event{Role: RoleAccess, From: c.lapse, Client: c.client}.say("client %d's validity was over at %s", c.client, at(c.lapse))
		return broken(StopsInTime, append([]Event{over}, pauseOf(c.paused, c.client)...)...)
	case c.lost.seen() && (c.lost.at <= c.at || !c.late && !c.contender.lost.seen()):
		return c.lost.causes()
	case c.contender.lost.seen() && !c.late: // it may have lost it after that
		return c.contender.lost.causes()
	case c.seen && !c.lost.is() && !c.contender.lost.is():
		both := Event{Role: RoleAccess, Client: c.contender.client}
		return unbroken(both.say("both holds were backed, and the lock %s", c.granting))
	case c.stored && c.entry.Gone:
		return storing(&c.reliance, c.entry)
	case c.stored && c.contender.entry.Gone:
		return unbroken(entryLost(c.contender.entry, c.contender.client, fmt.Sprintf("; the lock granted it to client %d all the same", c.contender.client)))
	case c.slow():
		return broken(ClocksAgree, c.slowHolder())
	case c.overran() && !c.granted.Agrees && c.at > c.granted.At.Add(c.granted.Left):
		return unbroken(deadlineLate)
	case c.stored && c.emptied.How == history.WithWhatItSynced: // nothing has watched the store's entries
		return broken(StoreKeeps, cameBack(c.emptied, "the history does not record keys"))
	case c.stored && c.entries:
		known = ""
	case c.stored:
		known = ", as far as can be told from a history that does not record the store's entries"
	case c.emptied.Node != 0 && len(c.faults.OnClock(nemesis.Machine{Node: c.emptied.Node}, 0, c.at)) > 0:
		// Either can have taken the key away.
		known = ", as far as can be told from a history that does not record when the nodes' keys went"
	case c.emptied.Node != 0 && c.late:
		return broken(KeepsOrStaysAway, cameBack(c.emptied, "the history records keys too late to tell more"))
	case c.emptied.Node != 0:
		return broken(KeepsOrStaysAway, cameBack(c.emptied, "the history does not record keys"))
	case c.late:
		known = ", as far as can be told from a history that records the nodes' keys late"
	}
	return unbroken(Event{Role: RoleAccess, Client: c.contender.client}.say("the lock itself %s%s", c.granting, known))
}

// cameBack describes a node that came back without keys.
func cameBack(c timeline.Comeback, known string) Event {
	return Event{Role: RoleLoss, From: c.At, Nodes: oneNode(c.Node)}.say("node %d came back %s at %s; %s", c.Node, c.How, at(c.At), known)
}

// storing returns the causes if a store lost the entry of a holder.
func storing(r *reliance, e timeline.EntryLoss) []Cause {
	switch {
	case e.Reason == history.Forgotten:
		without := Event{Role: RoleLoss, From: e.At, Client: r.client, Nodes: oneNode(e.Leader)}
		return broken(StoreKeeps, without.say("node %d leads the store since %s without client %d's entry", e.Leader, at(e.At), r.client))
	case e.Reason == history.Deleted && e.Client != r.client:
		return broken(OnlyHolder, entryLost(e, r.client, fmt.Sprintf(" for %s, and it went on holding the lock", clientOrSome(e.Client))))
	}
	evidence := []Event{entryLost(e, r.client, ", and it went on holding the lock")}
	early := r.granted.At.Add(r.granted.Left).Sub(e.At)
	if early > timeline.Noticeable && len(r.faults.OnClock(nemesis.Machine{Node: e.Leader}, r.since, e.At)) > 0 {
		ahead := Event{Role: RoleFault, Nodes: oneNode(e.Leader)}
		evidence = append(evidence, ahead.say("the clock of node %d, which led, got ahead by %s or more", e.Leader, textfmt.FourDigits(early)))
	}
	if r.slow() {
		evidence = append(evidence, r.slowHolder())
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

// backingLoss is how a hold lost its backing, or that it was never backed.
type backingLoss struct {
	reliance
	quorum   timeline.Electorate
	resource string
	token    string
	ttl      time.Duration
	at       history.Time // from when on
	never    bool         // as it was granted
	keyless  bool         // no node was ever seen to have its key
	shares   bool         // holds can be shared, so that a lock may keep keys of some where nobody sees them
	late     bool         // a watch has reported it: what happened took place before
	relied   history.Time // the keys end at this instant, before the end that the holder counts on; 0: they are lost
	from     history.Time // when the hold was granted
	sent     history.Time // when its client had first sent its key, if relied is by its grant; 0: not known
	end      ending       // of the hold

	kept    timeline.Nodes     // nodes that back it still, or as long as it relies on them
	ignored timeline.Nodes     // nodes that set its key in their quarantine
	losses  []timeline.KeyLoss // of the others
	misled  *timeline.WrongKey
	divided timeline.Nodes // nodes that gave their vote to another hold, too
	other   contender      // that hold
	stored  bool
	entry   timeline.EntryLoss
	done    []timeline.Fault // what was done to the world meanwhile
}

// is reports whether the hold lost its backing.
func (u *backingLoss) is() bool { return u != nil && u.client != 0 }

// seen reports whether it did, and the key is not one that nobody sees.
func (u *backingLoss) seen() bool { return u.is() && !(u.keyless && u.shares) }

func newBackingLoss(line *timeline.Timeline, h *timeline.Hold, quorum timeline.Electorate, from history.Time, kept timeline.Nodes) *backingLoss {
	u := &backingLoss{
		reliance: relianceOf(line, h), quorum: quorum, resource: h.Resource.Name, token: h.Token, ttl: h.TTL,
		at: from, from: h.GrantedAt, stored: line.Header.Entries, kept: kept, ignored: h.Keys.Ignored,
		divided: h.Keys.Divided(), shares: line.Header.Permits() > 1, late: line.Header.Watched,
	}
	for _, held := range h.Resource.Holds {
		if held != h && held.Leased() && u.divided&held.Backers(line.Now+1) != 0 {
			u.other = contenderOf(held, nil)
		}
	}
	u.done = line.Faults.Between(h.Acquire.At, line.Now)
	past := h.Keys.Past
	if past == nil {
		return u
	}
	u.entry = past.Entry
	for _, v := range past.Lost {
		if !u.kept.Has(v.Node) && !h.Keys.Set.Has(v.Node) && quorum.Nodes().Has(v.Node) {
			u.losses = append(u.losses, v)
		}
	}
	return u
}

// follow notes until when the holder counts on the hold.
func (u *backingLoss) follow(h *timeline.Hold, now history.Time) {
	u.reliance.follow(h, now)
	if h.Keys.Past != nil {
		u.misled = h.Keys.Past.Misled
	}
	if w := &h.Windows[timeline.LeaseWindow]; w.Over {
		u.end = ending{w.By, u.client, w.End}
	}
}

// causes says which assumptions were broken: a cause for each kind of loss. Each loss counts, because with one less
// the hold would be backed.
func (u *backingLoss) causes() (causes []Cause) {
	switch {
	case u.stored && u.entry.Gone && !u.never:
		return storing(&u.reliance, u.entry)
	case u.stored && u.entry.Gone:
		return unbroken(entryLost(u.entry, u.client, fmt.Sprintf("; the lock granted it to client %d all the same", u.client)))
	case u.stored:
		return unbroken(Event{Role: RoleLoss, From: u.at, Client: u.client}.say("client %d was granted the lock without an entry in the store", u.client))
	case u.relied != 0:
		return u.counting()
	case u.divided != 0:
		return u.sharing()
	case !u.quorum.Quorum(u.kept | u.lostOn()):
		few := Event{Role: RoleLoss, From: u.from, Client: u.client, Nodes: listNodes(u.kept, nil)}
		few = few.say("client %d was granted the lock with its key on %s", u.client, votesOf(u.quorum, u.kept))
		if u.ignored != 0 {
			few.Text += fmt.Sprintf(" and on %v in quarantine", u.ignored)
			if len(u.faults.OnClock(nemesis.Machine{Client: u.client}, 0, u.at)) > 0 {
				return broken(ClocksAgree, few)
			}
		}
		return unbroken(few)
	}
	add := func(a Assumption, which func(timeline.KeyLoss) bool, format string, more ...Event) {
		if e, some := u.lost(which, format); some {
			causes = append(causes, Cause{Assumption: a, Evidence: append([]Event{e}, more...)})
		}
	}
	because := func(reason string) func(timeline.KeyLoss) bool {
		return func(v timeline.KeyLoss) bool {
			return v.Reason == reason && !v.Restored() && !v.Foreign() && !u.own(v) && !u.over(v) && !u.unasked(v)
		}
	}
	add(KeepsOrStaysAway, because(history.Forgotten), "%v forgot client %d's key %s")
	add(KeepsUntilExpiry, because(history.Evicted), "%v evicted client %d's key %s")
	add(KeepsAcknowledged, because(history.RolledBack), "%v went back to a state without client %d's key %s")
	add(KeepsAcknowledged, timeline.KeyLoss.Restored, "%v came back with an earlier expiry of client %d's key, which was over %s")
	add(OnlyHolder, because(history.Deleted), "%v deleted client %d's key %s for "+u.asker(history.Deleted))
	add(LookAndSet, because(history.Overwritten), "%v overwrote client %d's key %s for "+u.asker(history.Overwritten))
	add(OnlyHolder, timeline.KeyLoss.Foreign, "on %v client %d's key had expired %s, as "+u.asker(history.Expired)+" had asked")
	if clocks := u.wrongClocks(); len(clocks) > 0 {
		add(ClocksAgree, because(history.Expired), "on %v client %d's key had expired %s, and it went on holding the lock", clocks...)
	}
	if len(causes) > 0 {
		return causes
	}
	told := u.unexplained()
	if u.misled != nil { // the holder was told that its key was extended
		e := wrongKeyEvent(u.misled, "a request of client %d extended client %d's key (token %s) on node %d at %s")
		if u.early() <= timeline.Noticeable {
			return broken(OnlyHolder, append([]Event{e}, told...)...)
		}
		told = append(told, e)
	}
	return unbroken(told...)
}

// lostOn returns the nodes of the losses.
func (u *backingLoss) lostOn() (s timeline.Nodes) {
	for _, v := range u.losses {
		s = s.With(v.Node)
	}
	return s
}

// own reports whether the holder's own client did it.
func (u *backingLoss) own(v timeline.KeyLoss) bool {
	return v.Client == u.client && (v.Reason == history.Deleted || v.Reason == history.Overwritten)
}

// unasked reports whether a watch has reported that some client took the key away, and does not know which.
func (u *backingLoss) unasked(v timeline.KeyLoss) bool {
	return u.late && v.Client == 0 && (v.Reason == history.Deleted || v.Reason == history.Overwritten)
}

// over reports whether the key's TTL would have been over anyway when the hold lost its backing.
func (u *backingLoss) over(v timeline.KeyLoss) bool {
	return v.Reason != history.Expired && v.Due <= u.at
}

// lost describes the losses of a kind. The format takes the nodes, the holder and when they lost its key.
func (u *backingLoss) lost(which func(timeline.KeyLoss) bool, format string) (e Event, some bool) {
	lost, when := timeline.Nodes(0), map[int]history.Time{}
	for _, v := range u.losses {
		if which(v) {
			lost, when[v.Node] = lost.With(v.Node), v.At
		}
	}
	if lost == 0 {
		return e, false
	}
	e = Event{Role: RoleLoss, Client: u.client, Token: u.token, Nodes: listNodes(lost, func(n int) history.Time { return when[n] })}
	return e.say(format, lost, u.client, u.times(e.Nodes)), true
}

// times prints when nodes lost a key, as [times] does. A watch reports only by when.
func (u *backingLoss) times(list []NodeTime) string {
	if !u.late {
		return times(list)
	}
	return "by " + at(slices.MaxFunc(list, func(a, b NodeTime) int { return cmp.Compare(a.At, b.At) }).At)
}

// sharing returns the causes if nodes gave their votes to two holds.
func (u *backingLoss) sharing() []Cause {
	two := Event{Role: RoleLoss, From: u.at, Client: u.client, Nodes: listNodes(u.divided, nil)}
	if u.other.token == u.token {
		return broken(OnlyHolder, two.say("client %d and client %d have the same token, %s", u.client, u.other.client, short(u.token)))
	}
	return broken(OneMaster, two.say("%v kept client %d's key and client %d's at a time", u.divided, u.client, u.other.client))
}

// counting returns the causes if the holder counts on its keys for longer than they are to live. A holder that counts
// the TTL from an instant within its call does so whatever the clock: a step would show in the end that it counts on.
func (u *backingLoss) counting() []Cause {
	from := u.relied.Add(-u.ttl)
	withinCall := u.ttl > 0 && u.since <= from && from <= u.granted.At
	wrong := u.faults.OnClock(nemesis.Machine{Client: u.client}, u.since, u.granted.At)
	for _, n := range u.quorum.Nodes().List() {
		if len(wrong) == 0 && !u.kept.Has(n) {
			wrong = u.faults.OnClock(nemesis.Machine{Node: n}, u.since, u.granted.At)
		}
	}
	if withinCall {
		wrong = slices.DeleteFunc(wrong, func(v timeline.Fault) bool { return v.Kind.Does(nemesis.StepsClock) })
	}
	if len(wrong) > 0 {
		return broken(ClocksAgree, tellFaults(wrong)...)
	}
	e := Event{Role: RoleLoss, Client: u.client, Token: u.token, Nodes: listNodes(u.kept, nil)}
	if u.sent > 0 && from > u.sent && u.at >= u.sent.Add(u.ttl) {
		return unbroken(e.say("the lock itself counts its validity from %s after its client had sent its key, and so for %s longer than a quorum keeps it", textfmt.FourDigits(from.Sub(u.sent)), textfmt.FourDigits(u.relied.Sub(u.at))))
	}
	return unbroken(e.say("the lock itself counts on its keys for longer than it has asked the nodes to keep them"))
}

// unexplained returns the evidence if no fault explains that the keys were lost: the holder's client
// deleted them, or they were over, because the lock did not renew them.
func (u *backingLoss) unexplained() (told []Event) {
	if e, some := u.lost(u.own, "client %[2]d's own request took its key away on %[1]v %[3]s, and it went on holding the lock"); some {
		told = append(told, e)
	}
	if e, some := u.lost(u.over, "the TTL of client %[2]d's key, which %[1]v lost %[3]s, was over, and nobody renewed it"); some {
		told = append(told, e)
	}
	for _, taken := range [][2]string{{history.Deleted, "deleted it"}, {history.Overwritten, "put another value in its place"}} {
		which := func(v timeline.KeyLoss) bool { return v.Reason == taken[0] && u.unasked(v) }
		if e, some := u.lost(which, "%v no longer had client %d's key %s: a request "+taken[1]+", and the history does not tell whose"); some {
			told = append(told, e)
		}
	}
	if len(told) == 0 {
		told = u.expired()
	}
	return told
}

// expired returns the evidence if keys expired and no fault made a clock wrong.
//
// If the holder was paused before the grant, either its clock or the lock may have skipped
// that time. The history cannot tell which, because it does not say when the lock reads its
// clock.
func (u *backingLoss) expired() []Event {
	early, planned := u.early(), true
	for _, v := range u.losses {
		planned = planned && v.Kept != timeline.Forever && v.Kept.Sub(v.At) <= timeline.Noticeable
	}
	e := Event{Role: RoleLoss, Client: u.client, Token: u.token}
	switch {
	case early > timeline.Noticeable && planned:
		return []Event{e.say("the lock itself had asked for less: client %d's key was gone %s before its TTL of %v was over, as its node had been asked to", u.client, textfmt.FourDigits(early), u.ttl)}
	case early > timeline.Noticeable:
		return []Event{e.say("client %d's key was gone %s before its TTL was over, and no fault made a clock wrong", u.client, textfmt.FourDigits(early))}
	case u.late:
		e, _ = u.lost(func(timeline.KeyLoss) bool { return true }, "on %v client %d's key had expired %s, and it went on holding the lock")
		return []Event{e}
	}
	counted := "the lock counted on it for longer"
	if u.overran() && !u.granted.Agrees {
		counted = deadlineLate.Text
	}
	told := []Event{e.say("client %d's key lived for its whole TTL, and %s", u.client, counted)}
	if s := u.delayed; s.Ever {
		stood := Event{Role: RoleFault, From: s.From, To: s.To, Client: u.client}
		told = append(told, stood.say("client %d had stood still from %s to %s, before the grant", u.client, at(s.From), at(s.To)))
	}
	return told
}

// early returns how long before its TTL was over a key was gone.
func (u *backingLoss) early() (most time.Duration) {
	for _, v := range u.losses {
		most = max(most, v.Early)
	}
	return most
}

// asker names the client whose request lost the key.
func (u *backingLoss) asker(reason string) string {
	for _, v := range u.losses {
		switch who := max(v.Client, v.Asked); {
		case v.Reason != reason || who == 0 || u.own(v):
		case reason == history.Expired && !v.Foreign():
		default:
			return fmt.Sprintf("client %d", who)
		}
	}
	return "somebody else"
}

// wrongClocks lists the clocks that were wrong, as far as faults explain it.
func (u *backingLoss) wrongClocks() (wrong []Event) {
	var ahead timeline.Nodes
	least := time.Duration(0)
	for _, v := range u.losses {
		if v.Short() && len(u.faults.OnClock(nemesis.Machine{Node: v.Node}, u.since, v.At)) > 0 {
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
	if u.slow() {
		wrong = append(wrong, u.slowHolder())
	}
	return wrong
}

// finding describes the violation of the hold: the faults, the grant, and from when on it is not backed.
func (u *backingLoss) finding(end history.Time) Finding {
	held := Event{Role: RoleAccess, From: u.from, Client: u.client, Resource: u.resource, Token: u.token}
	bare := Event{Role: RoleLoss, From: u.at, Client: u.client, Resource: u.resource, Token: u.token}
	where := &Place{Resource: u.resource, From: u.at, To: u.at}
	held = held.say("client %d was granted %s at %s", u.client, lockOf(u.resource, u.token), at(u.from))
	relied := "still relied on it as the history ended"
	told := func(bare Event) []Event {
		events := append(eventsOf(u.done, u.from, false), held)
		return append(append(events, eventsOf(u.done, u.from, true)...), bare)
	}
	switch {
	case u.relied != 0:
		bare.From, bare.To = u.granted.At, u.relied
		where.From, where.To = bare.From, bare.To
		bare = bare.say("client %d counted on it until %s, %s longer than a quorum keeps its key: only %s keep it until then", u.client, at(u.relied), textfmt.FourDigits(u.relied.Sub(u.at)), votesOf(u.quorum, u.kept))
		return Finding{Verdict: Violated, Events: told(bare), Causes: u.causes(), Where: where}
	case u.end.by != 0:
		relied = fmt.Sprintf("relied on it %v", u.end)
		where.To = max(u.at, u.end.at)
	default:
		where.To = max(u.at, end)
	}
	switch {
	case u.stored:
		bare = bare.say("from %s on the store had no entry of client %d, which %s", at(u.at), u.client, relied)
	case u.late:
		bare = bare.say("from %s on no more than %s backed it, and client %d %s", at(u.at), votesOf(u.quorum, u.kept), u.client, relied)
	default:
		bare = bare.say("from %s on only %s backed it, and client %d %s", at(u.at), votesOf(u.quorum, u.kept), u.client, relied)
	}
	return Finding{Verdict: Violated, Events: told(bare), Causes: u.causes(), Where: where}
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

// doubted says which events are missing to know what is asked.
func doubted(o *timeline.UnknownEnd, g *Grant, now history.Time, asked string) Event {
	why, remedy := "without an until", "write until on the clock of t"
	if o.Foreign {
		why = "with an until that is not on the clock of t"
		remedy = `write a lapse event when the validity of a hold ends, with "until_clock":"client" in the header, or write until on the clock of t`
	}
	left := ""
	if o.Left > 0 {
		left = fmt.Sprintf(" with %s of validity left", textfmt.FourDigits(o.Left))
	}
	e := Event{Role: RoleUnseen, From: o.At, To: now, Client: g.Client, Resource: g.Resource, Token: g.Token}
	return e.say("client %d was granted %s at %s%s, %s; %s is not known: %s", g.Client, lockOf(g.Resource, g.Token), at(o.At), left, why, asked, remedy)
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

// shared is what is found for one property and is the cause of what another finds, and what several read.
type shared struct {
	overlaps timeline.PerResource[[]*conflict] // the first overlaps of leases: see [maxOverlaps]
	backing  *backing
	lease    *exclusion

	vacancies *vacancies // nil: nobody reads them
}
