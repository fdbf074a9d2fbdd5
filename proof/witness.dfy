include "exclusion.dfy"
// The theorems are not empty: there is a run in which a try is granted the lock and holds it.
lemma SomebodyHolds(h: Try, a: Token, i: Id) returns (c: Config, run: seq<State>)
  ensures A1(c) && Run(c, run) && i in run[|run| - 1].granted && Holds(c, run[|run| - 1], i)
{
  c := Config(iset{{1}}, 10.0);
  var s0 := State(0.0, map[], {}, map[], map[], map[], {}, {});
  var s1 := s0.(token := map[h := a]);
  var s2 := s1.(rounds := map[i := Round(h, 0.0, 9.0, 10.0, {}, 0.0)]);
  var s3 := Store(s2, 1, Key(a, 10.0, true, 0.0)).(rounds := map[i := Voted(s2.rounds[i], 1, 0.0)]);
  var s4 := s3.(granted := {i});
  assert {1} in c.quorums && {1} <= s3.rounds[i].votes;
  assert Begin(s0, s1, h, a);
  assert Send(c, s1, s2, i, h, 0.0, 9.0, 10.0);
  assert Set(c, s2, s3, i, 1, 10.0, true);
  assert Grant(c, s3, s4, i);
  run := [s0, s1, s2, s3, s4];
}
