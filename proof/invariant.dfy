include "machine.dfy"
// The invariant, by node and round, and that each step keeps it.

// Tries, rounds and times are consistent.
predicate Sane(c: Config, s: State) {
  && (forall h :: h in s.done ==> h in s.token)
  && (forall i :: i in s.rounds ==> s.rounds[i].try in s.token && s.rounds[i].read <= s.now && A5(s.rounds[i].lease, s.rounds[i].keep) && A4Long(c, s.rounds[i].lease))
  && (forall i :: i in s.granted ==> i in s.rounds && HasQuorum(c, s.rounds[i].votes))
  && (forall n :: n in s.lost ==> s.lost[n] <= s.now)
  && (forall n :: n in s.key ==> Copy(n, s.key[n]) in s.past)
}
// Different tries have different tokens.
predicate Distinct(s: State) { forall g, h :: g in s.token && h in s.token && s.token[g] == s.token[h] ==> g == h }
// A key counts while it has not expired and nobody may ask to delete it.
predicate Alive(s: State, k: Key) { k.expires > s.now && forall h :: h in s.done && h in s.token ==> s.token[h] != k.token }
function TokenOf(s: State, i: Id): Token requires i in s.rounds && s.rounds[i].try in s.token { s.token[s.rounds[i].try] }
// Node n stores the key of round i until the round ends, at least.
predicate Keeps(s: State, i: Id, n: Node) requires i in s.rounds && s.rounds[i].try in s.token {
  n in s.key && s.key[n].token == TokenOf(s, i) && s.key[n].voted && s.key[n].expires >= Ends(s.rounds[i])
}
// Node n has lost data, and casts no vote that counts until round i ends, at least.
predicate Silent(c: Config, s: State, i: Id, n: Node) requires i in s.rounds { n in s.lost && s.lost[n] + c.quiet >= Ends(s.rounds[i]) }
// Backing: each vote of a live round is kept by its node, or the node is silent.
predicate Backed(c: Config, s: State) requires Sane(c, s) {
  forall i, n :: Live(s, i) && n in s.rounds[i].votes ==> Keeps(s, i, n) || Silent(c, s, i, n)
}
// What a file may bring back and still counts is the key that the node has.
predicate Current(s: State) {
  forall p :: p in s.past && Alive(s, p.key) ==>
    p.node in s.key && s.key[p.node].token == p.key.token && s.key[p.node].expires >= p.key.expires && (p.key.voted ==> s.key[p.node].voted && s.key[p.node].since <= p.key.since)
}
// A node that voted for a live round has no other key that was voted for and counts, and no file brings one back.
predicate NoOther(c: Config, s: State) requires Sane(c, s) {
  forall i, p :: Live(s, i) && p in s.past && p.node in s.rounds[i].votes && p.key.voted && Alive(s, p.key) ==> p.key.token == TokenOf(s, i)
}
// No node votes for live rounds of two tries.
predicate OneVote(s: State) {
  forall i, j, n :: Live(s, i) && Live(s, j) && n in s.rounds[i].votes && n in s.rounds[j].votes ==> s.rounds[i].try == s.rounds[j].try
}
predicate Inv(c: Config, s: State) { Sane(c, s) && Distinct(s) && Backed(c, s) && Current(s) && NoOther(c, s) && OneVote(s) }

lemma AtInit(c: Config, s: State) requires Init(s) ensures Inv(c, s) {}

// Uses A2.
lemma AtBegin(c: Config, s: State, t: State, h: Try, a: Token)
  requires Inv(c, s) && Begin(s, t, h, a) ensures Inv(c, t)
{
  assert forall p :: p in s.past && Alive(t, p.key) ==> Alive(s, p.key);
}
// Uses A4, A5 and A6: rounds end no later than keys, and no later than silence.
lemma AtSend(c: Config, s: State, t: State, i: Id, h: Try, read: real, lease: real, keep: real)
  requires Inv(c, s) && Send(c, s, t, i, h, read, lease, keep) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) && j != i ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}
// The client of a round that is live has not given up its token. Uses A2.
lemma NotGivenUp(c: Config, s: State, i: Id)
  requires Sane(c, s) && Distinct(s) && Live(s, i)
  ensures forall h :: h in s.done && h in s.token ==> s.token[h] != TokenOf(s, i)
{}
// Uses A3, A4, A5 and A6.
lemma AtSet(c: Config, s: State, t: State, i: Id, n: Node, expires: real, counts: bool)
  requires Inv(c, s) && Set(c, s, t, i, n, expires, counts) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
  assert forall p :: p in s.past && Alive(s, p.key) ==> p.node != n;
  if counts { assert forall j :: Live(s, j) ==> n !in s.rounds[j].votes; }
}
// Uses A2, A3 and A4.
lemma AtExtend(c: Config, s: State, t: State, i: Id, n: Node, expires: real, counts: bool)
  requires Inv(c, s) && Extend(c, s, t, i, n, expires, counts) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
  var before := Copy(n, s.key[n]);
  assert before in s.past;
  assert Alive(t, t.key[n]) ==> Alive(s, before.key);
  if counts && Live(s, i) {
    NotGivenUp(c, s, i);
    assert Alive(s, before.key);
    forall j | Live(s, j) && n in s.rounds[j].votes ensures s.rounds[j].try == s.rounds[i].try {
      if before.key.voted { assert before.key.token == TokenOf(s, j); } else { assert !Keeps(s, j, n); }
    }
  }
}
// Uses A3.
lemma AtDrop(c: Config, s: State, t: State, n: Node)
  requires Inv(c, s) && Drop(s, t, n) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}
lemma AtGrant(c: Config, s: State, t: State, i: Id)
  requires Inv(c, s) && Grant(c, s, t, i) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}
lemma AtGiveUp(c: Config, s: State, t: State, h: Try)
  requires Inv(c, s) && GiveUp(s, t, h) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}
// Uses A2.
lemma AtDelete(c: Config, s: State, t: State, h: Try, n: Node)
  requires Inv(c, s) && Delete(s, t, h, n) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}
// Uses A4.
lemma AtRevert(c: Config, s: State, t: State, p: Copy)
  requires Inv(c, s) && Revert(s, t, p) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}
// Uses A4.
lemma AtEmpty(c: Config, s: State, t: State, n: Node)
  requires Inv(c, s) && Empty(s, t, n) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}
lemma AtTick(c: Config, s: State, t: State, d: real)
  requires Inv(c, s) && Tick(s, t, d) ensures Inv(c, t)
{
  assert forall j :: Live(t, j) ==> Live(s, j);
  assert forall k :: Alive(t, k) ==> Alive(s, k);
}

// Each step keeps the invariant. Uses A2 to A6.
lemma Step(c: Config, s: State, t: State)
  requires Inv(c, s) && Next(c, s, t) ensures Inv(c, t)
{
  if h, a :| Begin(s, t, h, a) { AtBegin(c, s, t, h, a); }
  else if i, h, r, l, k :| Send(c, s, t, i, h, r, l, k) { AtSend(c, s, t, i, h, r, l, k); }
  else if i, n, e, v :| Set(c, s, t, i, n, e, v) { AtSet(c, s, t, i, n, e, v); }
  else if i, n, e, v :| Extend(c, s, t, i, n, e, v) { AtExtend(c, s, t, i, n, e, v); }
  else if n :| Drop(s, t, n) { AtDrop(c, s, t, n); }
  else if i :| Grant(c, s, t, i) { AtGrant(c, s, t, i); }
  else if h :| GiveUp(s, t, h) { AtGiveUp(c, s, t, h); }
  else if h, n :| Delete(s, t, h, n) { AtDelete(c, s, t, h, n); }
  else if p :| Revert(s, t, p) { AtRevert(c, s, t, p); }
  else if n :| Empty(s, t, n) { AtEmpty(c, s, t, n); }
  else { var d :| Tick(s, t, d); AtTick(c, s, t, d); }
}
