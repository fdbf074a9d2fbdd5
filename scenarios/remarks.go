package scenarios

// remarks are what a reader of the debate should know of a row, a series or a
// lock beside what is measured: above all why a verdict is not the one that was
// predicted. By name; that of a lock begins with "compare-".
var remarks = map[string]string{
	"slow-acquire":           "Only the replies that come too late are slow here. What Kleppmann asks about is a delay after the check: that is pause-then-write.",
	"crash-restart":          "The partition keeps the holder at exactly a quorum. With all five nodes held, one that forgets is not enough: the four others still refuse.",
	"clock-drift":            "The allowance has to cover both clocks. With nodes fast by ρn and the holder slow by ρc it must be at least TTL × (ρn + ρc)/(1 + ρn), up to the latency: 1 % of the TTL does not cover 1 % on both sides.",
	"fence-from-redlock":     "Of the three ways to make fences out of Redis this is the third: read a quorum, raise a quorum to the largest plus one, and only then check the validity once more.",
	"leap-second-stepped":    "What breaks is a second that is left out. One that is inserted steps the clocks back, so that keys live longer: leap-second-inserted.",
	"aof-everysec":           "In some runs exclusion holds: a sync, one a second, fell into the 20 ms between the grant and the loss of power. A process that dies without its machine loses nothing in the simulator; a real Redis answers before it writes while a sync is under way, and loses what it held back.",
	"aof-everysec-extension": "In some runs exclusion holds: a sync fell between the extension and the loss of power.",
	"stuck-sync":             "Without the stuck disk no run breaks: the key is on the disk a second after the grant at the latest. While a sync is in progress Redis puts its writes off for up to two seconds and goes on answering (its documentation of latency says so), so that a loss of power then takes up to a second and what the disk was stuck for. A quarantine of the longest TTL closes it (quarantine-stuck-sync), for whatever was lost, the server has restarted.",
	"torn-tail":              "A record that the power cuts was not synced, and so not acknowledged, where each write is synced first. Redis drops it at the start, aof-load-truncated being yes by default. With no it does not start until somebody repairs the file, which costs a node and no exclusion (torn-tail-refused).",
	"vm-restore":             "To clients nothing has happened but that connections broke: the process is the same, and so is its run id. Hence a quarantine does not notice either (quarantine-vm-restore), while it does notice a server that starts again from an old file (rdb-restart). Fences that are drawn from the nodes go back with them (vm-restore-fence-lost); those that the resource gives do not.",
	"split-brain":            "Each master grants by what it knows, so that the node votes twice. The links of the node count as down meanwhile. What only the old master has is lost when it is demoted (split-brain-end). Fences that are drawn from the nodes come twice (split-brain-fence-twice); those that the resource gives do not.",
	"quarantine-vm-restore":  "In some runs exclusion holds: the other client comes too late to overlap.",
	"quarantine-split-brain": "Each client has watched the run of the master that it reaches. A quarantine would have to be longer than the longest TTL and the time for which there are two masters together.",
	"check-then-write":       "Behind the check nothing can be checked any more: a pause between it and the sending of the write is not found out. V2 ends when the lock warns its holder, so what is done after that shows in V3.",
	"split-vote":             "A fixed delay never ends a split vote while latencies are constant; where they vary by half, they draw the lot. Who asks one node after another meets rivals at the first one, and finds no split.",
	"ttl-too-short":          "V1 and V2 hold at every TTL, for they end when the lock warns its holder. A section that goes on is unprotected, which shows in V3.",

	"compare-redlock-quarantine": "Where a node restarts that the holder's majority needs, it costs the validity of a hold: the longest outage of the trial crash is about a TTL, and not some tens of milliseconds.",
	"compare-redlock-sequential": "A release waits for one node after another: in the trial cut-off it takes the node timeout three times, and once where all are asked at once.",
	"compare-single-node":        "In the storm of seed 4 its node crashes for ever: nobody gets the lock again, which Redlock survives. That is fault tolerance; L1 asks for a node that can be reached, and is left open there.",
	"compare-get-then-del":       "A holder that is merely late finds another's token and leaves it alone (trial pause). It deletes another's key when the pause falls between GET and DEL (pause-halfway).",
	"compare-setnx-del":          "Nobody erases a try of which no answer came: DEL would not know whose key it takes.",
	"compare-setnx-then-expire":  "Nobody erases a try that failed between its two commands: its key has no end.",
	"compare-database-row":       "Rows end by the leader's wall clock: synchronous replicas do not help when that is stepped (trial clock-jump). Their ids go on growing, so a resource that checks them is safe.",
	"compare-etcd-unchecked":     "Who has waited past the end of its session holds a key that is gone: its revision is older than that of the holder, so V4 breaks as well.",
	"compare-check-then-set":     "Its holds have no end, so after a race there is always somebody who competes: fault tolerance cannot be judged.",
	"evicted-quarantine":         "A quarantine knows a node by the run of its server, and an eviction is no restart: the node votes at once. With a crash in its place the quarantine holds.",
	"evicted-notes":              "The notes of a quarantine have no time to live, so only allkeys-* takes them. Nobody is granted the lock for want of a note: who has none watches the nodes for a TTL.",
	"evicted-fenced":             "Counters of fences have no time to live: volatile-* leaves them alone, and the resource refuses the holder with the lower fence. On allkeys-* see evicted-allkeys.",
	"evicted-allkeys":            "Both holders have the fence 1: a counter that is gone begins anew. A fence that is drawn from the resource's own store would protect it.",
	"duplicate-set":              "The lock cannot know of the copy, and deletes nothing after its release. The key goes with its TTL, which is what the others wait for: an orphan costs time and no exclusion, for a copy grants nothing. A quarantine and fences change nothing of it.",
	"duplicate-delete":           "What makes the copy harmless is that a DEL compares the token, and that no token is used twice. setnx-del deletes the successor's key.",
	"clone":                      "Who is refused deletes what it may have set, by its token: which is the holder's. A token has to be drawn from a source that a clone does not share: the kernel's, where the hypervisor tells it of the clone (vmgenid). Contenders that draw the same retry delays have lost what parts them, too: `go test ./internal/runner -run TestClonesStayInStep`.",
	"watchdog-cut-off":           "That the holder hears of the loss in time is the margin's work; a holder that looks at no clock would go on (pause-then-write).",
}

// Remark returns the remark on a row or a series, or "".
func Remark(name string) string { return remarks[name] }
