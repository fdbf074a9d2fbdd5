include "exclusion.dfy"
// V4, fence order: fences that are drawn from counters on a quorum, while no node forgets its counter. (redlock/fence.go)

// A draw, by the client of a round that holds the lock. before: draws that had ended when it began. seen, highest: the
// counters that it has read. next: the number that it tries. raised: nodes that accepted this number.
datatype Phase = Reading | Raising | Drawn
datatype Draw = Draw(round: Id, before: set<int>, phase: Phase, seen: set<Node>, highest: nat, next: nat, raised: set<Node>)
datatype Fences = Fences(lock: State, counter: map<Node, nat>, draws: map<int, Draw>)

function Counter(s: Fences, n: Node): nat { if n in s.counter then s.counter[n] else 0 }
predicate IsDrawn(s: Fences, d: int) { d in s.draws && s.draws[d].phase.Drawn? }
function AllDrawn(s: Fences): set<int> { set d | d in s.draws && s.draws[d].phase.Drawn? }

predicate FencesInit(s: Fences) { Init(s.lock) && s.counter == map[] && s.draws == map[] }
predicate LockStep(c: Config, s: Fences, t: Fences) { Next(c, s.lock, t.lock) && t == s.(lock := t.lock) }
predicate OneDraw(s: Fences, i: Id) requires i in s.lock.rounds {
  forall e :: e in s.draws && s.draws[e].round in s.lock.rounds ==> s.lock.rounds[s.draws[e].round].try != s.lock.rounds[i].try
}
// fence, drawFence: after a quorum has granted the lock, and before the hold is used. One draw a try.
predicate BeginDraw(c: Config, s: Fences, t: Fences, d: int, i: Id) {
  d !in s.draws && Holds(c, s.lock, i) && OneDraw(s, i) &&
  t == s.(draws := s.draws[d := Draw(i, AllDrawn(s), Reading, {}, 0, 0, {})])
}
// env.OpCount.
predicate Count(s: Fences, t: Fences, d: int, n: Node) {
  d in s.draws && s.draws[d].phase.Reading? &&
  t == s.(draws := s.draws[d := s.draws[d].(seen := s.draws[d].seen + {n}, highest := if Counter(s, n) > s.draws[d].highest then Counter(s, n) else s.draws[d].highest)])
}
// next := highest + 1, and again with a higher number if a node declined.
predicate Choose(c: Config, s: Fences, t: Fences, d: int, number: nat) {
  d in s.draws && !s.draws[d].phase.Drawn? && HasQuorum(c, s.draws[d].seen) && number > s.draws[d].highest && number > s.draws[d].next &&
  t == s.(draws := s.draws[d := s.draws[d].(phase := Raising, next := number, raised := {})])
}
// env.OpRaise: a node accepts a higher number only.
predicate Raise(s: Fences, t: Fences, d: int, n: Node) {
  d in s.draws && s.draws[d].phase.Raising? && Counter(s, n) < s.draws[d].next &&
  t == s.(counter := s.counter[n := s.draws[d].next], draws := s.draws[d := s.draws[d].(raised := s.draws[d].raised + {n})])
}
// Whatever else happens to a counter: requests that arrive late or twice.
predicate Change(s: Fences, t: Fences, n: Node, number: nat) { F1(Counter(s, n), number) && t == s.(counter := s.counter[n := number]) }
// A quorum has accepted the number, and the validity lasts. (acquire.go: the second check)
predicate EndDraw(c: Config, s: Fences, t: Fences, d: int) {
  d in s.draws && s.draws[d].phase.Raising? && HasQuorum(c, s.draws[d].raised) && Live(s.lock, s.draws[d].round) &&
  t == s.(draws := s.draws[d := s.draws[d].(phase := Drawn)])
}
predicate FencesNext(c: Config, s: Fences, t: Fences) {
  || LockStep(c, s, t)
  || (exists d, i :: BeginDraw(c, s, t, d, i))
  || (exists d, n :: Count(s, t, d, n))
  || (exists d, x :: Choose(c, s, t, d, x))
  || (exists d, n :: Raise(s, t, d, n))
  || (exists n, x :: Change(s, t, n, x))
  || (exists d :: EndDraw(c, s, t, d))
}

predicate Raised(s: Fences, d: int, n: Node) { d in s.draws && n in s.draws[d].raised }
predicate Seen(s: Fences, d: int, n: Node) { d in s.draws && n in s.draws[d].seen }
predicate Before(s: Fences, d: int, e: int) { e in s.draws && d in s.draws[e].before }
function Number(s: Fences, d: int): nat { if d in s.draws then s.draws[d].next else 0 }
function Highest(s: Fences, d: int): nat { if d in s.draws then s.draws[d].highest else 0 }
// A draw chooses a number above its reading of a quorum, and ends when a quorum has accepted it.
predicate Sound(c: Config, d: Draw) {
  && (d.phase.Reading? ==> d.raised == {})
  && (!d.phase.Reading? ==> d.next > d.highest && HasQuorum(c, d.seen))
  && (d.phase.Drawn? ==> HasQuorum(c, d.raised))
}
// No counter is below a number that its node accepted.
predicate Kept(s: Fences) { forall d, n :: Raised(s, d, n) ==> Counter(s, n) >= Number(s, d) }
// What a later draw reads of a node is no lower than what the node accepted before the draw began.
predicate ReadsLater(s: Fences) {
  forall d, e, n :: Before(s, d, e) && Raised(s, d, n) && Seen(s, e, n) ==> Highest(s, e) >= Number(s, d)
}
// A node accepts a number once.
predicate Once(s: Fences) {
  forall d, e, n :: d != e && Raised(s, d, n) && Raised(s, e, n) ==> Number(s, d) != Number(s, e)
}
predicate CountersInv(c: Config, s: Fences) {
  && (forall d :: d in s.draws ==> Sound(c, s.draws[d]))
  && (forall d, e :: Before(s, d, e) ==> IsDrawn(s, d))
  && Kept(s) && ReadsLater(s) && Once(s)
}
// Of two draws one had ended when the other began, or will not end because its round is over.
predicate Over(s: Fences, d: int) { d in s.draws && !s.draws[d].phase.Drawn? && !Live(s.lock, s.draws[d].round) }
predicate Turn(s: Fences, d: int, e: int) { Before(s, d, e) || Before(s, e, d) || Over(s, d) || Over(s, e) }
predicate InTurn(c: Config, s: Fences) {
  && (forall d :: d in s.draws ==> s.draws[d].round in s.lock.rounds && HasQuorum(c, s.lock.rounds[s.draws[d].round].votes))
  && (forall d, e :: d in s.draws && e in s.draws && d != e ==> Turn(s, d, e))
}
predicate FencesInv(c: Config, s: Fences) { Inv(c, s.lock) && CountersInv(c, s) && InTurn(c, s) }

lemma FencesAtInit(c: Config, s: Fences) requires FencesInit(s) ensures FencesInv(c, s) {}

// The counters keep their invariant whatever becomes of the lock: only F1 is used.
lemma CountersStep(c: Config, s: Fences, t: Fences)
  requires CountersInv(c, s) && FencesNext(c, s, t) ensures CountersInv(c, t)
{
  if LockStep(c, s, t) { CountersAtLockStep(c, s, t); }
  else if d, i :| BeginDraw(c, s, t, d, i) { CountersAtBeginDraw(c, s, t, d, i); }
  else if d, n :| Count(s, t, d, n) { AtCount(c, s, t, d, n); }
  else if d, x :| Choose(c, s, t, d, x) { AtChoose(c, s, t, d, x); }
  else if d, n :| Raise(s, t, d, n) { AtRaise(c, s, t, d, n); }
  else if n, x :| Change(s, t, n, x) { AtChange(c, s, t, n, x); }
  else { var d :| EndDraw(c, s, t, d); AtEndDraw(c, s, t, d); }
}
// All but draw d are as they were; d keeps what it had when it began.
predicate Only(s: Fences, t: Fences, d: int) {
  && (forall x :: x in t.draws <==> x in s.draws)
  && (forall x :: x != d && x in s.draws ==> t.draws[x] == s.draws[x])
  && (d in s.draws ==> t.draws[d].before == s.draws[d].before && t.draws[d].round == s.draws[d].round)
}
lemma Others(s: Fences, t: Fences, d: int)
  requires Only(s, t, d)
  ensures forall x, n :: x != d ==> Raised(t, x, n) == Raised(s, x, n) && Seen(t, x, n) == Seen(s, x, n)
  ensures forall x, e :: Before(t, x, e) == Before(s, x, e)
  ensures forall x :: x != d ==> IsDrawn(t, x) == IsDrawn(s, x) && Number(t, x) == Number(s, x) && Highest(t, x) == Highest(s, x)
{}
// Uses F1: n still has what it accepted before the draw began.
lemma AtCount(c: Config, s: Fences, t: Fences, d: int, n: Node) requires CountersInv(c, s) && Count(s, t, d, n) ensures CountersInv(c, t) {
  Others(s, t, d);
  assert forall m :: Raised(t, d, m) == Raised(s, d, m) && (Seen(t, d, m) ==> Seen(s, d, m) || m == n);
  assert Number(t, d) == Number(s, d) && Highest(t, d) >= Highest(s, d) && Highest(t, d) >= Counter(s, n);
  assert forall m :: Counter(t, m) == Counter(s, m);
}
lemma AtChoose(c: Config, s: Fences, t: Fences, d: int, number: nat) requires CountersInv(c, s) && Choose(c, s, t, d, number) ensures CountersInv(c, t) {
  Others(s, t, d);
  assert !IsDrawn(s, d) && forall m :: !Raised(t, d, m) && Seen(t, d, m) == Seen(s, d, m);
  assert Highest(t, d) == Highest(s, d);
  assert forall m :: Counter(t, m) == Counter(s, m);
}
lemma AtRaise(c: Config, s: Fences, t: Fences, d: int, n: Node) requires CountersInv(c, s) && Raise(s, t, d, n) ensures CountersInv(c, t) {
  Others(s, t, d);
  assert !IsDrawn(s, d) && forall m :: (Raised(t, d, m) ==> Raised(s, d, m) || m == n) && Seen(t, d, m) == Seen(s, d, m);
  assert Highest(t, d) == Highest(s, d) && Number(t, d) == Number(s, d) == Counter(t, n) > Counter(s, n);
  assert forall m :: m != n ==> Counter(t, m) == Counter(s, m);
}
// Uses F1.
lemma AtChange(c: Config, s: Fences, t: Fences, n: Node, number: nat) requires CountersInv(c, s) && Change(s, t, n, number) ensures CountersInv(c, t) {
  Others(s, t, n);
  assert forall x, m :: Raised(t, x, m) == Raised(s, x, m) && Seen(t, x, m) == Seen(s, x, m);
  assert forall x :: IsDrawn(t, x) == IsDrawn(s, x) && Number(t, x) == Number(s, x) && Highest(t, x) == Highest(s, x);
  assert forall m :: m != n ==> Counter(t, m) == Counter(s, m);
}
lemma AtEndDraw(c: Config, s: Fences, t: Fences, d: int) requires CountersInv(c, s) && EndDraw(c, s, t, d) ensures CountersInv(c, t) {
  Others(s, t, d);
  assert forall m :: Raised(t, d, m) == Raised(s, d, m) && Seen(t, d, m) == Seen(s, d, m);
  assert Number(t, d) == Number(s, d) && Highest(t, d) == Highest(s, d);
  assert forall m :: Counter(t, m) == Counter(s, m);
}
lemma CountersAtBeginDraw(c: Config, s: Fences, t: Fences, d: int, i: Id) requires CountersInv(c, s) && BeginDraw(c, s, t, d, i) ensures CountersInv(c, t) {
  assert forall m :: !Raised(t, d, m) && !Seen(t, d, m);
  assert forall x, m :: x != d ==> Raised(t, x, m) == Raised(s, x, m) && Seen(t, x, m) == Seen(s, x, m);
  assert forall x, e :: e != d ==> Before(t, x, e) == Before(s, x, e);
  assert forall x :: Before(t, x, d) ==> IsDrawn(s, x);
  assert forall x :: x != d ==> IsDrawn(t, x) == IsDrawn(s, x) && Number(t, x) == Number(s, x) && Highest(t, x) == Highest(s, x);
  assert forall m :: Counter(t, m) == Counter(s, m);
}
lemma CountersAtLockStep(c: Config, s: Fences, t: Fences) requires CountersInv(c, s) && LockStep(c, s, t) ensures CountersInv(c, t) {
  Others(s, t, 0);
  assert forall m :: Raised(t, 0, m) == Raised(s, 0, m) && Seen(t, 0, m) == Seen(s, 0, m);
  assert IsDrawn(t, 0) == IsDrawn(s, 0) && Number(t, 0) == Number(s, 0) && Highest(t, 0) == Highest(s, 0);
  assert forall m :: Counter(t, m) == Counter(s, m);
}

lemma RoundsStay(c: Config, s: State, t: State, i: Id)
  requires Next(c, s, t) && i in s.rounds && HasQuorum(c, s.rounds[i].votes)
  ensures i in t.rounds && HasQuorum(c, t.rounds[i].votes)
{
  var q :| q in c.quorums && q <= s.rounds[i].votes;
  assert i in t.rounds && q <= t.rounds[i].votes;
}
lemma InTurnAtLockStep(c: Config, s: Fences, t: Fences) requires InTurn(c, s) && LockStep(c, s, t) ensures InTurn(c, t) {
  forall d | d in t.draws ensures t.draws[d].round in t.lock.rounds && HasQuorum(c, t.lock.rounds[t.draws[d].round].votes) {
    RoundsStay(c, s.lock, t.lock, t.draws[d].round);
  }
  forall d | Over(s, d) ensures Over(t, d) {
    if Live(t.lock, t.draws[d].round) { NeverAgain(c, s.lock, t.lock, t.draws[d].round); }
  }
  forall d, e | d in t.draws && e in t.draws && d != e ensures Turn(t, d, e) {
    assert Turn(s, d, e);
    assert (Before(t, d, e) == Before(s, d, e)) && (Before(t, e, d) == Before(s, e, d));
  }
}
// Uses A1, and A2 to A6 by the invariant: while one client draws, no other holds the lock.
lemma InTurnAtBeginDraw(c: Config, s: Fences, t: Fences, d: int, i: Id)
  requires A1(c) && FencesInv(c, s) && BeginDraw(c, s, t, d, i) ensures InTurn(c, t)
{
  forall e | e in s.draws ensures Before(t, e, d) || Over(t, e) {
    if !s.draws[e].phase.Drawn? && Live(s.lock, s.draws[e].round) { Exclusion(c, s.lock, i, s.draws[e].round); }
  }
  forall x, e | x in t.draws && e in t.draws && x != e ensures Turn(t, x, e) {
    if x in s.draws && e in s.draws {
      assert Turn(s, x, e);
      assert (Before(t, x, e) == Before(s, x, e)) && (Before(t, e, x) == Before(s, e, x)) && (Over(t, x) == Over(s, x)) && (Over(t, e) == Over(s, e));
    }
  }
}
// A step of a draw keeps the turns: only a draw whose round is live ends.
lemma InTurnAtDraw(c: Config, s: Fences, t: Fences, d: int)
  requires InTurn(c, s) && Only(s, t, d) && t.lock == s.lock && (IsDrawn(t, d) ==> IsDrawn(s, d) || !Over(s, d)) && (IsDrawn(s, d) ==> IsDrawn(t, d))
  ensures InTurn(c, t)
{
  Others(s, t, d);
  forall x, e | x in t.draws && e in t.draws && x != e ensures Turn(t, x, e) {
    assert Turn(s, x, e);
    assert (Over(s, x) ==> Over(t, x)) && (Over(s, e) ==> Over(t, e));
  }
}
// The steps of draws, in a lemma without what the invariant says of the lock and the counters: with it the prover takes long.
lemma InTurnAtDraws(c: Config, s: Fences, t: Fences)
  requires InTurn(c, s) && FencesNext(c, s, t) && !LockStep(c, s, t) && !(exists d, i :: BeginDraw(c, s, t, d, i))
  ensures t.lock == s.lock && InTurn(c, t)
{
  if d, n :| Count(s, t, d, n) { InTurnAtDraw(c, s, t, d); }
  else if d, x :| Choose(c, s, t, d, x) { InTurnAtDraw(c, s, t, d); }
  else if d, n :| Raise(s, t, d, n) { InTurnAtDraw(c, s, t, d); }
  else if n, x :| Change(s, t, n, x) { InTurnAtDraw(c, s, t, n); }
  else { var d :| EndDraw(c, s, t, d); InTurnAtDraw(c, s, t, d); }
}
lemma FencesStep(c: Config, s: Fences, t: Fences)
  requires A1(c) && FencesInv(c, s) && FencesNext(c, s, t) ensures FencesInv(c, t)
{
  CountersStep(c, s, t);
  if LockStep(c, s, t) { Step(c, s.lock, t.lock); InTurnAtLockStep(c, s, t); }
  else if d, i :| BeginDraw(c, s, t, d, i) { InTurnAtBeginDraw(c, s, t, d, i); }
  else { InTurnAtDraws(c, s, t); }
}
// No number is drawn twice, whatever the lock does. Uses A1 and F1.
lemma NoneTwice(c: Config, s: Fences, d: int, e: int)
  requires A1(c) && CountersInv(c, s) && IsDrawn(s, d) && IsDrawn(s, e) && d != e
  ensures Number(s, d) != Number(s, e)
{
  var q :| q in c.quorums && q <= s.draws[d].raised;
  var r :| r in c.quorums && r <= s.draws[e].raised;
  var n :| n in q && n in r;
  assert Raised(s, d, n) && Raised(s, e, n);
}
// A draw that begins after another has ended has a higher number, whatever the lock does. Uses A1 and F1.
lemma Grows(c: Config, s: Fences, d: int, e: int)
  requires A1(c) && CountersInv(c, s) && IsDrawn(s, d) && IsDrawn(s, e) && Before(s, d, e)
  ensures Number(s, d) < Number(s, e)
{
  var q :| q in c.quorums && q <= s.draws[d].raised;
  var r :| r in c.quorums && r <= s.draws[e].seen;
  var n :| n in q && n in r;
  assert Raised(s, d, n) && Seen(s, e, n);
}
// V4: of the draws of any two holds one had ended before the other began, and the other has the higher number.
lemma V4(c: Config, s: Fences, d: int, e: int)
  requires A1(c) && FencesInv(c, s) && IsDrawn(s, d) && IsDrawn(s, e) && d != e
  ensures (Before(s, d, e) && Number(s, d) < Number(s, e)) || (Before(s, e, d) && Number(s, e) < Number(s, d))
{
  assert Turn(s, d, e);
  if Before(s, d, e) { Grows(c, s, d, e); } else { Grows(c, s, e, d); }
}
