include "exclusion.dfy"
// Backing implies V1, for any lock, from what an observer of the nodes sees: no clients, no messages, no algorithm.

// What a node shows at an instant: the token of its key, when that expires, and until when it is known not to vote for
// any token that it has not voted for yet.
datatype View = View(has: bool, token: Token, expires: real, silent: real)
// A hold as its holder relies on it, from `granted` until `ends`; an extension is a hold of its own. since: from when on
// each node of the quorum has had the token without a break, but for times in which it was silent.
datatype Hold = Hold(token: Token, quorum: set<Node>, since: map<Node, real>, granted: real, ends: real)

predicate Stores(v: View, h: Hold) { v.has && v.token == h.token }
// Until the end that the holder relies on, a node has the hold's token with an expiry no earlier than that end, or is known
// not to vote until then.
predicate Covers(v: View, h: Hold) { (Stores(v, h) && v.expires >= h.ends) || v.silent >= h.ends }

// Each node of the quorum has voted by the grant; it had the token and was not silent then. It has kept the token or
// was silent until the grant, and covers the hold from the grant until its end.
predicate Backing(view: (Node, real) -> View, h: Hold) {
  forall n :: n in h.quorum ==> n in h.since && h.since[n] <= h.granted &&
    Stores(view(n, h.since[n]), h) && view(n, h.since[n]).silent <= h.since[n] &&
    (forall x :: h.since[n] <= x < h.granted ==> Stores(view(n, x), h) || view(n, x).silent > x) &&
    (forall x :: h.granted <= x < h.ends ==> Covers(view(n, x), h))
}
// Two holds that are relied on at one instant have the same token. Uses A1 for their two quorums.
lemma BackingImpliesV1(view: (Node, real) -> View, g: Hold, h: Hold, x: real)
  requires Backing(view, g) && Backing(view, h) && exists n :: n in g.quorum && n in h.quorum
  requires g.granted <= x < g.ends && h.granted <= x < h.ends
  ensures g.token == h.token
{
  var n :| n in g.quorum && n in h.quorum;
  assert Stores(view(n, g.since[n]), g) && Stores(view(n, h.since[n]), h);
}

// In every run of the state machine the votes of a live round cover it, from each vote on.
lemma RunsAreBacked(c: Config, run: seq<State>, k: nat, i: Id, n: Node)
  requires Run(c, run) && k < |run| && Live(run[k], i) && n in run[k].rounds[i].votes
  ensures run[k].rounds[i].try in run[k].token && (Keeps(run[k], i, n) || Silent(c, run[k], i, n))
{
  Always(c, run, k);
}
// A node votes for what it then stores, and for no live round of another try.
lemma VotesAreStored(c: Config, s: State, t: State, i: Id, n: Node)
  requires Inv(c, s) && Next(c, s, t) && i in s.rounds && Live(t, i) && n !in s.rounds[i].votes && n in t.rounds[i].votes
  ensures Inv(c, t) && n in t.key && t.key[n].token == TokenOf(t, i)
  ensures forall j :: Live(t, j) && n in t.rounds[j].votes ==> t.rounds[j].try == t.rounds[i].try
{
  Step(c, s, t);
}
