include "invariant.dfy"
// V1, lease exclusion, for every run of the state machine.

// A run: a finite sequence of steps from an initial state.
predicate Run(c: Config, run: seq<State>) {
  |run| > 0 && Init(run[0]) && forall k :: 0 <= k < |run| - 1 ==> Next(c, run[k], run[k + 1])
}
lemma Always(c: Config, run: seq<State>, k: nat)
  requires Run(c, run) && k < |run| ensures Inv(c, run[k])
{
  if k == 0 { AtInit(c, run[0]); } else { Always(c, run, k - 1); Step(c, run[k - 1], run[k]); }
}

// No two tries hold the lock. Uses A1, and A2 to A6 by the invariant.
lemma Exclusion(c: Config, s: State, i: Id, j: Id)
  requires A1(c) && Inv(c, s) && Holds(c, s, i) && Holds(c, s, j)
  ensures s.rounds[i].try == s.rounds[j].try
{
  var q :| q in c.quorums && q <= s.rounds[i].votes;
  var r :| r in c.quorums && r <= s.rounds[j].votes;
  var n :| n in q && n in r;
}
// V1: at no instant of any run do two tries rely on rounds whose success they have seen.
lemma V1(c: Config, run: seq<State>, k: nat, i: Id, j: Id)
  requires A1(c) && Run(c, run) && k < |run|
  requires i in run[k].granted && j in run[k].granted && Live(run[k], i) && Live(run[k], j)
  ensures run[k].rounds[i].try == run[k].rounds[j].try
{
  Always(c, run, k);
  Exclusion(c, run[k], i, j);
}
// A client that is granted a round relies on it for some time. Uses A6 (the second look at the clock).
lemma GrantedWhileLive(c: Config, s: State, t: State, i: Id) requires Grant(c, s, t, i) ensures Holds(c, t, i) {}

// The end of a hold never moves back: what was granted lasts until its end or until its holder gives it up,
// whatever else is asked for meanwhile.
lemma EndStays(c: Config, s: State, t: State, i: Id)
  requires Next(c, s, t) && Holds(c, s, i) && s.rounds[i].try !in t.done && t.now < Ends(s.rounds[i])
  ensures Holds(c, t, i) && Ends(t.rounds[i]) == Ends(s.rounds[i]) && (i in s.granted ==> i in t.granted)
{
  var q :| q in c.quorums && q <= s.rounds[i].votes;
  assert q <= t.rounds[i].votes;
}
// A round that is not live does not come back.
lemma NeverAgain(c: Config, s: State, t: State, i: Id)
  requires Next(c, s, t) && i in s.rounds && Live(t, i)
  ensures Live(s, i)
{}
