package checker

import "slices"

// Assumption is something a lock relies on. When a property is violated, the checker finds the
// broken assumption in the history: from the keys that nodes lost, if they are recorded, and
// otherwise from the faults.
type Assumption string

// broken returns a broken assumption with its evidence.
func broken(a Assumption, evidence ...Event) []Cause {
	return []Cause{{Assumption: a, Evidence: evidence}}
}

// unbroken returns the cause if no assumption is seen to be broken, with what is seen instead.
func unbroken(evidence ...Event) []Cause { return []Cause{{Evidence: evidence}} }

// The assumptions.
const (
	KeepsOrStaysAway  Assumption = "keeps-or-stays-away"
	KeepsUntilExpiry  Assumption = "keeps-until-expiry"
	KeepsAcknowledged Assumption = "keeps-acknowledged"
	ClockCounts       Assumption = "clock-counts"
	OneMaster         Assumption = "one-master"
	ClocksAgree       Assumption = "clocks-agree"
	ArrivesOnce       Assumption = "arrives-once"
	OnlyHolder        Assumption = "only-holder"
	LookAndSet        Assumption = "look-and-set"
	StopsInTime       Assumption = "stops-in-time"
	RefusesLate       Assumption = "refuses-late"
	WritesArrive      Assumption = "writes-arrive"
	Releases          Assumption = "releases"
	KeysExpire        Assumption = "keys-expire"
	DelaysDiffer      Assumption = "delays-differ"
	KeepersReached    Assumption = "keepers-reached"
	StoreAgrees       Assumption = "store-agrees"
	StoreKeeps        Assumption = "store-keeps"
)

// assumptions explains each: what it says, what breaks it, and what helps.
var assumptions = []struct {
	assumption             Assumption
	text, brokenBy, remedy string
}{
	{KeepsOrStaysAway, "a node that comes back keeps its keys, or stays away for the longest TTL",
		"a crash without persistence, or a node that is replaced by an empty one",
		"Keep every write on disk (appendonly with fsync always), delay each restart by the longest TTL, or let the lock ignore nodes that have just restarted (a quarantine)."},
	{KeepsUntilExpiry, "a node keeps a key until it expires",
		"eviction of keys when memory is short",
		"Set maxmemory-policy noeviction on nodes that keep locks."},
	{KeepsAcknowledged, "a node keeps what it has acknowledged",
		"power loss with fsync everysec, an old snapshot, a failover to a replica that lags, a restored machine",
		"Use fsync always, delay restarts by the longest TTL, and promote no replica."},
	{ClockCounts, "the clock that a lock reads counts all the time that passes",
		"suspend of the client machine, with a deadline on a clock that stands still meanwhile; a clock that runs slow",
		"Read the boot-time clock, and allow for drift."},
	{OneMaster, "a node has one master, and one key under a name",
		"two masters after a failover",
		"Keep locks on independent nodes, without automatic failover."},
	{ClocksAgree, "keys live for as long as their holder counts",
		"a clock of a node that jumps or runs fast, a clock of a client that runs slow",
		"Slew clocks, never step them, and choose a drift allowance that covers their rates."},
	{ArrivesOnce, "a request comes to its node once",
		"a proxy that sends a request twice",
		"Connect to the nodes directly; a key that is left behind ends with its TTL."},
	{OnlyHolder, "nobody but the holder touches its key",
		"a release that deletes without comparing tokens, clones that draw the same tokens",
		"Compare the token when deleting, and draw it where clones differ."},
	{LookAndSet, "nothing comes between looking for a key and setting one",
		"a lock that looks for a key and sets it in two steps",
		"Use SET with NX."},
	{StopsInTime, "a holder stops working when its validity is over",
		"a pause of the client, or work that goes on past the validity",
		"Check the validity before each effect, and let the resource check fencing tokens."},
	{RefusesLate, "the resource refuses who comes late",
		"a write that arrives after the validity has ended",
		"Let the resource check fencing tokens."},
	{WritesArrive, "a holder's writes have arrived when it lets go",
		"a release before a write has returned",
		"Wait for writes to return before releasing."},
	{Releases, "a holder lives until it releases",
		"the death of a client whose hold has no TTL",
		"Give every hold a TTL."},
	{KeysExpire, "keys that nobody deletes expire",
		"a clock of a node that stands still",
		"Watch the clocks of the nodes."},
	{DelaysDiffer, "clients that collide wait for different times before they try again",
		"clones that draw the same random delays",
		"Seed the delays from the kernel after a machine is cloned."},
	{KeepersReached, "a majority of the nodes that keep the lock's keys is in reach",
		"nodes that are down or out of reach, more than the lock can miss",
		"Keep the lock on more nodes."},
	{StoreAgrees, "the store keeps an entry for as long as its holder counts",
		"a clock of the leader of the store that runs fast, a clock of the holder that runs slow",
		"Choose a session timeout with a margin for drift."},
	{StoreKeeps, "the store keeps what it has acknowledged",
		"a leader without the last changes, or a loss of power of members that had not synced them",
		"Replicate before acknowledging, and sync."},
}

// Assumptions lists all of them.
func Assumptions() []Assumption {
	all := make([]Assumption, len(assumptions))
	for i, a := range assumptions {
		all[i] = a.assumption
	}
	return all
}

// Text is what the assumption says, as a clause.
func (a Assumption) Text() string {
	text, _, _ := a.Explain()
	return text
}

// Explain says what the assumption means, what breaks it, and what helps against that. The
// page docs/findings.md lists all of them.
func (a Assumption) Explain() (text, brokenBy, remedy string) {
	for _, known := range assumptions {
		if known.assumption == a {
			return known.text, known.brokenBy, known.remedy
		}
	}
	return string(a), "", ""
}

// Within returns the finding about a lock that promises to withstand what took place. Such a lock does
// not rest on the assumptions that others would, so they are no causes: what took place is told, and
// neither an assumption nor a remedy.
func (f Finding) Within() Finding {
	f.Causes = slices.Clone(f.Causes)
	for i := range f.Causes {
		f.Causes[i].Assumption = ""
	}
	return f
}

// Remedies says what helps against the broken assumptions of a finding, a sentence for each.
func (f Finding) Remedies() (all []string) {
	for _, c := range f.Causes {
		if _, _, remedy := c.Assumption.Explain(); remedy != "" && !slices.Contains(all, remedy) {
			all = append(all, remedy)
		}
	}
	return all
}
