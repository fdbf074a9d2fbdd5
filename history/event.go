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

// String prints the time since the begin of the run, as in "1.204s".
func (t Time) String() string { return time.Duration(t).String() }

// Kind is what an event tells.
type Kind uint8

// The kinds of events. Those of clients come in pairs of a call and its
// return; a call that never returns has an unknown outcome.
const (
	// Acquire: a client begins one try to acquire (Client, Resource, Token, TTL).
	// Token is new with each try, and names the hold from then on.
	Acquire Kind = iota + 1
	// Granted: the try returned with the lock (Client, Resource, Token, TTL, Until,
	// Validity, Now, Fence). Without an Until nothing but a release ends the hold. On all
	// returns of the lock's own calls K is the number of requests that the client has
	// sent since the last.
	Granted
	// Refused: the try returned without it (Client, Resource, Token, Reason, K).
	Refused

	// Extend: the holder asks for a new end of validity (Client, Resource, Token, TTL,
	// Until).
	Extend
	// Extended: it was granted (Client, Resource, Token, TTL, Until, Validity, Now, K).
	Extended
	// ExtendFailed: it was not (Client, Resource, Token, TTL, Until, Reason, K).
	ExtendFailed

	// Expiring: the holder was told that its validity is about to end (Client,
	// Resource, Token, Reason).
	Expiring
	// Lost: the holder was told that it holds the lock no more (Client, Resource,
	// Token, Reason).
	Lost
	// Lapse: the clock that the lock reads has come to Until (Client, Resource, Token,
	// Since). Written by the world, which owns the clocks.
	Lapse

	// Release: the holder calls release (Client, Resource, Token).
	Release
	// Released: release returned (Client, Resource, Token, Reason, K). Outcome OK:
	// the lock was still held; Declined: it was not; Unknown: nobody could tell.
	Released

	// Read and ReadDone, Write and WriteDone: accesses to the guarded resource and
	// their returns (Client, Resource, Token, Value, Fence). On a return Outcome
	// Declined: it refused the access; Unknown: nobody could tell (Reason).
	Read
	ReadDone
	Write
	WriteDone
	// Apply: the guarded resource took a write (Client, Resource, Token, Value, Fence).
	Apply

	// Pause and Resume: the client stands still in between (Client); so does, on real
	// servers, one at whose step a server is started, until that is up.
	Pause
	Resume
	// Kill: the client is gone for good (Client).
	Kill
	// Cancel: the context of the call that the client has under way has ended (Client).
	Cancel

	// NodeDown and NodeUp: the node's server is not running in between (Node); it
	// comes back with or without its keys (Detail).
	NodeDown
	NodeUp
	// LinkDown and LinkUp: in between, Client cannot count on a round trip
	// to Node.
	LinkDown
	LinkUp

	// KeySet: Node now holds Token under Resource, until its own expiry
	// (Client: who set it, by a request of the time Sent; 0: a rollback brought
	// it back).
	KeySet
	// KeyExtended: Node now keeps Token under Resource for longer, or, if it was
	// not the holder who asked for it, until another time than before (Client:
	// who asked).
	KeyExtended
	// KeyGone: it does so no more (Node, Resource, Token, Reason: [Deleted],
	// [Overwritten], [Expired], [Evicted], [Forgotten] over a restart, or
	// [RolledBack] to an earlier state, which may bring other keys back; Client: who
	// deleted or overwrote it).
	KeyGone

	// FaultStart and FaultEnd: a fault of the plan begins, and ends (Fault, Name, Detail).
	// Of one that makes the clocks of a machine wrong the begin says whose: Client or Node.
	FaultStart
	FaultEnd

	// Step: a client has come to a named point of its work (Client, Name, K, Resource,
	// Token); a reply of a Node is such a point (Outcome). Judges hear of [BeforeSend],
	// [Queued] and [Woken] alone.
	Step

	// End closes the history; what is open then stays unknown. Without a
	// Reason the run ended by itself. With one it was cut short ("stopped:
	// context canceled", "no progress: …", "bound exceeded: …", or the error that ended it, in one
	// line): only violations can be told from it, for what had not come yet
	// says nothing.
	End

	// Leader: Node leads the store of the nodes from now on, without some of what
	// the last leader had acknowledged, if Detail says so; without a Node, none does.
	Leader
	// EntryGone: the store keeps the entry of Token no more, though no client has
	// deleted it (Node: who leads; Reason:
	// [SessionOver], [Swept], because its time had passed, or [Forgotten] with the last
	// leader).
	EntryGone

	// Check and Checked: the holder asks the lock whether it still holds it, and the
	// answer (Client, Resource, Token). On a return Outcome OK: it does; Declined: it
	// does not, or is about to lose it (Reason).
	Check
	Checked

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

// The outcomes. Unknown is neither of the others and may be either.
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

// Event is one line of a history. Only the fields that its [Kind] names say
// anything; clients, nodes and faults are numbered from 1.
type Event struct {
	// Time is when it happened, on the ground clock. It never goes back.
	Time Time `json:"t"`
	// Kind is what happened.
	Kind Kind `json:"kind"`
	// Client is who did it, or whom it was done to.
	Client int `json:"client,omitempty"`
	// Node is where it happened.
	Node int `json:"node,omitempty"`
	// Resource is the name of what the lock guards.
	Resource string `json:"resource,omitempty"`
	// Token is the name of one try to acquire, and of the hold that it brought. No two
	// should have the same.
	Token string `json:"token,omitempty"`
	// TTL is the time to live that was asked for.
	TTL time.Duration `json:"ttl,omitempty"`
	// Until is the end of validity, on the clock of the client that the lock reads,
	// wherever that counts from.
	Until int64 `json:"until,omitempty"` // ns
	// Validity is how much of it was left at a grant, on that clock.
	Validity time.Duration `json:"validity,omitempty"`
	// Now is what that clock showed behind the last reply, just before the lock read it for
	// the validity check. 0: not known.
	Now int64 `json:"now,omitempty"` // ns
	// Fence is the number that grants bear, or an access shows to the guarded resource.
	Fence uint64 `json:"fence,omitempty"`
	// Value is what was read or written.
	Value int64 `json:"value,omitempty"`
	// Outcome is how the operation ended.
	Outcome Outcome `json:"outcome,omitempty"`
	// Sent is when the request was sent that this is the work of, on the ground clock.
	Sent Time `json:"sent,omitempty"`
	// Since is when it was, on the ground clock, if it could be told only later: of a lapse
	// whose until the lock named when its clock had come to it. 0: at the time of the event.
	Since Time `json:"since,omitempty"`
	// Name is the name of a step, or the kind of a fault.
	Name string `json:"name,omitempty"`
	// K is a number that counts, of requests or of replies.
	K int `json:"k,omitempty"`
	// Reason is why, in words.
	Reason string `json:"reason,omitempty"`
	// Fault is the number of the fault in the plan; whatever a fault brings about when
	// it begins or ends bears it too.
	Fault int `json:"fault,omitempty"`
	// Detail is what there is to say beside it, in words.
	Detail string `json:"detail,omitempty"`
}

// Sink takes the events of a history as they come, in the order of their
// time. It must not keep the pointer, nor change the event.
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
