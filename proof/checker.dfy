// The checker's theorem: checker/exclusion.go reports no violation of V1 if and only if the history is linearizable
// with respect to the lease lock of model/leaselock.go. docs/proof.md has the definitions and the proof in words.

// What becomes of a window (timeline.WindowChange). A window that never ends has no Ended.
datatype Change = Ended(h: int, at: real) | Began(h: int, call: real, at: real) | Empty(h: int, since: real, at: real) | ExtendedLate(h: int, at: real)

// The order of the changes of one instant: ends before begins before empty windows before late extensions.
function Rank(c: Change): int { match c case Ended(h, a) => 0 case Began(h, l, a) => 1 case Empty(h, l, a) => 2 case ExtendedLate(h, a) => 3 }
predicate Before(c: Change, d: Change) { c.at < d.at || (c.at == d.at && Rank(c) <= Rank(d)) }
predicate Sorted(H: seq<Change>) { forall i, j :: 0 <= i < j < |H| ==> Before(H[i], H[j]) }

predicate IsBegin(H: seq<Change>, i: int, h: int) { 0 <= i < |H| && H[i].Began? && H[i].h == h }
predicate IsEnd(H: seq<Change>, i: int, h: int) { 0 <= i < |H| && H[i].Ended? && H[i].h == h }
predicate IsOver(H: seq<Change>, i: int, h: int) { 0 <= i < |H| && (H[i].Ended? || H[i].Empty?) && H[i].h == h }
predicate EndBetween(H: seq<Change>, i: int, j: int, h: int) { exists k :: i < k < j && IsEnd(H, k, h) }
// Change i begins the window that change j ends. Windows are half-open and not empty.
predicate Opens(H: seq<Change>, i: int, j: int, h: int) { IsBegin(H, i, h) && IsEnd(H, j, h) && i < j && H[i].at < H[j].at && !EndBetween(H, i, j, h) }
predicate Intervals(H: seq<Change>) {
  forall i :: 0 <= i < |H| ==> (H[i].Began? ==> H[i].call <= H[i].at) && (H[i].Empty? ==> H[i].since <= H[i].at)
}
// The windows of one hold come one after another; only the first can be empty, and a late extension needs one before it.
// The prover uses this only of changes that a proof names by At, or it would go on from end to begin to end for ever.
predicate At(i: int) { true }
predicate Windows(H: seq<Change>) {
  && (forall j {:trigger At(j)} :: 0 <= j < |H| && H[j].Ended? ==> exists i :: Opens(H, i, j, H[j].h))
  && (forall i, j {:trigger At(i), At(j)} :: 0 <= i < j < |H| && H[i].Began? && H[j].h == H[i].h && (H[j].Began? || H[j].ExtendedLate?) ==> EndBetween(H, i, j, H[i].h))
  && (forall i, j {:trigger At(i), At(j)} :: 0 <= i < j < |H| && H[j].Empty? && H[i].h == H[j].h ==> H[i].Began?)
  && (forall j {:trigger At(j)} :: 0 <= j < |H| && H[j].ExtendedLate? ==> exists i :: i < j && IsOver(H, i, H[j].h))
}
predicate History(H: seq<Change>) { Sorted(H) && Intervals(H) && Windows(H) }

// The sequential specification: model/leaselock.go. Anybody may renew while nobody has acquired the lock.
datatype Holder = Free | By(h: int)
datatype Lock = Lock(holder: Holder, anybody: bool, renewing: set<int>)
predicate MayRenew(s: Lock, h: int) { s.anybody || h in s.renewing }
predicate Late(H: seq<Change>, i: int) { 0 <= i < |H| && exists j :: j < i && IsOver(H, j, H[i].h) }
predicate Can(H: seq<Change>, s: Lock, i: int) {
  0 <= i < |H| &&
  if H[i].Ended? then s.holder == By(H[i].h) else
    s.holder == Free && (!H[i].Empty? && Late(H, i) ==> MayRenew(s, H[i].h))
}
function Do(s: Lock, c: Change): Lock {
  match c
  case Ended(h, at) => s.(holder := Free)
  case Began(h, call, at) => Lock(By(h), false, {h})
  case Empty(h, since, at) => s.(renewing := s.renewing + {h})
  case ExtendedLate(h, at) => s
}

// A linearization: each change once, at an instant within its operation, in the order of time, each step allowed.
datatype Point = Point(i: int, at: real)
predicate Within(c: Change, at: real) { (if c.Began? then c.call else if c.Empty? then c.since else c.at) <= at <= c.at }
predicate Steps(H: seq<Change>, R: seq<Point>, S: seq<Lock>) {
  && |S| == |R| + 1 && S[0] == Lock(Free, true, {})
  && (forall k :: 0 <= k < |R| ==> Can(H, S[k], R[k].i) && S[k + 1] == Do(S[k], H[R[k].i]) && Within(H[R[k].i], R[k].at))
  && (forall k, m :: 0 <= k < m < |R| ==> R[k].at <= R[m].at && R[k].i != R[m].i)
}
predicate Has(R: seq<Point>, i: int) { exists k :: 0 <= k < |R| && R[k].i == i }
predicate Linearization(H: seq<Change>, R: seq<Point>, S: seq<Lock>) {
  Steps(H, R, S) && forall i :: 0 <= i < |H| ==> Has(R, i)
}

// The sweep: checker/exclusion.go, up to the first violation. Until then at most one window is live.
datatype Live = None | Some(h: int, from: real, i: int) // i, the change that began it, is ghost
datatype Sweep = Sweep(live: Live, freeAt: real, ever: bool, last: real, past: map<int, real>)
predicate Alone(s: Sweep) { s.live.None? }
predicate HadFreePoint(s: Sweep, since: real) { s.live.None? || since <= s.freeAt }
predicate NobodyHolds(s: Sweep, at: real) { s.live.None? || s.live.from >= at }
predicate NotInterrupted(s: Sweep, h: int) { h in s.past && s.ever ==> s.last <= s.past[h] }
predicate Accepts(s: Sweep, c: Change) {
  match c
  case Ended(h, at) => true
  case Began(h, call, at) => Alone(s) && NotInterrupted(s, h)
  case Empty(h, since, at) => HadFreePoint(s, since)
  case ExtendedLate(h, at) => NobodyHolds(s, at) && NotInterrupted(s, h)
}
function Next(s: Sweep, c: Change, i: int): Sweep {
  match c
  case Ended(h, at) => Sweep(None, at, true, at, s.past[h := at])
  case Began(h, call, at) => s.(live := Some(h, at, i), freeAt := at)
  case Empty(h, since, at) => s.(past := s.past[h := at])
  case ExtendedLate(h, at) => s
}
function After(H: seq<Change>, n: int): Sweep requires 0 <= n <= |H| {
  if n == 0 then Sweep(None, 0.0, false, 0.0, map[]) else Next(After(H, n - 1), H[n - 1], n - 1)
}
predicate NoViolation(H: seq<Change>, n: int) requires n <= |H| { forall i :: 0 <= i < n ==> Accepts(After(H, i), H[i]) }

// What the sweep knows after n changes without a violation: the window that is open,
predicate KnowsLive(H: seq<Change>, n: int, s: Sweep) {
  && 0 <= n <= |H|
  && (forall i :: 0 <= i < n && H[i].Began? && !EndBetween(H, i, n, H[i].h) ==> s.live == Some(H[i].h, H[i].at, i))
  && (s.live.Some? ==> s.live.i < n && IsBegin(H, s.live.i, s.live.h) && !EndBetween(H, s.live.i, n, s.live.h) && s.freeAt == s.live.from == H[s.live.i].at)
}
// and when windows have ended.
predicate KnowsEnds(H: seq<Change>, n: int, s: Sweep) {
  && 0 <= n <= |H|
  && (s.ever ==> exists i :: 0 <= i < n && H[i].Ended? && H[i].at == s.last)
  && (forall i :: 0 <= i < n && H[i].Ended? ==> s.ever && H[i].at <= s.last)
  && (forall i :: 0 <= i < n && (H[i].Ended? || H[i].Empty?) ==> H[i].h in s.past && H[i].at <= s.past[H[i].h])
  && (forall h :: h in s.past ==> exists i :: 0 <= i < n && IsOver(H, i, h) && H[i].at == s.past[h])
}
lemma Sweeps(H: seq<Change>, n: int)
  requires History(H) && 0 <= n <= |H| && NoViolation(H, n) ensures KnowsLive(H, n, After(H, n)) && KnowsEnds(H, n, After(H, n))
{
  if n > 0 {
    Sweeps(H, n - 1);
    var s := After(H, n - 1);
    assert Accepts(s, H[n - 1]);
    LiveNext(H, n - 1, s);
    EndsNext(H, n - 1, s);
  }
}
lemma EndStaysBetween(H: seq<Change>, i: int, n: int, h: int)
  ensures EndBetween(H, i, n + 1, h) <==> EndBetween(H, i, n, h) || (i < n && IsEnd(H, n, h))
{}
lemma LiveNext(H: seq<Change>, n: int, s: Sweep)
  requires Windows(H) && Sorted(H) && n < |H| && KnowsLive(H, n, s) && Accepts(s, H[n]) ensures KnowsLive(H, n + 1, Next(s, H[n], n))
{
  var t := Next(s, H[n], n);
  var o := n;
  if H[n].Ended? {
    assert At(n) && IsEnd(H, n, H[n].h);
    o :| Opens(H, o, n, H[n].h);
    assert s.live == Some(H[n].h, H[o].at, o);
  }
  forall i | 0 <= i < n + 1 && H[i].Began? && !EndBetween(H, i, n + 1, H[i].h) ensures t.live == Some(H[i].h, H[i].at, i) {
    if i < n {
      EndStaysBetween(H, i, n, H[i].h);
      assert !EndBetween(H, i, n, H[i].h);
      assert s.live == Some(H[i].h, H[i].at, i);
      assert !H[n].Ended? && !H[n].Began?;
    }
  }
  if t.live.Some? { EndStaysBetween(H, t.live.i, n, t.live.h); }
}
lemma EndsNext(H: seq<Change>, n: int, s: Sweep)
  requires Sorted(H) && n < |H| && KnowsEnds(H, n, s) ensures KnowsEnds(H, n + 1, Next(s, H[n], n))
{
  var t := Next(s, H[n], n);
  forall i | 0 <= i < n + 1 && H[i].Ended? ensures t.ever && H[i].at <= t.last { assert Before(H[i], H[n]) || i == n; }
  forall i | 0 <= i < n + 1 && (H[i].Ended? || H[i].Empty?) ensures H[i].h in t.past && H[i].at <= t.past[H[i].h] { assert Before(H[i], H[n]) || i == n; }
  forall h | h in t.past ensures exists i :: 0 <= i < n + 1 && IsOver(H, i, h) && H[i].at == t.past[h] {
    if (H[n].Ended? || H[n].Empty?) && h == H[n].h { assert IsOver(H, n, h); }
    else { assert h in s.past; var i :| 0 <= i < n && IsOver(H, i, h) && H[i].at == s.past[h]; assert IsOver(H, i, h); }
  }
  if t.ever && !H[n].Ended? { var i :| 0 <= i < n && H[i].Ended? && H[i].at == s.last; }
}

// First half: without a violation there is a linearization. It has each change when the sweep accepts it, but an empty
// window, or a late extension, that comes while a window is live goes before the begin of that window. So R lacks that begin.
predicate Built(H: seq<Change>, n: int, s: Sweep, R: seq<Point>, S: seq<Lock>) {
  && KnowsLive(H, n, s) && KnowsEnds(H, n, s) && Steps(H, R, S) && S[|R|].holder == Free
  && (forall i :: 0 <= i < n && !(s.live.Some? && s.live.i == i) ==> Has(R, i))
  && (forall k :: 0 <= k < |R| ==> R[k].i < n && !(s.live.Some? && s.live.i == R[k].i) && (if s.live.Some? then R[k].at <= s.live.from else n > 0 && R[k].at <= H[n - 1].at))
  && (forall h :: h in s.past && (s.ever ==> s.last <= s.past[h]) ==> MayRenew(S[|R|], h))
  && (s.live.Some? && Late(H, s.live.i) ==> MayRenew(S[|R|], s.live.h))
}
lemma Append(H: seq<Change>, R: seq<Point>, S: seq<Lock>, i: int, at: real) returns (Q: seq<Point>, T: seq<Lock>)
  requires Steps(H, R, S) && Can(H, S[|R|], i) && Within(H[i], at)
  requires forall k :: 0 <= k < |R| ==> R[k].at <= at && R[k].i != i
  ensures Q == R + [Point(i, at)] && T == S + [Do(S[|R|], H[i])] && Steps(H, Q, T) && Has(Q, i)
  ensures forall j :: Has(R, j) ==> Has(Q, j)
{
  Q, T := R + [Point(i, at)], S + [Do(S[|R|], H[i])];
  assert Q[|R|].i == i;
  forall j | Has(R, j) ensures Has(Q, j) { var k :| 0 <= k < |R| && R[k].i == j; assert Q[k].i == j; }
}
lemma Build(H: seq<Change>, n: int) returns (R: seq<Point>, S: seq<Lock>)
  requires History(H) && 0 <= n <= |H| && NoViolation(H, n) ensures Built(H, n, After(H, n), R, S)
{
  if n == 0 { R, S := [], [Lock(Free, true, {})]; return; }
  R, S := Build(H, n - 1);
  var s, c := After(H, n - 1), H[n - 1];
  Sweeps(H, n);
  assert Accepts(s, c);
  assert forall i :: 0 <= i < n - 1 ==> Before(H[i], c);
  match c
  case Ended(h, at) => R, S := BuildEnded(H, n - 1, s, R, S);
  case Began(h, call, at) => BuildBegan(H, n - 1, s, R, S);
  case Empty(h, since, at) => R, S := BuildAside(H, n - 1, s, R, S);
  case ExtendedLate(h, at) => R, S := BuildAside(H, n - 1, s, R, S);
}
predicate Builds(H: seq<Change>, n: int, s: Sweep, R: seq<Point>, S: seq<Lock>) {
  Sorted(H) && Intervals(H) && 0 <= n < |H| && Built(H, n, s, R, S) && Accepts(s, H[n]) && KnowsLive(H, n + 1, Next(s, H[n], n)) && KnowsEnds(H, n + 1, Next(s, H[n], n))
}
lemma LateKnown(H: seq<Change>, n: int, s: Sweep)
  requires n < |H| && KnowsEnds(H, n, s) ensures Late(H, n) <==> H[n].h in s.past
{}
// No other window ends in the instant in which one ends: the two would overlap. An empty one comes after all ends.
lemma OtherIsOver(H: seq<Change>, i: int, n: int)
  requires History(H) && 0 <= i < n < |H| && NoViolation(H, n) && H[n].Ended? && IsOver(H, i, H[i].h) && H[i].h != H[n].h ensures H[i].at < H[n].at
{
  assert Before(H[i], H[n]) && At(n);
  var o :| Opens(H, o, n, H[n].h);
  if H[i].Ended? && H[i].at == H[n].at {
    assert At(i);
    var p :| Opens(H, p, i, H[i].h);
    assert i < o ==> Before(H[i], H[o]);
    var first, second := if p < o then p else o, if p < o then o else p;
    Sweeps(H, second);
    assert Accepts(After(H, second), H[second]) && !EndBetween(H, first, second, H[first].h);
  }
}
lemma OthersAreOver(H: seq<Change>, n: int, s: Sweep)
  requires History(H) && n < |H| && NoViolation(H, n) && KnowsEnds(H, n, s) && H[n].Ended?
  ensures forall h :: h in s.past && h != H[n].h ==> s.past[h] < H[n].at
{
  forall h | h in s.past && h != H[n].h ensures s.past[h] < H[n].at { var i :| 0 <= i < n && IsOver(H, i, h) && H[i].at == s.past[h]; OtherIsOver(H, i, n); }
}
lemma Opened(H: seq<Change>, n: int, s: Sweep) returns (o: int)
  requires Windows(H) && n < |H| && KnowsLive(H, n, s) && H[n].Ended? ensures 0 <= o < n && H[o].Began? && H[o].at < H[n].at && s.live == Some(H[n].h, H[o].at, o)
{
  assert At(n);
  o :| Opens(H, o, n, H[n].h);
}
lemma BuildEnded(H: seq<Change>, n: int, s: Sweep, R: seq<Point>, S: seq<Lock>) returns (Q: seq<Point>, T: seq<Lock>)
  requires Builds(H, n, s, R, S) && History(H) && NoViolation(H, n) && H[n].Ended? ensures Built(H, n + 1, Next(s, H[n], n), Q, T)
{
  var o := Opened(H, n, s);
  OthersAreOver(H, n, s);
  var U, V := Append(H, R, S, o, H[o].at);
  Q, T := Append(H, U, V, n, H[n].at);
  forall i | 0 <= i < n + 1 ensures Has(Q, i) { if i < n && i != o { assert Has(R, i); } }
  forall k | 0 <= k < |Q| ensures Q[k].i < n + 1 && Q[k].at <= H[n].at { if k < |R| { assert Q[k] == R[k]; } }
  assert T[|Q|] == Lock(Free, false, {H[n].h});
  var t := Next(s, H[n], n);
  forall h | h in t.past && t.last <= t.past[h] ensures MayRenew(T[|Q|], h) { if h != H[n].h { assert h in s.past && t.past[h] == s.past[h] < t.last; } }
}
// A hold that no other has interrupted may renew.
lemma Uncontested(s: Sweep, l: Lock, h: int)
  requires NotInterrupted(s, h) && h in s.past && ((s.ever ==> s.last <= s.past[h]) ==> MayRenew(l, h)) ensures MayRenew(l, h)
{}
lemma BuildBegan(H: seq<Change>, n: int, s: Sweep, R: seq<Point>, S: seq<Lock>)
  requires Builds(H, n, s, R, S) && H[n].Began? ensures Built(H, n + 1, Next(s, H[n], n), R, S)
{
  LateKnown(H, n, s);
  if Late(H, n) { Uncontested(s, S[|R|], H[n].h); }
  assert n > 0 ==> Before(H[n - 1], H[n]);
}
// What leaves the lock free takes effect when it returns or, while a window is live, when that began.
function Instant(s: Sweep, c: Change): real { if s.live.Some? then s.live.from else c.at }
lemma InTime(s: Sweep, c: Change)
  requires (c.Empty? || c.ExtendedLate?) && Accepts(s, c) && (c.Empty? ==> c.since <= c.at) && (s.live.Some? ==> s.freeAt == s.live.from <= c.at)
  ensures Within(c, Instant(s, c))
{}
lemma BuildAside(H: seq<Change>, n: int, s: Sweep, R: seq<Point>, S: seq<Lock>) returns (Q: seq<Point>, T: seq<Lock>)
  requires Builds(H, n, s, R, S) && (H[n].Empty? || H[n].ExtendedLate?) ensures Built(H, n + 1, Next(s, H[n], n), Q, T)
{
  LateKnown(H, n, s);
  if H[n].ExtendedLate? && Late(H, n) { Uncontested(s, S[|R|], H[n].h); }
  assert n > 0 ==> Before(H[n - 1], H[n]);
  assert s.live.Some? ==> Before(H[s.live.i], H[n]);
  InTime(s, H[n]);
  Q, T := Append(H, R, S, n, Instant(s, H[n]));
}
lemma NoViolationIsLinearizable(H: seq<Change>) returns (R: seq<Point>, S: seq<Lock>)
  requires History(H) && NoViolation(H, |H|) ensures Linearization(H, R, S)
{
  R, S := Build(H, |H|);
  var s := After(H, |H|);
  if s.live.Some? { R, S := Append(H, R, S, s.live.i, s.live.from); }
}

// Second half: with a linearization there is no violation.
// Between two begins, or a begin and what needs the lock free, there is an end of the first one's hold.
predicate Takes(H: seq<Change>, R: seq<Point>, k: int, h: int) { 0 <= k < |R| && IsBegin(H, R[k].i, h) }
predicate EndIn(H: seq<Change>, R: seq<Point>, x: int, k: int, m: int, h: int) { k < x < m && 0 <= x < |R| && IsEnd(H, R[x].i, h) }
lemma Held(H: seq<Change>, R: seq<Point>, S: seq<Lock>, k: int, m: int, h: int)
  requires Steps(H, R, S) && Takes(H, R, k, h) && k < m <= |R| && (forall x :: k < x < m ==> !IsEnd(H, R[x].i, h)) ensures S[m].holder == By(h)
{
  if m > k + 1 {
    Held(H, R, S, k, m - 1, h);
    assert Can(H, S[m - 1], R[m - 1].i) && !IsEnd(H, R[m - 1].i, h);
  }
}
lemma FindEnd(H: seq<Change>, R: seq<Point>, S: seq<Lock>, k: int, m: int, h: int) returns (x: int)
  requires Steps(H, R, S) && Takes(H, R, k, h) && k < m < |R| && 0 <= R[m].i < |H| && !H[R[m].i].Ended? ensures EndIn(H, R, x, k, m, h) && R[x].at <= R[m].at
{
  if forall x :: k < x < m ==> !IsEnd(H, R[x].i, h) {
    Held(H, R, S, k, m, h);
    assert Can(H, S[m], R[m].i);
  }
  x :| k < x < m && IsEnd(H, R[x].i, h);
}
// The ends of a hold's earlier windows come before the begin of a later one, wherever an extension that was called early
// is placed.
lemma EndBefore(H: seq<Change>, j: int, e: int, h: int)
  requires History(H) && IsEnd(H, j, h) && IsEnd(H, e, h) && e != j && H[e].at <= H[j].at ensures e < j
{
  if e > j {
    assert At(e);
    var o :| Opens(H, o, e, h);
    assert o < j ==> EndBetween(H, o, e, h);
    assert o > j ==> Before(H[j], H[o]);
  }
}
lemma EndsFirst(H: seq<Change>, R: seq<Point>, S: seq<Lock>, kb: int, kj: int, h: int)
  requires History(H) && Linearization(H, R, S) && Takes(H, R, kb, h) && 0 <= kj < |R| && IsEnd(H, R[kj].i, h) && R[kj].i < R[kb].i
  ensures kj < kb decreases R[kj].i
{
  if kb < kj {
    var j := R[kj].i;
    assert At(j);
    var a :| Opens(H, a, j, h);
    assert Has(R, a);
    var ka :| 0 <= ka < |R| && R[ka].i == a;
    assert R[ka].at <= H[a].at < H[j].at == R[kj].at;
    var x: int;
    if kb < ka {
      x := FindEnd(H, R, S, kb, ka, h);
      assert H[R[x].i].at == R[x].at < H[j].at;
    } else {
      x := FindEnd(H, R, S, ka, kb, h);
      assert x < kj && H[R[x].i].at == R[x].at <= R[kj].at;
    }
    EndBefore(H, j, R[x].i, h);
    EndsFirst(H, R, S, kb, x, h);
    assert R[x].i > a ==> EndBetween(H, a, j, h);
    EndsFirst(H, R, S, ka, x, h);
  }
}
// So what needs the lock free, comes after a begin and is no later than any of the hold's ends behind it, cannot be.
lemma Overlap(H: seq<Change>, R: seq<Point>, S: seq<Lock>, b: int, k: int, m: int, n: int)
  requires 0 <= b < n < |H| && History(H) && Linearization(H, R, S) && Takes(H, R, k, H[b].h) && R[k].i == b && k < m < |R| && !H[R[m].i].Ended?
  requires !EndBetween(H, b, n, H[b].h) && R[m].at <= H[n].at && (H[n].Ended? ==> R[m].at < H[n].at)
  ensures false
{
  var x := FindEnd(H, R, S, k, m, H[b].h);
  var e := R[x].i;
  if e < b { EndsFirst(H, R, S, k, x, H[b].h); }
  assert e > n ==> Before(H[n], H[e]);
}
lemma LivesApart(H: seq<Change>, R: seq<Point>, S: seq<Lock>, n: int, s: Sweep)
  requires History(H) && Linearization(H, R, S) && n < |H| && KnowsLive(H, n, s)
  ensures H[n].Began? ==> Alone(s)
  ensures H[n].Empty? ==> HadFreePoint(s, H[n].since)
  ensures H[n].ExtendedLate? ==> NobodyHolds(s, H[n].at)
{
  if s.live.Some? && !H[n].Ended? {
    var b := s.live.i;
    assert Has(R, b) && Has(R, n) && Before(H[b], H[n]);
    var k :| 0 <= k < |R| && R[k].i == b;
    var m :| 0 <= m < |R| && R[m].i == n;
    if k < m { Overlap(H, R, S, b, k, m, n); }
    else if H[n].Began? {
      var x := FindEnd(H, R, S, m, k, H[n].h);
      var e := R[x].i;
      if e < n { EndsFirst(H, R, S, m, x, H[n].h); }
      assert Before(H[n], H[e]);
    }
  }
}
// Nobody else may renew after w has acquired the lock, until he touches or takes it himself.
lemma Renewing(H: seq<Change>, R: seq<Point>, S: seq<Lock>, k: int, m: int, w: int, h: int)
  requires Steps(H, R, S) && Takes(H, R, k, w) && w != h && k < m <= |R|
  requires forall x :: k < x < m && 0 <= x < |R| && 0 <= R[x].i < |H| && H[R[x].i].h == h ==> !H[R[x].i].Began? && !H[R[x].i].Empty?
  ensures !MayRenew(S[m], h)
{
  if m > k + 1 { Renewing(H, R, S, k, m - 1, w, h); }
}
lemma Uninterrupted(H: seq<Change>, R: seq<Point>, S: seq<Lock>, n: int, s: Sweep)
  requires History(H) && Linearization(H, R, S) && n < |H| && KnowsLive(H, n, s) && KnowsEnds(H, n, s) && (H[n].Began? || H[n].ExtendedLate?)
  ensures NotInterrupted(s, H[n].h)
{
  var h := H[n].h;
  if !NotInterrupted(s, h) {
    var l :| 0 <= l < n && H[l].Ended? && H[l].at == s.last;
    var w := H[l].h;
    assert At(l);
    var o :| Opens(H, o, l, w);
    assert Has(R, o) && Has(R, n) && Before(H[l], H[n]);
    var k :| 0 <= k < |R| && R[k].i == o;
    var m :| 0 <= m < |R| && R[m].i == n;
    if m < k {
      assert H[n].Began?;
      var x := FindEnd(H, R, S, m, k, h);
      if R[x].i < n { EndsFirst(H, R, S, m, x, h); }
      assert Before(H[n], H[R[x].i]);
    }
    forall x | k < x < m && H[R[x].i].h == h ensures !H[R[x].i].Began? && !H[R[x].i].Empty? {
      if H[R[x].i].Began? || H[R[x].i].Empty? { Between(H, R, S, n, s, l, o, k, m, x); }
    }
    Renewing(H, R, S, k, m, w, h);
    LateKnown(H, n, s);
  }
}
lemma Between(H: seq<Change>, R: seq<Point>, S: seq<Lock>, n: int, s: Sweep, l: int, o: int, k: int, m: int, x: int)
  requires History(H) && Linearization(H, R, S) && n < |H| && KnowsEnds(H, n, s) && (H[n].Began? || H[n].ExtendedLate?)
  requires H[n].h in s.past && 0 <= l < n && H[l].Ended? && H[l].at > s.past[H[n].h] && H[l].h != H[n].h && Opens(H, o, l, H[l].h)
  requires 0 <= k < x < m < |R| && R[k].i == o && R[m].i == n && H[R[x].i].h == H[n].h && (H[R[x].i].Began? || H[R[x].i].Empty?)
  ensures false
{
  var h, q := H[n].h, R[x].i;
  var z :| 0 <= z < n && IsOver(H, z, h) && H[z].at == s.past[h];
  assert At(q) && At(n) && At(z);
  if q < n {
    if H[q].Began? {
      assert EndBetween(H, q, n, h);
      var e :| q < e < n && IsEnd(H, e, h);
      assert Before(H[q], H[e]);
    }
    assert R[x].at <= H[q].at <= s.past[h] < H[l].at;
    Overlap(H, R, S, o, k, x, l);
  } else {
    assert H[q].Began?;
    var y := FindEnd(H, R, S, x, m, h);
    var e := R[y].i;
    assert e > n ==> Before(H[n], H[e]);
    EndsFirst(H, R, S, x, y, h);
  }
}
lemma LinearizableIsNoViolation(H: seq<Change>, R: seq<Point>, S: seq<Lock>, n: int)
  requires History(H) && Linearization(H, R, S) && 0 <= n <= |H| ensures NoViolation(H, n)
{
  if n > 0 {
    LinearizableIsNoViolation(H, R, S, n - 1);
    Sweeps(H, n - 1);
    LivesApart(H, R, S, n - 1, After(H, n - 1));
    if H[n - 1].Began? || H[n - 1].ExtendedLate? { Uninterrupted(H, R, S, n - 1, After(H, n - 1)); }
  }
}

// The checker's theorem.
lemma Exact(H: seq<Change>)
  requires History(H) ensures NoViolation(H, |H|) <==> exists R, S :: Linearization(H, R, S)
{
  if NoViolation(H, |H|) { var R, S := NoViolationIsLinearizable(H); }
  if R, S :| Linearization(H, R, S) { LinearizableIsNoViolation(H, R, S, |H|); }
}
