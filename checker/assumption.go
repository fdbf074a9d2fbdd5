package checker

// Assumption is what a lock had to count on, and could not, when a property was violated. It
// is found from what the history tells: first from what became of the keys, where they are
// recorded, and else from the faults.
type Assumption string

// broken is the cause of a violation: an assumption, and how it shows that it was broken.
func broken(a Assumption, evidence ...Statement) []Cause {
	return []Cause{{Assumption: a, Evidence: evidence}}
}

// unbroken says that no assumption is seen to be broken, and what is seen instead.
func unbroken(n *notes, evidence ...Statement) []Cause {
	return []Cause{{Faultless: n.none(), Evidence: evidence}}
}

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

// assumptions is what each of them says, in the order in which they are listed.
var assumptions = []struct {
	assumption Assumption
	text       string
}{
	{KeepsOrStaysAway, "a node that comes back keeps its keys, or stays away for the longest TTL"},
	{KeepsUntilExpiry, "a node keeps a key until it expires"},
	{KeepsAcknowledged, "a node keeps what it has acknowledged"},
	{ClockCounts, "the clock that a lock reads counts all the time that passes"},
	{OneMaster, "a node has one master, and one key under a name"},
	{ClocksAgree, "keys live for as long as their holder counts"},
	{ArrivesOnce, "a request comes to its node once"},
	{OnlyHolder, "nobody but the holder touches its key"},
	{LookAndSet, "nothing comes between looking for a key and setting one"},
	{StopsInTime, "a holder stops working when its validity is over"},
	{RefusesLate, "the resource refuses who comes late"},
	{WritesArrive, "a holder's writes have arrived when it lets go"},
	{Releases, "a holder lives until it releases"},
	{KeysExpire, "keys that nobody deletes expire"},
	{DelaysDiffer, "clients that collide wait for different times before they try again"},
	{KeepersReached, "a majority of the nodes that keep the lock's keys is in reach"},
	{StoreAgrees, "the store keeps an entry for as long as its holder counts"},
	{StoreKeeps, "the store keeps what it has acknowledged"},
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
	for _, known := range assumptions {
		if known.assumption == a {
			return known.text
		}
	}
	return string(a)
}
