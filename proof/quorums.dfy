include "assumptions.dfy"
// A1 for majorities, with and without weights. (env.Quorum; nodes are numbered from 1)

// The votes of the nodes 1 to k of a set.
function Votes(w: seq<nat>, q: set<Node>, k: nat): nat requires k <= |w| {
  if k == 0 then 0 else Votes(w, q, k - 1) + (if k in q then w[k - 1] else 0)
}
function Total(w: seq<nat>, k: nat): nat requires k <= |w| { if k == 0 then 0 else Total(w, k - 1) + w[k - 1] }

// env.Quorum.Has: more than half of all votes. A node that does not vote has weight 0.
predicate Has(w: seq<nat>, q: set<Node>) { 2 * Votes(w, q, |w|) > Total(w, |w|) }

lemma Apart(w: seq<nat>, q: set<Node>, r: set<Node>, k: nat)
  requires k <= |w| && forall n :: n in q ==> n !in r
  ensures Votes(w, q, k) + Votes(w, r, k) <= Total(w, k)
{
  if k > 0 { Apart(w, q, r, k - 1); }
}
lemma WeightedMajorities(w: seq<nat>, c: Config)
  requires forall q :: q in c.quorums ==> Has(w, q)
  ensures A1(c)
{
  forall q, r | q in c.quorums && r in c.quorums ensures exists n :: n in q && n in r {
    if forall n :: n in q ==> n !in r { Apart(w, q, r, |w|); }
  }
}
// More than half of a set of nodes that all count the same.
lemma Majorities(all: set<Node>, c: Config)
  requires forall q :: q in c.quorums ==> q <= all && 2 * |q| > |all|
  ensures A1(c)
{
  forall q, r | q in c.quorums && r in c.quorums ensures exists n :: n in q && n in r {
    if forall n :: n in q ==> n !in r {
      assert q * r == {};
      assert |q + r| == |q| + |r|;
      assert (q + r) - all == {};
      assert |all - (q + r)| + |q + r| == |all + (q + r)|;
      assert all + (q + r) == all;
    }
  }
}
