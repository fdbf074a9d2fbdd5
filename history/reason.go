package history

// Why a key or an entry is gone, as the Reason of [KeyGone] and of [EntryGone]
// tells. Worlds write these words and judges go by them.
const (
	Deleted     = "deleted"     // a client deleted it
	Overwritten = "overwritten" // a client set the key to another token
	Expired     = "expired"     // its time to live was over
	Evicted     = "evicted"     // its node ran out of memory
	Forgotten   = "forgotten"   // its node restarted, or the store's leader was lost, without it
	RolledBack  = "rolled back" // its node went back to an earlier state
	SessionOver = "session over"
	Swept       = "swept" // an entry whose time to live was over
)

// WithItsKeys is the Detail of a [NodeUp] of a server that has lost nothing.
const WithItsKeys = "with its keys"

// The names of those steps that judges hear of. At the first the lock has read its
// clock, to count the validity from there; between the others a try waits for somebody
// to wake it.
const (
	BeforeSend = "before-send"
	Queued     = "queued"
	Woken      = "woken"
)
