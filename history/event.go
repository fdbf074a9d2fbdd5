package history

import (
	"fmt"
	"time"
)

// Time is an instant on the ground clock, in nanoseconds since the run began.
type Time int64

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Add returns the instant d after t.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// String prints the time since the beginning of the run, such as "1.204s".
func (t Time) String() string { return time.Duration(t).String() }

// Kind is the kind of an event.
type Kind uint8

// The kinds of events. Those of clients come in pairs of a call and its return. A call that never
// returns has an unknown outcome.
const (
	// Acquire: a client begins one try to acquire (Client, Resource, Token, TTL, Weight).
	// Token is new for each try, and names the hold from then on. Weight is the most permits that the
	// try takes.
	Acquire Kind = iota + 1
	// Granted: the try returned with the lock (Client, Resource, Token, TTL, Until,
	// Validity, Now, Ends, Fence, Weight). Without an Until only a release ends the hold. On all
	// returns of the lock's own calls K is the number of requests that the client has
	// sent since the previous return.
	Granted
	// Refused: the try returned without it (Client, Resource, Token, Reason, K).
	Refused

	// Extend: the holder requests a new end of validity (Client, Resource, Token, TTL,
	// Until).
	Extend
	// Extended: the extension was granted (Client, Resource, Token, TTL, Until, Validity, Now, Ends, K).
	Extended
	// ExtendFailed: the extension failed (Client, Resource, Token, TTL, Until, Reason, K).
	ExtendFailed

	// Expiring: the holder was warned that its validity is about to end (Client,
	// Resource, Token, Reason).
	Expiring
	// Lost: the holder was notified that it no longer holds the lock (Client, Resource,
	// Token, Reason).
	Lost
	// Lapse: the clock that the lock reads has reached Until (Client, Resource, Token,
	// Since). Written by the world, which owns the clocks.
	Lapse

	// Release: the holder calls release (Client, Resource, Token).
	Release
	// Released: release returned (Client, Resource, Token, Reason, K; Name: another resource to which
	// all keys of the hold belong). Outcome OK:
	// the lock was still held; Declined: it was not; Unknown: it is not known.
	Released

	// Read and ReadDone, Write and WriteDone: accesses to the guarded resource and
	// their returns (Client, Resource, Token, Value, Fence). On a return Outcome
	// Declined: the resource rejected the access; Unknown: it is not known (Reason).
	Read
	ReadDone
	Write
	WriteDone
	// Apply: the guarded resource applied a write (Client, Resource, Token, Value, Fence).
	Apply

	// Pause and Resume: the client does not run in between (Client). On real servers a
	// client at whose step a server is started is also paused until the server is up.
	Pause
	Resume
	// Kill: the client has died for good (Client).
	Kill
	// Cancel: the context of the client's current call has ended (Client).
	Cancel

	// NodeDown and NodeUp: the node's server does not run in between (Node). It
	// comes back with or without its keys (Detail). Until it is up, no client gets an answer from it.
	NodeDown
	NodeUp
	// LinkDown and LinkUp: in between, Client cannot count on a round trip
	// to Node.
	LinkDown
	LinkUp

	// KeySet: Node now stores Token under Resource, until its own expiry
	// (Ends; Detail: [NoExpiry] if it has none; Client: who set it, by a request of the time Sent or, if that is not known, by
	// a request of the try that began then; 0: a rollback brought it back).
	KeySet
	// KeyExtended: Node now keeps Token under Resource for longer or, if the
	// request was not the holder's, until another time than before (Ends; Detail: [NoExpiry]
	// if it has no expiry any more; Client: who requested it; 0: not known).
	KeyExtended
	// KeyGone: Node no longer stores it (Node, Resource, Token, Reason: [Deleted],
	// [Overwritten], [Expired], [Evicted], [Forgotten] over a restart, or
	// [RolledBack] to an earlier state, which may bring other keys back; none if it is not
	// known; Client: who deleted or overwrote it; 0: not known).
	KeyGone

	// FaultStart and FaultEnd: a fault of the plan begins, and ends (Fault, Name, Detail).
	// If it makes the clocks of a machine wrong, FaultStart names the machine: Client or Node.
	FaultStart
	FaultEnd

	// Step: a client has reached a named point of its work (Client, Name, K, Resource,
	// Token). A reply of a Node is such a point (Outcome). The checker uses only [BeforeSend],
	// [Queued] and [Woken].
	Step

	// End closes the history. Whatever is open then stays unknown. Without a
	// Reason the run ended by itself. With one it was cut short ("stopped:
	// context canceled", "no progress: …", "bound exceeded: …", or the error that ended it, in one
	// line). Then only violations are certain, because later events are missing.
	End

	// Leader: from now on Node leads the store of the nodes, without some of what
	// the last leader had acknowledged if Detail says so. Without a Node there is no leader.
	Leader
	// EntryGone: the store no longer has the entry of Token, though no client has
	// deleted it (Node: who leads; Reason:
	// [SessionOver], [Expired] or [Swept] because its TTL had passed, or [Forgotten] with the last
	// leader).
	EntryGone

	// Check and Checked: the holder asks the lock whether it still holds it, and the
	// answer (Client, Resource, Token). On a return Outcome OK: it does; Declined: it
	// does not, or is about to lose it (Reason).
	Check
	Checked

	// EntrySet: the store now has the entry of Token, for Resource (Client: whose try it is, which
	// sent the request at the time Sent or, if that is not known, began the try then; Reason:
	// [RolledBack] if a new leader brought it back).
	EntrySet
	// EntryDeleted: the store no longer has the entry of Token, because a client has deleted it, or
	// has made it that of another try (Resource; Client: who; 0: not known).
	EntryDeleted
	// EntriesSeen: every change of the store's entries, or of the keys of Node, from the time Since
	// to the time Sent has been recorded.
	EntriesSeen

	kindEnd
)

var kindNames = [kindEnd]string{
	Acquire: "acquire", Granted: "granted", Refused: "refused",
	Extend: "extend", Extended: "extended", ExtendFailed: "extend-failed",
	Expiring: "expiring", Lost: "lost", Lapse: "lapse",
	Release: "release", Released: "released",
	Read: "read", ReadDone: "read-done", Write: "write", WriteDone: "write-done", Apply: "apply",
	Pause: "pause", Resume: "resume", Kill: "kill", Cancel: "cancel",
	NodeDown: "node-down", NodeUp: "node-up", LinkDown: "link-down", LinkUp: "link-up",
	KeySet: "key-set", KeyExtended: "key-extended", KeyGone: "key-gone",
	FaultStart: "fault-start", FaultEnd: "fault-end",
	Step: "step", End: "end", Leader: "leader", EntryGone: "entry-gone",
	Check: "check", Checked: "checked",
	EntrySet: "entry-set", EntryDeleted: "entry-deleted", EntriesSeen: "entries-seen",
}

func (k Kind) String() string {
	if k == 0 || k >= kindEnd {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// MarshalText prints the kind by name.
func (k Kind) MarshalText() ([]byte, error) {
	if k == 0 || k >= kindEnd {
		return nil, fmt.Errorf("history: no event kind %d", uint8(k))
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText reads a kind by name.
func (k *Kind) UnmarshalText(text []byte) error {
	found, ok := kindsByName[string(text)]
	if !ok {
		return fmt.Errorf("unknown event kind %q", text)
	}
	*k = found
	return nil
}

var kindsByName = func() map[string]Kind {
	m := make(map[string]Kind, kindEnd)
	for k := Kind(1); k < kindEnd; k++ {
		m[kindNames[k]] = k
	}
	return m
}()

// Outcome is how an operation ended.
type Outcome uint8

// The outcomes. With Unknown either of the others is possible.
const (
	OK       Outcome = iota + 1 // it did what was asked
	Declined                    // it did not, and never will
	Unknown                     // it may have, or may still
)

func (o Outcome) String() string {
	switch o {
	case OK:
		return "ok"
	case Declined:
		return "declined"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// MarshalText prints the outcome by name; the zero value is empty.
func (o Outcome) MarshalText() ([]byte, error) {
	if o == 0 {
		return nil, nil
	}
	return []byte(o.String()), nil
}

// UnmarshalText reads an outcome by name.
func (o *Outcome) UnmarshalText(text []byte) error {
	for c := OK; c <= Unknown; c++ {
		if c.String() == string(text) {
			*o = c
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", text)
}

// Event is one line of a history. Only the fields that its [Kind] names have a
// meaning. Clients, nodes and faults are numbered from 1.
type Event struct {
	// Time is when it happened, on the ground clock. It never goes back.
	Time Time `json:"t"`
	// Kind is what happened.
	Kind Kind `json:"kind"`
	// Client is the client that did it, or to which it happened.
	Client int `json:"client,omitempty"`
	// Node is the node where it happened. Events of nodes, links and keys need it.
	Node int `json:"node,omitempty"`
	// Resource is the name of what the lock guards.
	Resource string `json:"resource,omitempty"`
	// Token is the name of one try to acquire, and of its hold. Tokens should be unique.
	Token string `json:"token,omitempty"`
	// TTL is the requested time to live.
	TTL time.Duration `json:"ttl,omitempty"`
	// Until is the end of validity, on the clock that the header names as until_clock. The origin of
	// a client's own clock is arbitrary.
	Until int64 `json:"until,omitempty"` // ns
	// Validity is the validity left at a grant, on that clock.
	Validity time.Duration `json:"validity,omitempty"`
	// Now is the reading of that clock after the last reply, just before the lock read it for
	// the validity check. 0: not known.
	Now int64 `json:"now,omitempty"` // ns
	// Ends is the time, on the ground clock, at which that clock reaches Until, or the clock of the
	// node ends the time to live of the key, if it runs on as it does at the event. 0: not known, or
	// never.
	Ends Time `json:"ends,omitempty"`
	// Fence is the fence of a grant, or the one that an access presents to the guarded resource.
	Fence uint64 `json:"fence,omitempty"`
	// Weight is the number of permits that a grant takes, up to the Capacity of the header. 0: all of
	// them, as an exclusive hold does.
	Weight int `json:"weight,omitempty"`
	// Value is the value that was read or written.
	Value int64 `json:"value,omitempty"`
	// Outcome is how the operation ended.
	Outcome Outcome `json:"outcome,omitempty"`
	// Sent is the time, on the ground clock, at which the request was sent that had this effect.
	Sent Time `json:"sent,omitempty"`
	// Since is the time, on the ground clock, at which it happened, if that became known only
	// later:
	// of a lapse whose until the lock declared after its clock had reached it. 0: at the time of
	// the
	// event.
	Since Time `json:"since,omitempty"`
	// Name is the name of a step or of another resource, or the kind of a fault.
	Name string `json:"name,omitempty"`
	// K is a count of requests, or the number of a reply.
	K int `json:"k,omitempty"`
	// Reason is the reason in words.
	Reason string `json:"reason,omitempty"`
	// Fault is the number of the fault in the plan. The effects of the fault's begin and end
	// have it too.
	Fault int `json:"fault,omitempty"`
	// Detail is additional information in words.
	Detail string `json:"detail,omitempty"`
}

// Sink receives the events of a history in the order of their times. It must neither keep the
// pointer nor change the event.
type Sink interface {
	Record(e *Event)
}

// Tee passes every event on to all sinks, in their order.
func Tee(sinks ...Sink) Sink { return tee(sinks) }

type tee []Sink

func (t tee) Record(e *Event) {
	for _, s := range t {
		s.Record(e)
	}
}

// Log is a sink that keeps every event in memory.
type Log []Event

// Record appends a copy of the event.
func (l *Log) Record(e *Event) { *l = append(*l, *e) }

// The Reasons of [KeyGone] and [EntryGone]. Worlds write these words, and the checker reads them.
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

// NoExpiry is the Detail of [KeySet] and [KeyExtended] if the key stays until somebody deletes it.
const NoExpiry = "without an expiry"

// NoAnswer begins the Reason of [Refused] and [Released] if a store did not answer the lock. The checker
// reads it where the store is a real one.
const NoAnswer = "no answer"

// SameRun ends the Detail of the [NodeUp] of a server that does not know that it was away, so that its
// clients do not notice either.
const SameRun = "in the same run"

// WithItsKeys is the Detail of the [NodeUp] of a server that has lost nothing.
const WithItsKeys = "with its keys"

// WithAllItsKeys is the Detail of the [NodeUp] of a node whose replica has taken over with everything.
const WithAllItsKeys = "as its replica, with all its keys"

// WithWhatItSynced is the Detail of the [NodeUp] of a member of a real store that has lost power. What
// that is depends on the store.
const WithWhatItSynced = "with what it had synced"

// The names of the steps that the checker uses. At BeforeSend the lock has read its clock, from
// which it counts the validity. Between Queued and Woken a try waits to be woken.
const (
	BeforeSend = "before-send"
	Queued     = "queued"
	Woken      = "woken"
)
