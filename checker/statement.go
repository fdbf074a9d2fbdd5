package checker

// StatementKind says what a statement is about. The comment beside each kind names the
// fields that it has.
type StatementKind string

// What happened: the events of a violation.
const (
	// FaultInjected: Detail is what was done to the world, At when it began and To when
	// it ended, if More; Left is in which state it left a node.
	FaultInjected StatementKind = "fault"
	// NoFault: no fault took place in the whole history.
	NoFault StatementKind = "no-fault"
	// NoFaultThen: no fault took place during the violation.
	NoFaultThen StatementKind = "no-fault-meanwhile"

	// HoldBegan: At that instant Client had the lock on Resource under Token. Detail is how:
	// "granted", "extended", or "acted" if its acquire had not returned. Validity was left;
	// More says that nothing but a release ends the hold; To is when an extension was last
	// granted.
	HoldBegan StatementKind = "hold-began"
	// HoldEnded follows HoldBegan: End is what ended it. Without End it went on; Detail is
	// "empty" if nothing was left of it when it was granted.
	HoldEnded StatementKind = "hold-ended"
	// Overlap: Client still held it; the windows, or sections as Detail says, overlap For
	// so long, until End.
	Overlap StatementKind = "overlap"
	// NeverFree: from At on Client held the lock, and the hold before it was empty.
	NeverFree StatementKind = "never-free"
	// LateExtension: At that instant Client was granted more time as if it had held the
	// lock all along. More says that the other hold went on then.
	LateExtension StatementKind = "late-extension"

	// FencedGrant: Client was granted Resource under Token at At with Fence.
	FencedGrant StatementKind = "fenced-grant"
	// FencedAfter: the same of the later grant. Detail is "called" if acquire was called
	// after the first grant had returned, or "ended" if Other had ceased to hold the lock.
	FencedAfter StatementKind = "fenced-after"

	// LostUpdate: two sections of Resource read one value, and both wrote.
	LostUpdate StatementKind = "lost-update"
	// StaleRead: of Resource, the statement that follows tells a read, and Read is the value
	// that was not there.
	StaleRead StatementKind = "stale-read"
	// Accessed: Client read Read at From, unless More says that it did not, and wrote Wrote
	// at At under Token; the write arrived at To, if that was later. Detail "before" says
	// that it did so before the statement before.
	Accessed StatementKind = "accessed"
	// ValueBefore: Read was the value before.
	ValueBefore StatementKind = "value-before"
	// NoOrder: no order of the sections of Resource that follow, from the value Read on,
	// explains what they read.
	NoOrder StatementKind = "no-order"
	// MoreSections: Count more sections are not listed.
	MoreSections StatementKind = "more-sections"

	// WaitedLong: Client wanted Resource. Detail is "refused" (at At), "granted" only then, or
	// "waiting" still, with Call when it called acquire.
	WaitedLong StatementKind = "waited-long"
	// NobodyGranted: since At nobody had been granted the lock, though nothing stood in the
	// way, and the longest TTL and the Bound had passed.
	NobodyGranted StatementKind = "nobody-granted"
	// RefusedInRow: Client was refused Resource Count times from From to At, though it
	// reached Share and nobody competed.
	RefusedInRow StatementKind = "refused-in-row"
	// KeyLeft: Node kept the key of Resource under Token at At, For after Client gave it up.
	KeyLeft StatementKind = "key-left"

	// CallSlow: Detail names the call that Client made of Resource under Token at Call; it
	// took For, more than Bound.
	CallSlow StatementKind = "call-slow"
	// CallOpen: the same of a call that had not returned when the history ended.
	CallOpen StatementKind = "call-open"
	// TTLImpossible: at At Client was granted Resource for a TTL that cannot be kept; Detail
	// is "grant" or "extension".
	TTLImpossible StatementKind = "ttl-impossible"
	// ExtendedReleased: Client called extend at Call and was told at At that it was
	// extended, though it had released the hold at To.
	ExtendedReleased StatementKind = "extended-released"
	// NoValidity: at At Client was granted Resource with Validity left, which is none. Detail
	// is "grant" or "extension".
	NoValidity StatementKind = "no-validity"
	// ValidityOver follows NoValidity: by the lock's clock the validity had ended For before
	// it was checked.
	ValidityOver StatementKind = "validity-over"
	// ValidityLess follows NoValidity: by the lock's clock For was left when it was checked.
	ValidityLess StatementKind = "validity-less"
	// KeyDeleted: Node deleted the key at At for Other, while Client held the lock since From.
	KeyDeleted StatementKind = "key-deleted"
	// ReleaseDenied: Client called release at Call and was told at At that the lock was held
	// no more, but Share deleted the key in between.
	ReleaseDenied StatementKind = "release-denied"
	// Unbacked: Client called extend or release, as Detail says, at Call and was told at At
	// that it had succeeded, but only Share had done it.
	Unbacked StatementKind = "unbacked"
	// HeldBeyond: Client held Resource since From for a time to live that was over at To.
	HeldBeyond StatementKind = "held-beyond"
	// RanOn: it ran on until At, For so long, more than Bound, and its context had not ended.
	RanOn StatementKind = "ran-on"
	// ToldLate: the end of validity that it was told came at At, For too late, more than Bound.
	ToldLate StatementKind = "told-late"
	// ToldHeld: it asked at At, and was told that it held the lock.
	ToldHeld StatementKind = "told-held"
)

// Evidence: how it shows that an assumption was broken, or that none was.
const (
	// ValidityEnded: the validity of Client was over at At.
	ValidityEnded StatementKind = "validity-ended"
	// WriteLate: the write of Client, called at At, was accepted when its validity was over,
	// or, if More, it had been told of the loss, at To.
	WriteLate StatementKind = "write-late"
	// WriteOpen: the write of Client, called at At, had not returned when it released.
	WriteOpen StatementKind = "write-open"
	// StoodStill: it stood still from From to To; to the end if To is 0.
	StoodStill StatementKind = "stood-still"
	// StoodBefore: Client had stood still from From to To, before the grant.
	StoodBefore StatementKind = "stood-before"

	// KeyLost: Nodes lost Client's key. Detail is how: "forgotten", "evicted", "rolled-back",
	// "earlier-expiry", "deleted", "overwritten", "expired-for" or "expired"; by, or for,
	// Other, where that is known.
	KeyLost StatementKind = "key-lost"
	// ClocksAhead: the clocks of Nodes got ahead by For or more.
	ClocksAhead StatementKind = "clocks-ahead"
	// LeaderAhead: the clock of Node, which led the store, did.
	LeaderAhead StatementKind = "leader-ahead"
	// ClockBehind: the clock of Client fell behind by For or more.
	ClockBehind StatementKind = "clock-behind"
	// KeyEarly: Client's key was gone For before its TTL was over; no fault explains it.
	KeyEarly StatementKind = "key-early"
	// KeyLived: Client's key lived for its whole TTL, and the lock counted on it for longer;
	// More says that the lock's own deadline is later than its TTL allows.
	KeyLived StatementKind = "key-lived"
	// DeadlineLate: the lock's own deadline is later than its TTL allows.
	DeadlineLate StatementKind = "deadline-late"
	// ClockReached: the clock that the lock reads had come to the end of validity at At.
	ClockReached StatementKind = "clock-reached"
	// FewVotes: no node had lost Client's key, and Other was granted the lock with its own
	// on Share.
	FewVotes StatementKind = "few-votes"
	// TwoKeys: Nodes kept Client's key and Other's at a time.
	TwoKeys StatementKind = "two-keys"
	// GrantedBoth: the lock granted it to both; Client's key was on no node lost if Client is
	// given. More says that the history does not record keys.
	GrantedBoth StatementKind = "granted-both"
	// CameBackEmpty: Node came back at At, as Detail says, without its keys; the history
	// does not record them.
	CameBackEmpty StatementKind = "came-back-empty"
	// CameBackWithout: the same, without the counter that it had.
	CameBackWithout StatementKind = "came-back-without"
	// EntryGone: Client's entry in the store went away at At for the reason Detail. More says
	// that it went on holding the lock; without it the lock granted it to Client all the
	// same, and to nobody by name if Other is 0.
	EntryGone StatementKind = "entry-gone"
	// LeadsWithout: Node leads the store since At without Client's entry.
	LeadsWithout StatementKind = "leads-without"
	// Leads: Node leads it since At, as Detail says.
	Leads StatementKind = "leads"
	// SentTwice: Node set Client's key twice, by the request that was sent at At.
	SentTwice StatementKind = "sent-twice"
	// Unreached: the client did not reach Nodes.
	Unreached StatementKind = "unreached"
	// DiedHolding: Client, which was granted it at From without an end, died at At.
	DiedHolding StatementKind = "died-holding"
	// OldKeys: Nodes still kept a key from before; Client, if given, went on to extend one,
	// last at At.
	OldKeys StatementKind = "old-keys"
	// LockGrantedNone: the lock itself granted it to nobody.
	LockGrantedNone StatementKind = "lock-granted-none"
	// LockRefused: the lock itself refused.
	LockRefused StatementKind = "lock-refused"
	// LockLeftKey: the lock itself did not delete the key.
	LockLeftKey StatementKind = "lock-left-key"
	// LockDrewFences: no node is seen to have lost its state; the lock itself drew both fences.
	LockDrewFences StatementKind = "lock-drew-fences"
	// NobodyLate: no write came late, and no two clients are seen to have held the lock at once.
	NobodyLate StatementKind = "nobody-late"
)

// What a verdict other than violated rests on.
const (
	NoGrant          StatementKind = "no-grant"           // nobody was granted the lock
	NoOverlap        StatementKind = "no-overlap"         // of Count windows, or sections as Detail says; Of were empty
	UndecidedOverlap StatementKind = "undecided-overlap"  // Client acted at At as the holder of Resource under Token; that the act (Left) succeeded was told only at To
	NoWrite          StatementKind = "no-write"           // to a guarded resource
	UndecidedOrder   StatementKind = "undecided-order"    // of Count sections of Resource from At on, as Detail says; Of are decided
	InOrder          StatementKind = "in-order"           // Count accepted sections; Of, if some are undecided
	NoFence          StatementKind = "no-fence"           // no grant bears one
	FencesGrow       StatementKind = "fences-grow"        // Count of them
	NoBound          StatementKind = "no-bound"           // none is stated
	NobodyWaited     StatementKind = "nobody-waited"      // for the lock
	NobodyGrantedYet StatementKind = "nobody-granted-yet" // and nobody waited for long enough
	TooSoon          StatementKind = "too-soon"           // Resource was not granted after faults did something at From; the history ends at At
	OutOfReach       StatementKind = "out-of-reach"       // the same, but nobody who waits reaches a majority
	WaitsBounded     StatementKind = "waits-bounded"      // Count grants, and none waited longer than Bound
	NoTries          StatementKind = "no-tries"           // no number of tries is promised
	AllReached       StatementKind = "all-reached"        // every client reached every node at all times
	NoFairTry        StatementKind = "no-fair-try"        // nodes were out of reach, but no try had every chance
	FairTriesFailed  StatementKind = "fair-tries-failed"  // Count tries, but never Of in a row
	FairTriesWon     StatementKind = "fair-tries-won"     // Count of Of
	KeepsNothing     StatementKind = "keeps-nothing"      // on the nodes
	NoKeys           StatementKind = "no-keys"            // the history does not record them
	NothingGivenUp   StatementKind = "nothing-given-up"   // no token
	NoKeyTested      StatementKind = "no-key-tested"      // none was left on a node that stayed in reach for long enough
	KeysGone         StatementKind = "keys-gone"          // of Count tokens, within Bound
	NoReturn         StatementKind = "no-return"          // of a call
	CallsKept        StatementKind = "calls-kept"         // Count
	TruthNotJudged   StatementKind = "truth-not-judged"   // of what extend and release say: KeepsNothing or NoKeys, as Detail says
	NotJudged        StatementKind = "not-judged"         // the property
)
