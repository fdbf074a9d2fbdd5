package scenarios

// Advice is one of the things that users of a lock should know before all others.
type Advice struct {
	Bites  string // what happens, in a sentence
	Row    string // the row of the debate that shows it
	Remedy string
}

// AdviceList is the whole advice: what bites most users first. docs/which-lock.md is made from it.
func AdviceList() []Advice { return advice }

var advice = []Advice{
	{
		Bites:  "A holder that stands still goes on when its lock is over, and no lock can prevent that.",
		Row:    "pause-then-write",
		Remedy: "Draw a fence with each grant, and let the resource reject lower ones on reads and writes.",
	},
	{
		Bites:  "A Redis that comes back without its keys votes a second time.",
		Row:    "crash-restart",
		Remedy: "Sync every write, or keep a restarted node out for the longest TTL (quarantine).",
	},
	{
		Bites:  "A failover forgets locks, and waiting for a replica (WAIT) does not close the gap.",
		Row:    "wait-other-promoted",
		Remedy: "Use independent masters, or a store that answers what a majority has.",
	},
	{
		Bites:  "A wall clock that is stepped ends or prolongs a lease, on a server as in a client.",
		Row:    "node-clock-jump",
		Remedy: "Slew the clocks of servers, and count the validity on a monotonic clock.",
	},
	{
		Bites:  "A lock without a time to live, or one that is extended for ever, is not free again after a failure.",
		Row:    "lock-file-death",
		Remedy: "Set a TTL in the command that sets the key, limit extensions, and stop them if the work is stuck.",
	},
}
