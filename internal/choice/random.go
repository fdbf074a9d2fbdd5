package choice

// Purpose is what random numbers are for: an entry of [Random].
type Purpose int

// The entries of [Random].
const (
	ForLatencies Purpose = iota
	ForClients
	ForTokens
	ForSyncWaits
	ForSyncPhases
	ForReplication
	ForElections
	ForCommits
	ForFaults
)

// Randomness is something random in a world, and what becomes of it if points have few ways.
type Randomness struct {
	What   string
	Chosen Kind   // of the points at which it is chosen; 0: it follows from the seed there, too
	Fixed  string // if it does: the bound that an exploration prints, as in "tokens of one seed"
}

// Random lists all that is random in a world. What draws a random number names its entry.
var Random = [...]Randomness{
	ForLatencies:   {What: "latencies of messages", Chosen: Latency},
	ForClients:     {What: "numbers that clients draw, but for tokens", Chosen: Number},
	ForTokens:      {What: "tokens of clients", Fixed: "tokens of one seed"},
	ForSyncWaits:   {What: "waits of nodes for their disks", Chosen: Number},
	ForSyncPhases:  {What: "when nodes sync their disks, each second", Chosen: Kept},
	ForReplication: {What: "when changes come to a replica", Chosen: Kept},
	ForElections:   {What: "lengths of the store's elections", Chosen: Number},
	ForCommits:     {What: "lengths of the store's commits", Chosen: Number},
	ForFaults:      {What: "what faults draw for messages", Chosen: Number},
}
