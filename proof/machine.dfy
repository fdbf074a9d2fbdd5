include "assumptions.dfy"
// The steps. A step of a node may follow the round that asked for it after any time, in any order, any number of
// times, or never: so requests are delayed, reordered, duplicated and lost, and clients pause anywhere. Replies are
// not modelled: a vote counts from the instant when the node casts it, before the client can know.

predicate Init(s: State) {
  s.key == map[] && s.past == {} && s.lost == map[] && s.token == map[] && s.rounds == map[] && s.done == {} && s.granted == {}
}

// acquire.go: tryLock. A retry is a new try.
predicate Begin(s: State, t: State, h: Try, a: Token) {
  h !in s.token && A2Fresh(s, a) && t == s.(token := s.token[h := a])
}
// acquire.go: acquire (SET); hold.go: extend. The TTL decides lease and keep, and may differ from round to round.
predicate Send(c: Config, s: State, t: State, i: Id, h: Try, read: real, lease: real, keep: real) {
  i !in s.rounds && h in s.token && A6Read(s, read) && A5(lease, keep) && A4Long(c, lease) &&
  t == s.(rounds := s.rounds[i := Round(h, read, lease, keep, {}, 0.0)])
}
// A round with one more vote, for a key that was first voted for at the instant `since`.
function Voted(r: Round, n: Node, since: real): Round {
  r.(votes := r.votes + {n}, newest := if r.votes == {} || since > r.newest then since else r.newest)
}
// A node stores a key.
function Store(s: State, n: Node, k: Key): State { s.(key := s.key[n := k], past := s.past + {Copy(n, k)}) }
// env.OpSet. counts: its yes will count, if it arrives (quarantine.go: weigh).
predicate Set(c: Config, s: State, t: State, i: Id, n: Node, expires: real, counts: bool) {
  i in s.rounds && s.rounds[i].try in s.token && A3Absent(s, n) && expires >= s.now + s.rounds[i].keep && (counts ==> A4Quiet(c, s, n)) &&
  var k := Key(s.token[s.rounds[i].try], expires, counts, s.now);
  t == if counts then Store(s, n, k).(rounds := s.rounds[i := Voted(s.rounds[i], n, s.now)]) else Store(s, n, k)
}
// env.OpExtend.
predicate Extend(c: Config, s: State, t: State, i: Id, n: Node, expires: real, counts: bool) {
  i in s.rounds && n in s.key && A3Own(s, s.rounds[i].try, s.key[n]) && A3Longer(s.key[n], expires) &&
  expires >= s.now + s.rounds[i].keep && (counts ==> A4Extends(c, s, n, s.key[n])) &&
  var k := s.key[n].(expires := expires, voted := s.key[n].voted || counts, since := if s.key[n].voted then s.key[n].since else s.now);
  t == if counts then Store(s, n, k).(rounds := s.rounds[i := Voted(s.rounds[i], n, k.since)]) else Store(s, n, k)
}
function Without(m: map<Node, Key>, n: Node): map<Node, Key> { map k | k in m && k != n :: m[k] }
// A node drops a key.
predicate Drop(s: State, t: State, n: Node) { n in s.key && A3Expired(s, s.key[n]) && t == s.(key := Without(s.key, n)) }
// acquire.go: check, then StepGranted; hold.go: finishExtend.
predicate Grant(c: Config, s: State, t: State, i: Id) {
  i in s.rounds && HasQuorum(c, s.rounds[i].votes) && s.rounds[i].try !in s.done && A6Check(s, s.rounds[i]) &&
  t == s.(granted := s.granted + {i})
}
// cleanup.go: markReleased, or a try that fails: cleanUp. From here on deletes may arrive.
predicate GiveUp(s: State, t: State, h: Try) { h in s.token && t == s.(done := s.done + {h}) }
// env.OpDelete. A delete that finds no such key changes nothing.
predicate Delete(s: State, t: State, h: Try, n: Node) {
  h in s.token && n in s.key && A2GivenUp(s, h) && A2Compares(s, h, s.key[n]) && t == s.(key := Without(s.key, n))
}
function Elsewhere(past: set<Copy>, n: Node): set<Copy> { set p | p in past && p.node != n }
// A node loses data that it had acknowledged, and all it has then is p, an older copy. With `appendfsync always` there is
// no such step; with everysec p is at most a second older; without a file there is nothing left (Empty).
predicate Revert(s: State, t: State, p: Copy) {
  A4Own(s, p) && t == s.(key := s.key[p.node := p.key], past := Elsewhere(s.past, p.node) + {p}, lost := s.lost[p.node := s.now])
}
predicate Empty(s: State, t: State, n: Node) {
  t == s.(key := Without(s.key, n), past := Elsewhere(s.past, n), lost := s.lost[n := s.now])
}
predicate Tick(s: State, t: State, d: real) { d > 0.0 && t == s.(now := s.now + d) }

predicate Next(c: Config, s: State, t: State) {
  || (exists h, a :: Begin(s, t, h, a))
  || (exists i, h, r, l, k :: Send(c, s, t, i, h, r, l, k))
  || (exists i, n, e, v :: Set(c, s, t, i, n, e, v))
  || (exists i, n, e, v :: Extend(c, s, t, i, n, e, v))
  || (exists n :: Drop(s, t, n))
  || (exists i :: Grant(c, s, t, i))
  || (exists h :: GiveUp(s, t, h))
  || (exists h, n :: Delete(s, t, h, n))
  || (exists p :: Revert(s, t, p))
  || (exists n :: Empty(s, t, n))
  || (exists d :: Tick(s, t, d))
}
