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
		Bites:  "A paused client continues its work after its lock has expired. No lock can prevent this.",
		Row:    "pause-then-write",
		Remedy: "Draw a fence with each grant, and let the resource reject lower ones on reads and writes.",
	},
	{
		Bites:  "A Redis server that restarts without its keys can grant a lock that is still held.",
		Row:    "crash-restart",
		Remedy: "Sync every write, or keep a restarted node out for the longest TTL (quarantine).",
	},
	{
		Bites:  "A failover forgets locks, and waiting for a replica (WAIT) does not close the gap.",
		Row:    "wait-other-promoted",
		Remedy: "Use independent masters, or a store that acknowledges a write only when a majority has it.",
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
