include "state.dfy"
// The assumptions, each named here and nowhere else. Guards of machine.dfy and fences.dfy refer to them; scripts/proof.sh replaces one
// body after another by `true`, and the lemma that controls.txt names must then fail.

// A1 Quorums. All clients use quorums of which any two share a node. (env.Quorum; quorums.dfy proves it for majorities.)
predicate A1(c: Config) { forall q, r :: q in c.quorums && r in c.quorums ==> exists n :: n in q && n in r }

// A2 Tokens. No two tries have the same token. (acquire.go: newToken)
predicate A2Fresh(s: State, a: Token) { forall h :: h in s.token ==> s.token[h] != a }
// A2. A client asks to delete only the token of a try that it has given up. (cleanup.go: markReleased, cleanUp)
predicate A2GivenUp(s: State, h: Try) { h in s.done }
// A2. A node deletes only a key that has the token which the request names. (env.OpDelete)
predicate A2Compares(s: State, h: Try, k: Key) { h in s.token ==> k.token == s.token[h] }

// A3 Memory. A node is one server that sets a key only if there is none (SET NX),
predicate A3Absent(s: State, n: Node) { n !in s.key }
// A3. while it runs, drops a key only when it has expired: no eviction, no FLUSHALL, no second master,
predicate A3Expired(s: State, k: Key) { k.expires <= s.now }
// A3. extends only a key that has the token of the request and has not expired (env.OpExtend),
predicate A3Own(s: State, h: Try, k: Key) { h in s.token ==> k.token == s.token[h] && k.expires > s.now }
// A3. and never shortens the life of a key.
predicate A3Longer(k: Key, expires: real) { expires >= k.expires }

// A4 Restarts. A node that has lost data casts no vote that counts until every lease is over that it may have voted
// for: it stays away (restart delay), or clients do not count its votes (quarantine.go; quarantine.dfy). In true time.
predicate A4Quiet(c: Config, s: State, n: Node) { n in s.lost ==> s.lost[n] + c.quiet <= s.now }
// A4. That time is no shorter than any lease.
predicate A4Long(c: Config, lease: real) { lease <= c.quiet }
// A4. A yes to an extension counts from a node that may vote, or whose key has been voted for. (weighExtension)
predicate A4Extends(c: Config, s: State, n: Node, k: Key) { (n in s.lost ==> s.lost[n] + c.quiet <= s.now) || k.voted }
// A4. A file brings back only what the node has had since it last lost data: having lost a key, it stays lost.
predicate A4Own(s: State, p: Copy) { p in s.past }

// A5 Clocks. A client relies on a round for no longer than each node keeps the key: the allowance covers the rates
// and steps of the clocks. (config.go: Allowance; clocks.dfy derives it.)
predicate A5(lease: real, keep: real) { lease <= keep }

// A6 Order. The client reads its clock for the validity before it sends the first request, and
predicate A6Read(s: State, read: real) { read <= s.now }
// A6. looks at its clock again before it uses the lock. (acquire.go: validUntil, check)
predicate A6Check(s: State, r: Round) { s.now < Ends(r) }

// F1, for fences: no node forgets a counter. (fence.go)
predicate F1(before: nat, after: nat) { before <= after }
// F2, for effects: the guarded resource rejects reads and writes with a fence lower than the highest it has seen. (guard/guard.go: admit)
predicate F2Reads(highest: nat, fence: nat) { highest <= fence }
predicate F2Writes(highest: nat, fence: nat) { highest <= fence }
