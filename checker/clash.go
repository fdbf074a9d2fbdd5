package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/words"
)

// clash is what the history tells of why one client was granted the lock while
// another had it.
type clash struct {
	notes  *notes
	quorum electorate // none: what the nodes did is not known, or the lock keeps nothing there
	stored bool       // the lock keeps nothing on nodes

	client  int // whose hold was there
	token   string
	other   int // who came
	theirs  string
	at      history.Time
	lapsed  bool // the validity was over
	lapse   history.Time
	stood   stillness // while it held
	delayed stillness // while it was about to be granted
	losses  []loss
	kept    nodes // that had the key of the hold which was there
	came    nodes // that had the other's
	vouched extension
	endless bool
	behind  time.Duration // by how much the holder counted on more validity than it was told of, at least
	since   history.Time  // when its try was called
	until   history.Time  // as far as it is known to have counted
	emptied comeback      // the last node that came back without its keys
	entry   entry         // of the hold that was there, in a store
	its     entry         // of the one that came
	early   time.Duration // by how much the store was early to end the first, at least
}

// rival is what there is to know of the hold that came while another was there.
type rival struct {
	client int
	token  string
	kept   nodes // that had its key
	fate   *fate // nil: nothing became of its keys, or its entry
}

func (h *hold) rival() rival {
	return rival{client: h.client.number, token: h.token, kept: h.keys.set, fate: h.keys.fate}
}

func (v *ended) rival() rival {
	return rival{client: v.grant.Client, token: v.grant.Token, kept: v.kept, fate: v.fate}
}

func (v rival) entry() (e entry) {
	if v.fate != nil {
		e = v.fate.entry
	}
	return e
}

// newClash tells of the hold that was there, and of the one that came, as of now.
func (x *exclusion) newClash(a *hold, b rival, now history.Time) *clash {
	l := x.ledger
	c := &clash{
		notes: x.notes, stored: l.header.Keepers < 0,
		client: a.client.number, token: a.token, other: b.client, theirs: b.token, at: now,
		since: a.acquire.at, until: now,
		kept: a.keys.set, came: b.kept,
		endless: a.endless(),
	}
	if l.header.Keys {
		c.quorum = electorateOf(l.header)
	}
	if s := a.client.still; s.ever && a.acquire.at <= s.from && s.to <= a.granted {
		c.delayed = s
	}
	if v := l.emptied; v.at > a.acquire.at && v.at <= now {
		c.emptied = v
	}
	c.vouched, _ = a.vouched()
	c.entry, c.its = a.fate().entry, b.entry()
	c.early = c.vouched.at.Add(c.vouched.left).Sub(c.entry.at)
	if w := &a.windows[leaseRule]; w.over && w.by == history.Lapse && w.end <= now {
		c.lapsed, c.lapse = true, w.end
	}
	for _, v := range a.fate().lost {
		if v.at <= now {
			c.losses = append(c.losses, v)
		}
	}
	if where := slices.DeleteFunc(slices.Clone(c.losses), func(v loss) bool { return !b.kept.has(v.node) }); len(where) > 0 {
		c.losses = where
	}
	c.counted(a, now)
	return c
}

// counted looks how far the holder's clock is behind at an instant at which its
// validity went on, or has just ended.
func (c *clash) counted(a *hold, now history.Time) {
	if a.client.still.from <= c.at {
		c.stood = a.client.still.since(max(a.acquire.at, a.granted))
	}
	if w := &a.windows[leaseRule]; w.over {
		now = min(now, w.end)
	}
	if v, ever := a.vouched(); ever && v.at <= now {
		c.behind = max(c.behind, now.Sub(v.at)-v.left)
		c.until = max(c.until, now)
	}
}

// clause ends the story with the assumption that was broken.
func (c *clash) clause() string {
	switch {
	case c.lapsed:
		return broken(stopsInTime, "client %d's was over at %s%s", c.client, at(c.lapse), c.stood.tell())
	case len(c.losses) > 0:
		return c.tellLosses()
	case !c.quorum.None():
		return c.tellVotes()
	case c.stored && (c.entry.gone || c.its.gone):
		return c.tellEntries()
	case c.slow():
		return broken(clocksAgree, "%s", c.slowHolder())
	case c.overran() && c.at > c.vouched.at.Add(c.vouched.left):
		return unbroken(c.notes, "%s", laterThanTTL)
	case c.stored:
		return unbroken(c.notes, "the lock itself granted it to both")
	case c.emptied.node != 0:
		return broken(keepsOrStaysAway, "node %d came back %s at %s; the history does not record keys", c.emptied.node, c.emptied.how, at(c.emptied.at))
	}
	return unbroken(c.notes, "the lock itself granted it to both, as far as can be told from a history that does not record the nodes' keys")
}

// tellEntries tells of a lock that keeps an entry of each hold in a store.
func (c *clash) tellEntries() string {
	e := c.entry
	if !e.gone {
		return unbroken(c.notes, "client %d's entry was %s; the lock granted it to client %d all the same", c.other, c.its.tell(), c.other)
	}
	var clocks []string
	if c.early > noticeable && c.notes.onClock(nodeOrClient{node: e.leader}, c.since, e.at) != "" {
		clocks = append(clocks, fmt.Sprintf("the clock of node %d, which led, got ahead by %s or more", e.leader, span4(c.early)))
	}
	if c.slow() {
		clocks = append(clocks, c.slowHolder())
	}
	switch {
	case e.reason == history.Forgotten:
		return broken(storeKeeps, "node %d leads it since %s without client %d's entry", e.leader, at(e.at), c.client)
	case len(clocks) == 0:
		return unbroken(c.notes, "client %d's entry was %s, and it went on holding the lock", c.client, e.tell())
	}
	return broken(storeAgrees, "client %d's entry was %s, and it went on holding the lock: %s", c.client, e.tell(), strings.Join(clocks, ", and "))
}

// tell tells how an entry went away.
func (e entry) tell() string {
	switch e.reason {
	case history.SessionOver:
		return fmt.Sprintf("gone since %s, its session being over", at(e.at))
	case history.Forgotten:
		return fmt.Sprintf("forgotten by the store at %s", at(e.at))
	}
	return fmt.Sprintf("%s at %s", e.reason, at(e.at))
}

// tellVotes is for a hold whose keys were all there.
func (c *clash) tellVotes() string {
	for _, v := range []struct {
		client int
		keys   nodes
	}{{c.other, c.came}, {c.client, c.kept}} {
		if !c.quorum.has(v.keys) {
			return unbroken(c.notes, "no node had lost client %d's key, and client %d was granted the lock with its own on %s", c.client, v.client, c.quorum.share(v.keys))
		}
	}
	if both := c.kept & c.came; both != 0 {
		return broken(oneMaster, "%v kept client %d's key and client %d's at a time", both, c.client, c.other)
	}
	return unbroken(c.notes, "no node had lost client %d's key, and the lock granted it to both", c.client)
}

// tellLosses tells of the keys of the hold that were gone, a kind of loss after
// the other.
func (c *clash) tellLosses() string {
	var told []string
	add := func(assumption, how string, which func(loss) bool) {
		lost, when := nodes(0), map[int]history.Time{}
		for _, v := range c.losses {
			if which(v) {
				lost, when[v.node] = lost.with(v.node), v.at
			}
		}
		if lost != 0 {
			told = append(told, fmt.Sprintf("%s (%s)", assumption, fmt.Sprintf(how, lost, c.client, times(when))))
		}
	}
	because := func(reason string) func(loss) bool {
		return func(v loss) bool { return v.reason == reason && !v.restored() && !v.foreign() }
	}
	add(keepsOrStaysAway, "%v forgot client %d's key %s", because(history.Forgotten))
	add(keepsUntilExpiry, "%v evicted client %d's key %s", because(history.Evicted))
	add(keepsWhatItSaid, "%v went back to a state without client %d's key %s", because(history.RolledBack))
	add(keepsWhatItSaid, "%v came back with an earlier expiry of client %d's key, which was over %s", loss.restored)
	add(onlyHolder, "%v deleted client %d's key %s for "+c.whom(history.Deleted), because(history.Deleted))
	add(lookAndSet, "%v overwrote client %d's key %s for "+c.whom(history.Overwritten), because(history.Overwritten))
	add(onlyHolder, "on %v client %d's key had expired %s, as "+c.whom(history.Expired)+" had asked", loss.foreign)
	if clocks := c.tellClocks(); clocks != "" {
		add(clocksAgree, "on %v client %d's key had expired %s, and it went on holding the lock: "+strings.ReplaceAll(clocks, "%", "%%"), because(history.Expired))
	}
	if len(told) == 0 {
		return unbroken(c.notes, "%s", c.tellExpired())
	}
	return ". Broken assumption: " + strings.Join(told, "; and ")
}

// tellExpired is for keys that have expired while no fault made a clock wrong.
func (c *clash) tellExpired() string {
	var early time.Duration
	for _, v := range c.losses {
		early = max(early, v.early)
	}
	switch {
	case early > noticeable:
		return fmt.Sprintf("client %d's key was gone %s before its TTL was over, and no fault made a clock wrong", c.client, span4(early))
	case c.overran():
		return fmt.Sprintf("client %d's key lived for its whole TTL, and %s%s", c.client, laterThanTTL, c.tellDelay())
	}
	return fmt.Sprintf("client %d's key lived for its whole TTL, and the lock counted on it for longer%s", c.client, c.tellDelay())
}

// tellDelay tells of a holder who stood still before the grant. Whether its clock did not
// count that time, or the lock, no history tells: the lock reads the clock at moments that
// only it knows.
func (c *clash) tellDelay() string {
	if s := c.delayed; s.ever {
		return fmt.Sprintf("; client %d had stood still from %s to %s, before the grant", c.client, at(s.from), at(s.to))
	}
	return ""
}

// times tells when nodes lost a key: of two nodes the time of each, in the order in which
// they are named, of more the first and the last. Times that are hardly apart are one.
func times(when map[int]history.Time) string {
	byNode := make([]history.Time, 0, len(when))
	for _, node := range slices.Sorted(maps.Keys(when)) {
		byNode = append(byNode, when[node])
	}
	first, last := slices.Min(byNode), slices.Max(byNode)
	switch {
	case last.Sub(first) <= noticeable:
		return "at " + at(last)
	case len(byNode) == 2:
		return fmt.Sprintf("at %s and %s", at(byNode[0]), at(byNode[1]))
	}
	return fmt.Sprintf("between %s and %s", at(first), at(last))
}

// whom names the client that asked for a loss.
func (c *clash) whom(reason string) string {
	for _, v := range c.losses {
		if v.reason == reason && v.client != 0 {
			return fmt.Sprintf("client %d", v.client)
		}
	}
	return "somebody else"
}

// noticeable is by how much clocks have to be apart for a story: on real machines
// every instant is a little late.
const noticeable = time.Millisecond

// overran reports whether the holder counted on more validity than it was told of.
func (c *clash) overran() bool { return c.behind > noticeable && !c.endless }

// slow reports whether it did because its clock fell behind: that a fault has to explain.
func (c *clash) slow() bool {
	return c.overran() && c.notes.onClock(nodeOrClient{client: c.client}, c.since, c.until) != ""
}

// tellClocks says whose clocks were wrong, if any are seen to be.
func (c *clash) tellClocks() string {
	var wrong []string
	var ahead nodes
	least := time.Duration(0)
	for _, v := range c.losses {
		if v.short() && c.notes.onClock(nodeOrClient{node: v.node}, c.since, v.at) != "" {
			if ahead == 0 || v.early < least {
				least = v.early
			}
			ahead = ahead.with(v.node)
		}
	}
	if ahead != 0 {
		wrong = append(wrong, fmt.Sprintf("%s of %v got ahead by %s or more", words.Plural(ahead.count(), "the clock"), ahead, span4(least)))
	}
	if c.slow() {
		wrong = append(wrong, c.slowHolder())
	}
	return strings.Join(wrong, ", and ")
}

func (c *clash) slowHolder() string {
	return fmt.Sprintf("the clock of client %d fell behind by %s or more", c.client, span4(c.behind))
}

// extension is how much validity was left when an extension returned, or the grant.
type extension struct {
	at   history.Time
	left time.Duration
}

// vouched returns the last of them, if any has returned.
func (h *hold) vouched() (last extension, ever bool) {
	if h.renewed.at != 0 {
		return h.renewed, true
	}
	return extension{at: h.granted, left: h.validity}, h.returned
}
