package env

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// StoreOp is what a request asks of a [Store].
type StoreOp uint8

// The operations. Each takes effect at one instant, or not at all.
const (
	// StoreOpen opens a session, which lasts until TTL has passed without a
	// StoreKeep, as the store's leader counts time; the reply names it. A
	// leader that has just been elected counts anew. Kind says if the session
	// ends in another way.
	StoreOpen StoreOp = iota + 1
	// StoreKeep is a heartbeat of Session: declined if that is over.
	StoreKeep
	// StoreClose ends Session and deletes its entries, at once.
	StoreClose

	// StoreCreate creates the entry Key with Value and replies with it, unless
	// there is one (declined, with the one that is there). With Sequential the
	// store puts a number behind the key that is above all before, so that there
	// is none. An entry of a Session is deleted when that ends; declined if it is
	// over, with or without the entry that is there.
	//
	// An entry with a TTL is a row, which stays until it is deleted or swept. With
	// Expires it is deleted as soon as the TTL has passed since its creation or its
	// last StoreRenew, as the store's leader counts time. The simulated store counts on
	// the monotonic clock of the leader's machine, like a session, and a leader that has
	// just been elected counts anew.
	StoreCreate
	// StoreDelete deletes the entry Key if its revision is Revision; 0: whatever
	// its revision. Declined if there is none. Entries of connections are deleted by
	// their Session only.
	StoreDelete
	// StoreList replies with the entries whose keys begin with Key, in the order
	// of their revisions.
	StoreList
	// StoreAwait replies when no entry Key has that Revision: at once, if none has.
	// So it replies when the entry is deleted, and when a StoreRenew or StoreUpdate changes its
	// revision.
	StoreAwait
	// StoreSweep deletes the rows whose keys begin with Key and whose TTL has
	// passed since they were created, by the wall clock of the leader's machine.
	StoreSweep

	// StoreRenew lets the entry Key, which has Expires and whose revision is Revision, live
	// for TTL from now on. It never shortens a life, which goes on if it would end later. A
	// store with one time to live for all keys begins that anew, if it is no shorter than
	// TTL; otherwise it cannot carry out the request. The reply has the entry, whose revision
	// is a new one if the product gives it one; the former one then names no entry any more.
	// Declined if there is no such entry: it has another revision, or has expired.
	StoreRenew

	// StoreUpdate replaces the value of the entry Key by Value if its revision is Revision: a
	// compare-and-swap. The reply has the entry, whose revision is a new one; the former one then
	// names no entry any more. A session and a time to live stay as they are, except that a store
	// with one time to live for all keys begins that anew. Declined if the entry has another
	// revision, with the entry that is there, or if there is none.
	StoreUpdate

	storeOpEnd
)

var storeOpNames = [storeOpEnd]string{
	StoreOpen: "open", StoreKeep: "keep", StoreClose: "close",
	StoreCreate: "create", StoreDelete: "delete", StoreList: "list", StoreAwait: "await", StoreSweep: "sweep",
	StoreRenew: "renew", StoreUpdate: "update",
}

func (o StoreOp) String() string {
	if o == 0 || o >= storeOpEnd {
		return fmt.Sprintf("StoreOp(%d)", uint8(o))
	}
	return storeOpNames[o]
}

// SessionKind is what keeps a session of a [Store] alive.
type SessionKind uint8

// The kinds of sessions.
const (
	// SessionLease lasts as long as the client sends a StoreKeep in time.
	SessionLease SessionKind = iota
	// SessionConnection is the connection to the leader over which it was opened.
	// The client's machine keeps it alive, also while the program stands still.
	// It ends when the machine has not answered for TTL, when the program ends,
	// when a request of it has failed, and with the leader. Its entries are in the
	// leader's memory: they cannot be listed and have no fence.
	SessionConnection
	// SessionTransaction is a SessionConnection that also ends when it has not
	// had a request for TTL, as the leader counts time.
	SessionTransaction
)

func (k SessionKind) String() string {
	switch k {
	case SessionConnection:
		return "connection"
	case SessionTransaction:
		return "transaction"
	}
	return "lease"
}

// StoreRequest is one request to a [Store].
type StoreRequest struct {
	Op         StoreOp
	Key        string
	Value      string
	Session    uint64        // 0: none
	Kind       SessionKind   // of Session, and of what StoreOpen opens
	TTL        time.Duration // of StoreOpen and StoreRenew, and of StoreCreate without a session
	Revision   uint64        // of StoreDelete, StoreAwait, StoreRenew and StoreUpdate
	Sequential bool          // of StoreCreate
	Expires    bool          // of StoreCreate with a TTL: the store deletes the entry when that has passed

	// Serializable, of StoreList: the node that is asked replies from the state that it has, which
	// may be an old one.
	Serializable bool

	// Delay, of StoreCreate with a session, is a lock-delay: if the session ends
	// by time, and not by StoreClose, the key cannot be created again for so
	// long.
	Delay time.Duration
}

// Entry is what a store keeps under a key.
type Entry struct {
	Key     string
	Value   string
	Session uint64
	// Revision numbers the changes of the whole store: that of an entry is the
	// one which created it, or which renewed or updated it last.
	Revision uint64
}

// Token returns the token of the try that the entry is of: its value up to the first space. An
// update can leave an entry to another try, or to none.
func (e Entry) Token() string { return EntryToken(e.Value) }

// EntryToken returns the token in the value of an entry: see [Entry.Token].
func EntryToken(value string) string {
	token, _, _ := strings.Cut(value, " ")
	return token
}

// StoreReply is what a store made of a request.
type StoreReply struct {
	Done    bool    // false: it was declined, and nothing has changed
	Session uint64  // of StoreOpen
	Entries []Entry // of StoreCreate, StoreRenew and StoreUpdate the one, of StoreList all
}

// Store is a linearizable store that several machines replicate, as one client
// sees it: requests take effect one after another, each between its call and
// its return, but for serializable reads.
type Store interface {
	// Ask hands the request to the store and waits for the reply until the
	// instant until on the client's monotonic clock. After any error the request
	// may have taken effect, may later, or never: [ErrTimeout], [ErrStoreLost], or
	// the error of ctx. After [ErrNoLeader] alone it has not and will not.
	Ask(ctx context.Context, r StoreRequest, until Instant) (StoreReply, error)
}

// ErrStoreLost is the error of a request whose connection broke, or whose leader
// was lost, before the reply; also of a wait.
var ErrStoreLost = errors.New("the store has not replied, and will not")

// ErrNoLeader is the error of a request that the store refused, because it has no
// leader at the moment, or because the node that was asked is down. The next
// request goes to another node.
var ErrNoLeader = errors.New("the store has no leader")

// Access says who touches the guarded resource.
type Access struct {
	Resource string
	Token    string // of the grant under which the client acts
	Fence    uint64 // 0: none
}

// Register is the resource that a lock guards: a register that can be read and
// written, and, beside it, a linearizable counter that hands out fences. A
// resource that checks fences refuses an access whose fence is lower than one
// it has seen; one that checks tokens refuses a write unless the last read was
// made under the same token.
type Register interface {
	// Read returns the value. The error is [ErrFenced] when the resource
	// refused; any other error leaves open what happened.
	Read(ctx context.Context, a Access) (int64, error)

	// Write stores the value. The error is [ErrFenced] when the resource
	// refused; after any other error the write may have been applied, or may
	// be later.
	Write(ctx context.Context, a Access, value int64) error

	// Fence draws the next fence of the resource, a number above all that
	// were drawn before.
	Fence(ctx context.Context, resource string) (uint64, error)
}

// ErrFenced is the error of an access that the guarded resource refused
// because it has seen another: one with a higher fence, or a read under another
// token.
var ErrFenced = errors.New("refused: the resource has seen a higher fence, or been read under another token")
