package env

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// MaxNodes is the largest number of nodes that a [NodeSet] can hold.
const MaxNodes = 64

// NodeSet is a set of nodes, which are numbered from 1 to [MaxNodes].
type NodeSet uint64

// AllNodes returns the set {1, …, n}.
func AllNodes(n int) NodeSet { return NodeSet(1)<<n - 1 }

// SetOf returns the set of the given nodes.
func SetOf(nodes ...int) NodeSet {
	var s NodeSet
	for _, n := range nodes {
		s = s.With(n)
	}
	return s
}

// With returns the set with node n added.
func (s NodeSet) With(n int) NodeSet { return s | 1<<(n-1) }

// Without returns the set with node n taken away.
func (s NodeSet) Without(n int) NodeSet { return s &^ (1 << (n - 1)) }

// Has reports whether node n is in the set.
func (s NodeSet) Has(n int) bool { return s&(1<<(n-1)) != 0 }

// Len returns the number of nodes in the set.
func (s NodeSet) Len() int { return bits.OnesCount64(uint64(s)) }

// First returns the lowest node of the set, or 0 when it is empty.
func (s NodeSet) First() int {
	if s == 0 {
		return 0
	}
	return bits.TrailingZeros64(uint64(s)) + 1
}

// List returns the nodes of the set, the lowest first.
func (s NodeSet) List() []int {
	list := make([]int, 0, s.Len())
	for ; s != 0; s = s.Without(s.First()) {
		list = append(list, s.First())
	}
	return list
}

// Op is what a command asks of a node.
type Op uint8

// The operations. Each is atomic on its node.
const (
	// OpSet is SET key token NX PX ttl: it creates the key if it is absent.
	OpSet Op = iota + 1
	// OpDelete deletes the key if it holds the token.
	OpDelete
	// OpExtend raises the key's remaining life to ttl if the key holds the
	// token; it never creates a key and never shortens a life.
	OpExtend
	// OpCount reads the counter under the key, 0 if there is none: Yes, and
	// the counter.
	OpCount
	// OpRaise sets the counter under the key to the command's, and answers
	// Yes, if it was lower; No if not. The reply tells what it is now. A
	// counter has no time to live.
	OpRaise
	// OpVouch notes on the node that its run Token has been watched for TTL.
	// Of another run than the node's own the note says nothing.
	OpVouch

	// The following commands are for locks that exist to be compared. They ignore whose key it is.

	// OpGet is GET key: Yes with the token that it holds, No if there is none.
	OpGet
	// OpPut is SET key token: it overwrites whatever there is, and the key does
	// not expire.
	OpPut
	// OpAdd is SETNX key token: it creates the key if it is absent, and the key
	// does not expire.
	OpAdd
	// OpExpire is PEXPIRE key ttl: sets the remaining time to live of the key, whoever set it, even
	// to less than before. No if there is no key.
	OpExpire
	// OpRemove is DEL key, whoever set it. No if there is no key.
	OpRemove
	// OpIncrement is INCR key: it raises the counter under the key, 0 if there
	// is none, by one: Yes, and what it is now.
	OpIncrement

	opEnd
)

// Ops are all operations: an array over them has a place for each, and one for
// none.
const Ops = int(opEnd)

var opNames = [Ops]string{
	OpSet: "set", OpDelete: "delete", OpExtend: "extend", OpCount: "count", OpRaise: "raise", OpVouch: "vouch",
	OpGet: "get", OpPut: "put", OpAdd: "add", OpExpire: "expire", OpRemove: "remove", OpIncrement: "increment",
}

func (o Op) String() string {
	if o == 0 || o >= opEnd {
		return fmt.Sprintf("Op(%d)", uint8(o))
	}
	return opNames[o]
}

// Command is one request to a node.
type Command struct {
	Op    Op
	Key   string
	Token string        // where a node does nothing with it, as of OpCount and OpRaise: for whom it is asked
	TTL   time.Duration // of OpSet, OpExtend, OpVouch and OpExpire; whole milliseconds, at least 1 ms
	Count uint64        // of OpRaise; below 2^53, up to which a script of Redis counts exactly

	// Vouched, of OpSet and OpExtend, asks in which run of the node the command was carried
	// out, and whether somebody has vouched for that run after watching it for
	// so long. 0 asks for neither.
	Vouched time.Duration

	// Native, of OpDelete and OpExtend, allows the node to use its own conditional command in place
	// of a script. That of OpExtend, SET key token IFEQ token PX ttl, sets the remaining life even to
	// less than before, so the caller guarantees that no request for this token has, or will ever
	// have, a longer TTL than this one.
	Native bool
}

// Answer is what became of one request.
type Answer uint8

const (
	// Yes says that the node did it.
	Yes Answer = iota + 1
	// No says that the node declined, because of the key that it holds or lacks.
	No
	// Failed says that the command took no effect, and never will: the node answered with
	// an error, or it was never sent.
	Failed
	// Lost says that there is no answer. The command may have taken effect, may take
	// effect later, or never.
	Lost
)

func (a Answer) String() string {
	switch a {
	case Yes:
		return "yes"
	case No:
		return "no"
	case Failed:
		return "failed"
	case Lost:
		return "lost"
	}
	return fmt.Sprintf("Answer(%d)", uint8(a))
}

// Reply is what one node made of one request.
type Reply struct {
	Node   int
	Answer Answer
	Err    error // why, when the answer is Failed or Lost

	Count uint64 // the counter, of OpCount, OpRaise and OpIncrement
	Token string // that the key holds, of OpGet

	// Run names the run of the node, from one start of its server to the next,
	// in which the command was carried out; Vouched says whether somebody has
	// vouched for it. Both only where [Command.Vouched] asked.
	Run     string
	Vouched bool
}

// Nodes are the independent nodes of a quorum lock, as one client sees them.
type Nodes interface {
	// Len returns the number of nodes, at most [MaxNodes].
	Len() int

	// Send hands cmd to every node of the set at once and does not wait.
	// giveUp is the instant on the client's monotonic clock at which the
	// transport abandons the requests that are still unanswered: they are
	// then reported as [Lost], yet may still reach their nodes, or as [Failed] if they
	// never will.
	Send(to NodeSet, cmd Command, giveUp Instant) Round
}

// Round is the replies to one [Nodes.Send]. It is a value that can be passed
// on, from the caller who has seen a quorum to a task that drains the rest,
// but only one of them may use it at a time.
type Round interface {
	// Next returns the next reply. It waits until the instant until on the
	// client's monotonic clock, and then returns [ErrTimeout]; it returns the
	// error of ctx as soon as ctx ends, and [ErrRoundOver] when every node
	// has been reported. A reply that is already there goes before all three.
	Next(ctx context.Context, until Instant) (Reply, error)
}

// Receiver takes the replies of a round that is drained.
type Receiver interface {
	// Receive takes a reply. It must not wait for anything.
	Receive(Reply)
}

// Drain passes every further reply to a round on as it arrives, and returns when every node has
// been reported. A round that has a method Drain(to Receiver) does that itself: the simulator's
// calls the receiver without switching to the stack of the caller.
func Drain(r Round, to Receiver) {
	if self, can := r.(interface{ Drain(to Receiver) }); can {
		self.Drain(to)
		return
	}
	for {
		reply, err := r.Next(context.Background(), Never)
		if err != nil {
			return
		}
		to.Receive(reply)
	}
}

// Quorum says which sets of nodes hold a lock: those that have more than half of
// the votes. Any two of them have a node in common. The zero value is the majority
// of however many nodes there are, see [Quorum.Among].
type Quorum struct {
	// Voters are the nodes that have a vote. None stands for all.
	Voters NodeSet

	// Weights is how many votes each node has, node 1 first: from 1 to [MaxWeight]
	// where it is a voter, otherwise 0. Nil: voters have one each.
	Weights []int
}

// MaxWeight is the most votes that one node can have.
const MaxWeight = 1_000_000

// Majority returns the quorum that more than half of n nodes are, which are all
// alike.
func Majority(n int) Quorum { return Quorum{Voters: AllNodes(n)} }

// Among returns the quorum as it is where there are n nodes: with all of them as
// voters, if it names none.
func (q Quorum) Among(n int) Quorum {
	if q.Voters == 0 {
		q.Voters = AllNodes(n)
	}
	return q
}

// Validate returns an error if there can be no such quorum among n nodes, which are
// at most [MaxNodes].
func (q Quorum) Validate(n int) error {
	q = q.Among(n)
	switch {
	case q.Voters&^AllNodes(n) != 0:
		return fmt.Errorf("node %d is to vote, of %d nodes", (q.Voters &^ AllNodes(n)).First(), n)
	case q.Weights != nil && len(q.Weights) != n:
		return fmt.Errorf("%d weights of %d nodes", len(q.Weights), n)
	}
	for i, w := range q.Weights {
		switch votes := q.Voters.Has(i + 1); {
		case votes && (w < 1 || w > MaxWeight):
			return fmt.Errorf("node %d has %d votes: want 1 to %d", i+1, w, MaxWeight)
		case !votes && w != 0:
			return fmt.Errorf("node %d has %d votes, and is not to vote", i+1, w)
		}
	}
	return nil
}

// Has reports whether the set is a quorum, or has one in it.
func (q Quorum) Has(s NodeSet) bool { return 2*q.votes(s) > q.votes(q.Voters) }

// votes counts those of a set.
func (q Quorum) votes(s NodeSet) int {
	s &= q.Voters
	if q.Weights == nil {
		return s.Len()
	}
	sum := 0
	for ; s != 0; s = s.Without(s.First()) {
		sum += q.Weight(s.First())
	}
	return sum
}

// Weight returns how many votes a voter has.
func (q Quorum) Weight(node int) int {
	if q.Weights == nil {
		return 1
	}
	return q.Weights[node-1]
}

// Bare returns a smallest quorum: of the heaviest nodes and, where they weigh the
// same, of the lowest numbers. Without any one of its nodes it is none.
func (q Quorum) Bare() NodeSet {
	heaviest := q.Voters.List()
	slices.SortStableFunc(heaviest, func(a, b int) int { return cmp.Compare(q.Weight(b), q.Weight(a)) })
	var bare NodeSet
	for _, node := range heaviest {
		if q.Has(bare) {
			break
		}
		bare = bare.With(node)
	}
	return bare
}
