// The state of the lock in true time: what nodes store and what clients have begun. Any number of nodes, tries,
// rounds. Times are in any one unit.
type Token(==,!new) // the value of a key
type Try(==,!new)   // redlock/acquire.go: attempt; a try to acquire and, if it is granted, its hold
type Id(==,!new)    // of a round: redlock/acquire.go: round; one SET or one extension, sent to all nodes
type Node = int     // env.Reply.Node

// Which sets of nodes hold the lock, and for how long the vote of a node that has lost data does not count.
datatype Config = Config(quorums: iset<set<Node>>, quiet: real)

// A key. voted: a vote for it has counted, since the instant `since` (ghost: nobody stores it).
datatype Key = Key(token: Token, expires: real, voted: bool, since: real)
// A key that a node has, or has had since it last lost data: what a file on its disk may bring back.
datatype Copy = Copy(node: Node, key: Key)

// A round. read: when the client read its clock for the validity. lease: for how long after that the client may rely
// on the round, at most. keep: for how long a node keeps a key after it carried out the round, at least. votes: the
// nodes whose yes counts, whether the client knows it yet or not. newest: the latest
// instant since which the key of one of these votes had been voted for; without votes it says nothing.
datatype Round = Round(try: Try, read: real, lease: real, keep: real, votes: set<Node>, newest: real)

// lost: when a node last lost data. done: tries that were given up: released, or failed. granted: rounds whose
// success the client has seen.
datatype State = State(now: real, key: map<Node, Key>, past: set<Copy>, lost: map<Node, real>,
  token: map<Try, Token>, rounds: map<Id, Round>, done: set<Try>, granted: set<Id>)

// The instant until which a client may rely on a round.
function Ends(r: Round): real { r.read + r.lease }

// A round is live while its client may rely on it.
predicate Live(s: State, i: Id) { i in s.rounds && s.rounds[i].try !in s.done && s.now < Ends(s.rounds[i]) }

predicate HasQuorum(c: Config, votes: set<Node>) { exists q :: q in c.quorums && q <= votes }

// A try holds the lock, at most, while a live round of it has a quorum of votes. A client learns this later, or never.
predicate Holds(c: Config, s: State, i: Id) { Live(s, i) && HasQuorum(c, s.rounds[i].votes) }
