package checker

// StatementKind says what a statement is about. The comment beside each kind names the
// fields that it has.
type StatementKind string

// Events of a violation.
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
	// Overlap: Client still held it. The windows, or sections if Detail says so, overlap by For,
	// until End.
	Overlap StatementKind = "overlap"
	// NeverFree: from At on Client held the lock, and the hold before it was empty.
	NeverFree StatementKind = "never-free"
	// LateExtension: at At an extension of Client succeeded although another client had held
	// the lock in between. More: the other hold still went on.
	LateExtension StatementKind = "late-extension"

	// FencedGrant: Client was granted Resource under Token at At with Fence.
	FencedGrant StatementKind = "fenced-grant"
	// FencedAfter: like FencedGrant, for the later grant. Detail is "called" if acquire was called
	// after the first grant had returned, "ended" if Other had ceased to hold the lock, or "over" if its
	// hold ended after the first grant and before its own.
	FencedAfter StatementKind = "fenced-after"

	// LostUpdate: two sections of Resource read one value, and both wrote.
	LostUpdate StatementKind = "lost-update"
	// StaleRead: the next statement is a read of Resource that returned Read, a value that the
	// resource did not have.
	StaleRead StatementKind = "stale-read"
	// Accessed: Client read Read at From, unless More says that it did not, and wrote Wrote
	// at At under Token; the write arrived at To, if that was later. Detail "before" says
	// that it did so before the statement before.
	Accessed StatementKind = "accessed"
	// ValueBefore: Read is the value before these writes; Detail "first" says that it is the first
	// one.
	ValueBefore StatementKind = "value-before"
	// NoOrder: no sequential order of the following sections of Resource, from the value Read
	// on, explains their reads.
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
	// KeyLeft: Node (0: the store) kept the key of Resource under Token at At, For after Client gave it up.
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
	// NoValidity: at At Client was granted Resource with a Validity of 0 or less. Detail is
	// "grant" or "extension".
	NoValidity StatementKind = "no-validity"
	// ValidityOver follows NoValidity: by the lock's clock the validity had ended For before
	// it was checked.
	ValidityOver StatementKind = "validity-over"
	// ValidityLess follows NoValidity: by the lock's clock For was left when it was checked.
	ValidityLess StatementKind = "validity-less"
	// KeyDeleted: Node (0: the store) deleted the key at At for Other (0: not known), while Client held the lock since From.
	KeyDeleted StatementKind = "key-deleted"
	// ReleaseDenied: Client called release at Call, which returned at At that the lock was no
	// longer held, but Share of the nodes deleted the key in between.
	ReleaseDenied StatementKind = "release-denied"
	// Unbacked: Client called extend or release (Detail) at Call, which returned success at At,
	// but only Share of the nodes did it.
	Unbacked StatementKind = "unbacked"
	// DeletedInstead follows Unbacked: at At a request of Client deleted the key of Other on
	// Node, which had Token.
	DeletedInstead StatementKind = "deleted-instead"
	// HeldBeyond: Client held Resource since From for a TTL that ended at To.
	HeldBeyond StatementKind = "held-beyond"
	// RanOn: it continued to run until At, for For, which is more than Bound, and its context
	// had not ended.
	RanOn StatementKind = "ran-on"
	// ToldLate: the declared end of validity came at At, too late by For, which is more than Bound.
	ToldLate StatementKind = "told-late"
	// ToldHeld: a check at At returned that it held the lock.
	ToldHeld StatementKind = "told-held"
)

// Evidence for a broken assumption, or that none was broken.
const (
	// ValidityEnded: the validity of Client was over at At.
	ValidityEnded StatementKind = "validity-ended"
	// WriteLate: the write of Client, called at At, was accepted after its validity had ended at To
	// or, if More, after it was notified of the loss then; Detail "died" says that it died then, and
	// its hold ended with it.
	WriteLate StatementKind = "write-late"
	// WriteOpen: the write of Client, called at At, had not returned when it released or, if its
	// outcome is unknown, was applied after that, at To.
	WriteOpen StatementKind = "write-open"
	// StoodStill: it was paused from From to To; to the end if To is 0.
	StoodStill StatementKind = "stood-still"
	// StoodBefore: Client was paused from From to To, before the grant.
	StoodBefore StatementKind = "stood-before"

	// KeyLost: Nodes lost Client's key. Detail is how: "forgotten", "evicted", "rolled-back",
	// "earlier-expiry", "deleted", "overwritten", "expired-for", "expired" or "by-itself", if
	// Client's own request took it away; by, or for, Other, where that is known.
	KeyLost StatementKind = "key-lost"
	// ClocksAhead: the clocks of Nodes got ahead by For or more.
	ClocksAhead StatementKind = "clocks-ahead"
	// LeaderAhead: the clock of Node, the leader of the store, got ahead by For or more.
	LeaderAhead StatementKind = "leader-ahead"
	// ClockBehind: the clock of Client fell behind by For or more.
	ClockBehind StatementKind = "clock-behind"
	// KeyEarly: Client's key was gone For before its TTL was over; no fault explains it.
	KeyEarly StatementKind = "key-early"
	// KeyLived: Client's key lived for its whole TTL, and the lock counted on it for longer.
	// More: the lock's own deadline is later than its TTL allows.
	KeyLived StatementKind = "key-lived"
	// NotRenewed: Client's key on Nodes was lost, but its TTL, which nobody renewed, would have been over
	// at their times, before they set Other's key.
	NotRenewed StatementKind = "not-renewed"
	// ExtendedInstead: at At a request of Client extended the key of Other on Node, which had Token.
	ExtendedInstead StatementKind = "extended-instead"
	// DeadlineLate: the lock's own deadline is later than its TTL allows.
	DeadlineLate StatementKind = "deadline-late"
	// ClockReached: the clock that the lock reads had come to the end of validity at At.
	ClockReached StatementKind = "clock-reached"
	// FewVotes: Other was granted the lock with its own key on only Share of the nodes, and no node had
	// lost Client's key; More: some had, but not those.
	FewVotes StatementKind = "few-votes"
	// TwoKeys: Nodes kept Client's key and Other's at a time.
	TwoKeys StatementKind = "two-keys"
	// GrantedBoth: the lock granted it to both. No node had lost the key of Client, if Client is
	// given. More: the history does not record keys; Detail "late": it does, too late for this.
	GrantedBoth StatementKind = "granted-both"
	// CameBackEmpty: Node came back at At, as Detail says, without its keys; the history
	// does not record them. More: it does, too late for this.
	CameBackEmpty StatementKind = "came-back-empty"
	// CameBackWithout: Node came back at At, as Detail says, without its counter of fences.
	CameBackWithout StatementKind = "came-back-without"
	// EntryGone: Client's entry in the store went away at At for the reason Detail. More: Client
	// went on holding the lock. Otherwise the lock granted it to Client without an entry.
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
	// OldKeys: Nodes, whose clocks were wrong, still kept an older key.
	OldKeys StatementKind = "old-keys"
	// KeyInTheWay: Nodes kept the key of Client's Token, each since its At. Detail is "no-expiry" if it
	// had none, "extended" if Other last extended it at To, or "outlived" if it was there for For, longer
	// than the longest TTL. More says that no try for it was under way when it was set. End is what had
	// ended its try or hold, and Left the reason of a refusal.
	KeyInTheWay StatementKind = "key-in-the-way"
	// NoKeyInTheWay: as far as the history records keys, no node kept one of Resource that stood in the
	// way.
	NoKeyInTheWay StatementKind = "no-key-in-the-way"
	// TriesEnded: since the last grant of Resource Count tries were refused. Detail lists the reasons,
	// with the number of tries that each ended.
	TriesEnded StatementKind = "tries-ended"
	// StillWaits: Client's try under Token, called at Call, had not returned.
	StillWaits StatementKind = "still-waits"
	// TryOutlived: Client's try, called at Call, took For, more than its TTL. Its keys on Nodes
	// had expired before it returned at At; More: it had not returned yet.
	TryOutlived StatementKind = "try-outlived"
	// LockGrantedNone: the lock granted it to nobody, and the history shows nothing in its way.
	LockGrantedNone StatementKind = "lock-granted-none"
	// LockRefused: the lock refused without a visible reason.
	LockRefused StatementKind = "lock-refused"
	// LockLeftKey: the lock itself did not delete the key.
	LockLeftKey StatementKind = "lock-left-key"
	// NeverExpires: the key of Client on Node, which has Token, never got an expiry.
	NeverExpires StatementKind = "never-expires"
	// LockDrewFences: no node lost its state; the lock itself drew both fences.
	LockDrewFences StatementKind = "lock-drew-fences"
	// NobodyLate: no write came late, and no two clients held the lock at once.
	NobodyLate StatementKind = "nobody-late"
)

// The reasons for a verdict other than violated.
const (
	NoGrant          StatementKind = "no-grant"           // nobody was granted the lock
	NoOverlap        StatementKind = "no-overlap"         // Count windows, or sections if Detail says so, do not overlap; Of were empty
	UndecidedOverlap StatementKind = "undecided-overlap"  // Client acted (Left) at At as the holder of Resource under Token; its success became known only at To
	EndUnknown       StatementKind = "end-unknown"        // Client was granted Resource under Token at At, with Validity left; its end is not told, or, if More, on another clock than the history's, and Other was granted it at To
	NoWrite          StatementKind = "no-write"           // no write to a guarded resource
	UndecidedOrder   StatementKind = "undecided-order"    // the order of Count sections of Resource from At on is undecided, as Detail says; Of others are decided
	InOrder          StatementKind = "in-order"           // Count accepted sections are in order; Of in all, if some are undecided
	NoFence          StatementKind = "no-fence"           // no grant has a fence
	FencesGrow       StatementKind = "fences-grow"        // Count fences grow
	NoBound          StatementKind = "no-bound"           // no bound is stated
	NobodyWaited     StatementKind = "nobody-waited"      // nobody waited for the lock
	NobodyGrantedYet StatementKind = "nobody-granted-yet" // nobody was granted the lock yet, but nobody waited for long enough
	TooSoon          StatementKind = "too-soon"           // Resource was not granted after faults did something at From; the history ends at At
	OutOfReach       StatementKind = "out-of-reach"       // like TooSoon, but no waiting client reaches a majority; Nodes have not answered their watch since their At
	WaitsBounded     StatementKind = "waits-bounded"      // none of Count grants waited longer than Bound
	NoTries          StatementKind = "no-tries"           // no number of tries is promised
	AllReached       StatementKind = "all-reached"        // every client reached every node at all times
	NoFairTry        StatementKind = "no-fair-try"        // nodes were out of reach, but no try had every chance
	FairTriesFailed  StatementKind = "fair-tries-failed"  // Count fair tries failed, but never Of in a row
	FairTriesWon     StatementKind = "fair-tries-won"     // Count of Of fair tries succeeded
	KeepsNothing     StatementKind = "keeps-nothing"      // the lock keeps nothing on the nodes
	NoKeys           StatementKind = "no-keys"            // the history does not record keys
	EntriesUnseen    StatementKind = "entries-unseen"     // the watch of a store has not reported enough
	KeysUnseen       StatementKind = "keys-unseen"        // the watch of the nodes' keys has not reported enough
	NothingGivenUp   StatementKind = "nothing-given-up"   // no token was given up
	NoKeyTested      StatementKind = "no-key-tested"      // no key was left on a node that stayed reachable for long enough
	KeysGone         StatementKind = "keys-gone"          // the keys of Count tokens were gone within Bound
	NoReturn         StatementKind = "no-return"          // no call has returned
	CallsKept        StatementKind = "calls-kept"         // Count calls returned in time and told the truth
	TruthNotJudged   StatementKind = "truth-not-judged"   // the returns of extend and release were not checked: KeepsNothing, NoKeys, EntriesUnseen or KeysUnseen, as Detail says
	NotJudged        StatementKind = "not-judged"         // the property was not checked
)
