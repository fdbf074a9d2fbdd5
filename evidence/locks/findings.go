package locks

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// Kind is what a violation says of a lock.
type Kind string

const (
	// Limit says that this project's own lock on as many nodes shows it too, under the same
	// plan, or that the lock promises no more.
	Limit Kind = "limit"
	// Defect says that ours does not show it, and the library's page says otherwise, or
	// lets its users think so.
	Defect Kind = "defect"
)

// Finding is why some locks violate something in some storms.
type Finding struct {
	Name  string // of its witness, too
	Kind  Kind
	Shows []Shown

	What string // happens, and why
	Says string // what the library's documentation says
	Link string // upstream, where there is something
}

// Shown is where a finding is seen: each property in each storm, of each lock.
type Shown struct {
	Subjects, Storms []string
	Properties       []checker.Property
	Seldom           bool // too few runs show it to count on it
}

func (s Shown) is(subject, in string, p checker.Property) bool {
	return slices.Contains(s.Subjects, subject) && slices.Contains(s.Storms, in) && slices.Contains(s.Properties, p)
}

// about reports whether the finding is seen of a lock.
func (f *Finding) about(subject Subject) bool {
	return slices.ContainsFunc(f.Shows, func(s Shown) bool { return slices.Contains(s.Subjects, subject.Name) })
}

// rare reports whether the finding is seldom seen wherever it is.
func (f *Finding) rare() bool {
	return !slices.ContainsFunc(f.Shows, func(s Shown) bool { return !s.Seldom })
}

// Known is what is known of a lock, a storm and a property: nothing, or the finding about it,
// and whether it is seldom seen. What violates lease exclusion violates backing before.
func Known(subject, in string, p checker.Property) (f *Finding, seldom bool) {
	if p == checker.Backing {
		f, _ = Known(subject, in, checker.Lease)
		return f, true
	}
	for i := range findings {
		for _, s := range findings[i].Shows {
			if s.is(subject, in, p) {
				return &findings[i], s.Seldom
			}
		}
	}
	return nil, false
}

// Shorthands of the table.
const (
	v1       = checker.Lease
	v2       = checker.Section
	v3       = checker.Effect
	cleanup  = checker.Cleanup
	progress = checker.DeadlockFreedom
	contract = checker.Contract
)

func all[T any](list ...T) []T { return list }

var (
	ours         = all("redlock", "redlock-one-node")
	redsyncs     = all("redsync", "redsync-tuned", "redsync-setnx")
	redislocks   = all("redislock", "redislock-tuned")
	rueidislocks = all("rueidislock", "rueidislock-setpx", "rueidislock-cached")
	everybody    = slices.Concat(ours, redsyncs, redislocks, rueidislocks)
	unguarded    = slices.Concat(redsyncs, redislocks) // tell their holders of no loss
)

// findings are all that is known to be violated. Of two that are about the same the first
// counts.
var findings = slices.Concat(redisFindings, storeFindings, kubernetesFindings)

// redisFindings are those of locks on Redis.
var redisFindings = []Finding{
	{
		Name: "redsync-waits-for-dead-nodes", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("redsync"), Storms: all("majority-cut-off", "node-stands-still", "node-off", "node-off-brief", "holder-cut-off", "holder-cut-off-from-one"), Properties: all(contract)},
			{Subjects: all("redsync"), Storms: all("minority-cut-off"), Properties: all(contract), Seldom: true},
			{Subjects: all("redsync"), Storms: all("holder-cut-off-from-one"), Properties: all(v2)},
		},
		What: "Unlock and Extend wait for the answer of every node, and have no time limit of their own: the factor of WithTimeoutFactor is applied to Lock alone. One silent node of five blocks them until go-redis gives up, after 10 s with its defaults (a read timeout of 5 s, and a second try). The lock has run out by then, though four nodes have answered at once: an Extend that four of five have granted returns an error, and the holder has worked on meanwhile. WithFailFast(true), off by default, mends it as long as a majority answers; ContextTimeoutEnabled of go-redis does not, because there is no deadline. Where no majority answers it takes shorter timeouts of go-redis, and no second tries (redsync-tuned).",
		Says: "“WithTimeoutFactor can be used to set the timeout factor” (its documentation); “the client uses a timeout which is small compared to the total lock auto-release time” (the description of Redlock that its README follows).",
		Link: "https://github.com/go-redsync/redsync/issues/140",
	},
	{
		Name: "redsync-acquires-too-late", Kind: Defect,
		Shows: []Shown{{Subjects: all("redsync"), Storms: all("node-off-brief"), Properties: all(progress)}},
		What:  "One of five nodes loses power for good, and from then on nobody acquires a lock whose TTL is 5 s or less. A try waits for the reply of every node. redsync gives it a deadline of a twentieth of the TTL, but go-redis ignores deadlines of contexts by default and waits for its read timeout, 5 s. Four nodes have granted the lock at once, but their keys have expired by then, so the try fails. A TTL of 8 s, redsync's default, leaves 2.9 s of validity after each try. Each of these options alone mends it: ContextTimeoutEnabled or a shorter ReadTimeout of go-redis, or WithFailFast(true) of redsync.",
		Says:  "“the client uses a timeout which is small compared to the total lock auto-release time in order to acquire it. […] This prevents the client from remaining blocked for a long time trying to talk with a Redis node which is down” (the description of Redlock that its README follows, quoted in the pull request that added WithTimeoutFactor).",
		Link:  "https://github.com/go-redsync/redsync/pull/80",
	},
	{
		Name: "redsync-extends-what-was-lost", Kind: Defect,
		Shows: []Shown{{Subjects: all("redsync-setnx"), Storms: all("extends-too-late"), Properties: all(v1, v2, v3)}},
		What:  "WithSetNXOnExtend sets keys anew that are gone, also where all of them are, because the lock ran out and another had it and let it go. The late Extend returns true, and its holder goes on with what it read before the other wrote: the other's update is lost, though both asked the lock before they wrote.",
		Says:  "“Obtain a lock for our given mutex. After this is successful, no one else can obtain the same lock (the same mutex name) until we unlock it” (README); “tries to set a new key in redis” (documentation of the option).",
		Link:  "https://github.com/go-redsync/redsync/pull/149",
	},
	{
		Name: "redsync-cleans-up-in-vain", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("redsync-tuned"), Storms: all("cancelled-unheard"), Properties: all(cleanup)},
			{Subjects: all("redsync"), Storms: all("cancelled-unheard"), Properties: all(cleanup), Seldom: true},
			{Subjects: all("redsync", "redsync-tuned"), Storms: all("call-is-cancelled", "callers-give-up"), Properties: all(cleanup), Seldom: true},
		},
		What: "A call that is cancelled removes what it has set by requests on its own context, which has ended: none of them is sent. Its keys stay on nodes that are in reach for the rest of the TTL, and nobody can have the lock meanwhile. (With the defaults of go-redis, which ignores the context while it waits for an answer, the call goes on instead, as if it had not been cancelled.) Neither does Unlock send anything once its context has ended: it returns the error of each node, and the hold's keys stay.",
		Says: "“If the client failed to acquire the lock for some reason […] it will try to unlock all the instances (even the instances it believed it was not able to lock)” (the description of Redlock that its README follows).",
	},
	{
		Name: "redsync-failfast-gives-up", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("redsync-tuned"), Storms: all("minority-down"), Properties: all(cleanup), Seldom: true},
			{Subjects: all("redsync-tuned", "redsync-setnx"), Storms: all("calm", "contention", "minority-cut-off", "node-stands-still", "node-comes-back-soon", "node-comes-back-late", "node-clock-jumps", "slow-network", "replies-are-lost", "majority-cut-off", "long-work", "holder-cut-off-from-one", "clients-come-and-go"), Properties: all(cleanup), Seldom: true},
		},
		What: "With WithFailFast, Unlock returns when a majority has answered, and what is still on its way to the others hangs on the caller's context: who ends that when Unlock has returned, as a request does that is over, or closes its client then, leaves keys on nodes that had to be dialled anew, for the rest of the TTL. (With a release on a context that does not end, none of 25 runs of minority-down left a key; with one that does 11 of 25.)",
		Says: "“WithFailFast can be used to quickly acquire and release the lock” (its documentation).",
		Link: "https://github.com/go-redsync/redsync/pull/133",
	},
	{
		Name: "release-is-sent-again", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("redsync", "redislock"), Storms: all("replies-are-lost"), Properties: all(contract)},
			{Subjects: all("redsync", "redislock"), Storms: all("callers-give-up"), Properties: all(contract), Seldom: true},
		},
		What: "A release whose answer is lost is sent again by go-redis, as it is by default. It finds nothing, and Unlock returns ErrLockAlreadyExpired, and Release ErrLockNotHeld, though it was the release itself that had deleted the key: the holder is told that the work may not have been alone, which it was. Without second tries (redsync-tuned, redislock-tuned) it is told of the broken connection.",
		Says: "“ErrLockAlreadyExpired is the error resulting if trying to unlock the lock which already expired” (redsync's documentation); “ErrLockNotHeld is returned when trying to release an inactive lock” (redislock's).",
	},
	{
		Name: "redsync-one-value-for-all-tries", Kind: Defect,
		Shows: []Shown{
			{Subjects: redsyncs, Storms: all("node-clock-jumps", "node-comes-back-soon", "node-comes-back-late", "node-stands-still", "minority-cut-off", "majority-cut-off", "slow-network", "replies-are-lost", "holder-cut-off-from-one"), Properties: all(contract), Seldom: true},
		},
		What: "All tries of one call of Lock set the same value. The clean-up of a try that has failed can come late, on a link that was held up, and deletes then what a later try of the same call has set: the key of a hold, though nobody has released it. A hold with exactly a majority is lost this way.",
		Says: "“this value must be unique across all clients and all lock requests” (the description of Redlock that its README follows).",
	},
	{
		Name: "rueidislock-tells-late", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("rueidislock", "rueidislock-setpx"), Storms: all("holder-cut-off"), Properties: all(v1, v2)},
			{Subjects: all("rueidislock", "rueidislock-setpx"), Storms: all("holder-cut-off"), Properties: all(v3), Seldom: true},
		},
		What: "A holder that is cut off cannot extend. The failing request is given until half a KeyValidity after the keys are gone, and the context ends only then: somebody else is granted the lock while the first holder's context is alive. No clock is wrong, and no client is paused.",
		Says: "“The returned ctx will be canceled automatically and immediately once the KeyMajority is not held anymore, for example: Redis are down” (README).",
	},
	{
		Name: "rueidislock-cached-tells-late", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("rueidislock-cached"), Storms: all("holder-cut-off"), Properties: all(v1, v2)},
			{Subjects: all("rueidislock-cached"), Storms: all("holder-cut-off"), Properties: all(v3), Seldom: true},
		},
		What: "The same on a real redis-server, with caching on the client's side, of which the README says that it makes the loss known at once. It does where the server can say so; a holder that is cut off hears of nothing.",
		Says: "as above, under “Features backed by the Redis Client Side Caching”.",
	},
	{
		Name: "rueidislock-absolute-times", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("rueidislock"), Storms: all("clocks-ahead"), Properties: all(v1, v2, v3)},
			{Subjects: all("rueidislock"), Storms: all("long-work-clocks-ahead"), Properties: all(v1, v2)},
			{Subjects: all("rueidislock"), Storms: all("long-work-clocks-ahead"), Properties: all(v3), Seldom: true},
			{Subjects: all("rueidislock"), Storms: all("node-clock-jumps"), Properties: all(contract), Seldom: true},
		},
		What: "Keys expire at an instant that the client computes from its own wall clock (SET PXAT). A server whose clock is ahead of the client's by the KeyValidity removes the key as it is set, and answers OK: everybody is granted the lock. Nothing has to jump for it, and no other lock here minds: they say for how long, not until when.",
		Says: "Nothing about clocks; that FallbackSETPX is “to be compatible with Redis < 6.2”.",
	},
	{
		Name: "rueidislock-setpx-extends-absolutely", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("rueidislock-setpx"), Storms: all("long-work-clocks-ahead"), Properties: all(v1, v2, contract)},
			{Subjects: all("rueidislock-setpx"), Storms: all("node-clock-jumps"), Properties: all(contract), Seldom: true},
			{Subjects: all("rueidislock-setpx"), Storms: all("long-work-clocks-ahead"), Properties: all(v3), Seldom: true},
		},
		What: "With FallbackSETPX the lock is acquired for a time, but extended until an instant all the same (PEXPIREAT). A server whose clock is ahead deletes the key and answers 1, as if it had been extended; the holder hears of it with the next extension, half a KeyValidity later.",
		Says: "“Use SET PX instead of SET PXAT when acquiring locks” (documentation of the option): it says acquiring.",
	},
	{
		Name: "rueidislock-takes-its-own-key-for-anothers", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("rueidislock", "rueidislock-setpx"), Storms: all("callers-give-up"), Properties: all(cleanup), Seldom: true},
		},
		What: "A script that sets a key if it is absent, and whose answer is lost, is sent again by rueidis, because rueidislock says that its scripts may be. The second one finds the key that the first one has set, and says that the lock is taken. A key that is taken is not deleted, so it stays for the rest of the KeyValidity, and nobody can have the lock meanwhile, its own caller included. Version 1.0.59, which does not send scripts again, deletes it: L3 holds in 20 runs of callers-give-up, and is violated in 13 of 20 with version 1.0.79.",
		Says: "“The lua scripts in rueidislock mod can also considered idempotent operations” (the request for this change).",
		Link: "https://github.com/redis/rueidis/issues/925",
	},
	{
		Name: "redislock-refresh-and-release-hang", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("redislock"), Storms: all("holder-cut-off"), Properties: all(contract)},
			{Subjects: all("redislock"), Storms: all("majority-cut-off", "node-stands-still"), Properties: all(contract), Seldom: true},
		},
		What: "Refresh gives its request a deadline, that of the TTL, which go-redis does not heed by default; Release gives none. Where the server answers nothing both return after 10 s, later than the lock is gone. ContextTimeoutEnabled mends Refresh; for Release it takes shorter timeouts of go-redis, and no second tries (redislock-tuned).",
		Says: "“If ctx has no deadline one is derived from ttl as a final safety cap” (comment in its source).",
	},
	{
		Name: "redislock-leaves-what-was-unheard", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("redislock", "redislock-tuned"), Storms: all("replies-are-lost", "call-is-cancelled", "callers-give-up"), Properties: all(cleanup), Seldom: true},
		},
		What: "An Obtain whose answer is lost, or whose context ends before the answer, returns an error, and nothing removes the key that it has set: others wait for the rest of the TTL for a lock that nobody holds.",
		Says: "“May return ErrNotObtained if not successful” (documentation of Obtain): nothing of what may stay behind.",
	},
	{
		Name: "no-signal-of-a-loss", Kind: Limit,
		Shows: []Shown{
			{Subjects: unguarded, Storms: all("extends-too-late"), Properties: all(v2), Seldom: true},
			{Subjects: all("redsync", "redislock"), Storms: all("holder-cut-off"), Properties: all(v2)},
			{Subjects: all("redsync-tuned", "redsync-setnx", "redislock-tuned"), Storms: all("holder-cut-off"), Properties: all(v2), Seldom: true},
		},
		What: "The lock runs out under a holder that cannot extend it, or does so too late, and nothing tells the holder: redsync and redislock have no signal of a loss, so that their users have to look at the end of validity themselves. Who does so before each write loses no update: V3 holds. (This project's lock ends the hold's context.)",
	},
	{
		Name: "pause-beyond-the-validity", Kind: Limit,
		Shows: []Shown{
			{Subjects: everybody, Storms: all("writer-stands-still"), Properties: all(v3)},
			{Subjects: slices.Concat(unguarded, rueidislocks), Storms: all("writer-stands-still"), Properties: all(v2)},
			{Subjects: rueidislocks, Storms: all("writer-stands-still"), Properties: all(v1)},
			{Subjects: everybody, Storms: all("holder-stands-still"), Properties: all(v2), Seldom: true},
			{Subjects: rueidislocks, Storms: all("holder-stands-still"), Properties: all(v1), Seldom: true},
			{Subjects: everybody, Storms: all("holder-stands-still"), Properties: all(v3), Seldom: true},
			{Subjects: ours, Storms: all("writer-stands-still"), Properties: all(v2), Seldom: true},
			{Subjects: slices.Concat(ours, rueidislocks), Storms: all("extends-too-late"), Properties: all(v2, v3), Seldom: true},
		},
		What: "A client stands still for longer than its lock lasts, between its last look at the lock and its write, and writes all the same. Against this only a fence helps, which the resource checks; none of these libraries has one (this project's lock can, and is tried here without). Of rueidislock V1 is violated too, because it tells no end of validity: what it grants is held until it says otherwise.",
	},
	{
		Name: "clock-of-a-node-jumps", Kind: Limit,
		Shows: []Shown{
			{Subjects: everybody, Storms: all("node-clock-jumps"), Properties: all(v1, v2, v3), Seldom: true},
		},
		What: "The clock of a node of a bare majority jumps forward by the TTL, and the key is gone. Redis expires keys by its wall clock, so that no lock on expiring keys survives it.",
	},
	{
		Name: "node-comes-back-empty", Kind: Limit,
		Shows: []Shown{
			{Subjects: everybody, Storms: all("node-comes-back-soon"), Properties: all(v1, v2, v3), Seldom: true},
		},
		What: "A node that a bare majority rests on crashes and is back at once, without its keys. Redlock rests on nodes that come back empty staying away for the longest TTL (or syncing every write); a lock on one node has no protection at all.",
		Link: "https://github.com/go-redsync/redsync/issues/186",
	},
}
