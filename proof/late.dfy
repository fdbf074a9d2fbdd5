include "exclusion.dfy"
// A late extension, one that succeeds when the hold before it may have ended: if the votes rest on keys that were voted
// for before some instant, nobody else held the lock at that instant, so one hold went on. (hold.go counts replies
// only while the hold before is valid, and needs no more than V1; a lock that counts later ones needs this.)

// In t, after s: whatever may vote on node n for another try than x was first voted for since s.
predicate Fresh(s: State, t: State, n: Node, x: Try) {
  x in t.token && s.now <= t.now &&
  (forall p :: p in t.past && p.node == n && p.key.voted && Alive(t, p.key) && p.key.token != t.token[x] ==> p.key.since >= s.now) &&
  (forall i :: Live(t, i) && n in t.rounds[i].votes && t.rounds[i].try != x ==> t.rounds[i].newest >= s.now)
}
lemma FreshAtFirst(c: Config, s: State, n: Node, j: Id)
  requires Inv(c, s) && Live(s, j) && n in s.rounds[j].votes
  ensures Fresh(s, s, n, s.rounds[j].try)
{
  var x := s.rounds[j].try;
  forall p | p in s.past && p.node == n && p.key.voted && Alive(s, p.key) && p.key.token != s.token[x] ensures false {
    assert p.key.token == TokenOf(s, j);
  }
}
lemma FreshStays(c: Config, s: State, t: State, u: State, n: Node, x: Try)
  requires Inv(c, t) && Next(c, t, u) && Fresh(s, t, n, x)
  ensures Fresh(s, u, n, x)
{
  assert forall i :: Live(u, i) && i in t.rounds ==> Live(t, i);
  assert forall k :: Alive(u, k) ==> Alive(t, k);
  if i, m, e, v :| Extend(c, t, u, i, m, e, v) {
    var before := Copy(m, t.key[m]);
    assert before in t.past;
    assert Alive(u, u.key[m]) ==> Alive(t, before.key);
    if v && Live(t, i) { NotGivenUp(c, t, i); assert Alive(t, before.key); }
  }
}
lemma FreshAlong(c: Config, run: seq<State>, a: nat, b: nat, n: Node, j: Id)
  requires Run(c, run) && a <= b < |run| && Live(run[a], j) && n in run[a].rounds[j].votes
  ensures Fresh(run[a], run[b], n, run[a].rounds[j].try)
{
  if a == b { Always(c, run, a); FreshAtFirst(c, run[a], n, j); } else {
    FreshAlong(c, run, a, b - 1, n, j);
    Always(c, run, b - 1);
    FreshStays(c, run[a], run[b - 1], run[b], n, run[a].rounds[j].try);
  }
}
// All votes of a round rest on keys that were voted for before an instant.
predicate RestsBefore(r: Round, instant: real) { r.newest < instant }
// A round that is granted holds the lock (GrantedWhileLive). If its votes rest on keys from before an instant, then no other
// try held the lock at that instant.
lemma LateExtension(c: Config, run: seq<State>, a: nat, b: nat, i: Id)
  requires A1(c) && Run(c, run) && a <= b < |run|
  requires Holds(c, run[b], i) && RestsBefore(run[b].rounds[i], run[a].now)
  ensures forall j :: Holds(c, run[a], j) ==> run[a].rounds[j].try == run[b].rounds[i].try
{
  forall j | Holds(c, run[a], j) ensures run[a].rounds[j].try == run[b].rounds[i].try {
    var q :| q in c.quorums && q <= run[a].rounds[j].votes;
    var r :| r in c.quorums && r <= run[b].rounds[i].votes;
    var n :| n in q && n in r;
    FreshAlong(c, run, a, b, n, j);
  }
}
