include "assumptions.dfy"
// A5 from clocks. True time and readings are in milliseconds. A clock is fast by at most `fast` and slow by at most `slow`
// (0.01 is 1 %); its steps forward add up to at most `forward`, its steps back and stops to at most `back`.
datatype Drift = Drift(fast: real, slow: real, forward: real, back: real)
predicate Possible(d: Drift) { 0.0 <= d.fast && 0.0 <= d.slow < 1.0 && 0.0 <= d.forward && 0.0 <= d.back }
predicate A5Fast(clock: real -> real, d: Drift) { forall t, u :: t <= u ==> clock(u) - clock(t) <= (u - t) * (1.0 + d.fast) + d.forward }
predicate A5Slow(clock: real -> real, d: Drift) { forall t, u :: t <= u ==> clock(u) - clock(t) >= (u - t) * (1.0 - d.slow) - d.back }

// For how long in true time a node keeps a key, at least, and a client relies on a round, at most. grain: what rounding
// takes from the life of a key. `node` and `client` are the drifts of their clocks.
function Keep(ttl: real, grain: real, node: Drift): real requires Possible(node) { (ttl - grain - node.forward) / (1.0 + node.fast) }
function Lease(ttl: real, allowance: real, client: Drift): real requires Possible(client) { (ttl - allowance + client.back) / (1.0 - client.slow) }

lemma AtMost(a: real, b: real, x: real) requires b > 0.0 && a <= x * b ensures a / b <= x { assert a == (a / b) * b; }
lemma AtLeast(a: real, b: real, x: real) requires b > 0.0 && x * b <= a ensures x <= a / b { assert a == (a / b) * b; }
lemma Below(a: real, b: real, x: real) requires b > 0.0 && x * b < a ensures x < a / b { assert a == (a / b) * b; }

// Redis stores the millisecond of its clock plus the TTL, and drops the key when its clock shows a later millisecond:
// no time is lost. A server that drops it at that millisecond takes up to 1 ms.
lemma WholeMilliseconds(at: real, now: real, ttl: int)
  ensures now.Floor > at.Floor + ttl ==> now - at > ttl as real
  ensures now.Floor >= at.Floor + ttl ==> now - at > ttl as real - 1.0
{}
// A node that drops at `now` a key that it set at `at`: `now` is what the machine calls `expires`. Uses A5.
lemma KeyLasts(clock: real -> real, node: Drift, at: real, now: real, ttl: real, grain: real)
  requires Possible(node) && A5Fast(clock, node) && at <= now && clock(now) - clock(at) > ttl - grain
  ensures now >= at + Keep(ttl, grain, node)
{
  AtMost(ttl - grain - node.forward, 1.0 + node.fast, now - at);
}
// hold.go: Check; acquire.go: check. Readings are whole (nanoseconds in the code); rounding down makes no lease longer.
lemma WholeReadings(read: real, now: real, validity: int)
  requires now.Floor < read.Floor + validity
  ensures now - read < validity as real
{}
// A client that still relies on a round at `now`, having read its clock at `read` in true time. Uses A5.
lemma LeaseEnds(clock: real -> real, client: Drift, read: real, now: real, ttl: real, allowance: real)
  requires Possible(client) && A5Slow(clock, client) && read <= now && clock(now) - clock(read) < ttl - allowance
  ensures now < read + Lease(ttl, allowance, client)
{
  Below(ttl - allowance + client.back, 1.0 - client.slow, now - read);
}
// The exact condition under which the lease is no longer than the key.
lemma ExactCondition(ttl: real, allowance: real, grain: real, node: Drift, client: Drift)
  requires Possible(node) && Possible(client)
  ensures A5(Lease(ttl, allowance, client), Keep(ttl, grain, node)) <==>
    allowance * (1.0 + node.fast) >= ttl * (node.fast + client.slow) + (grain + node.forward) * (1.0 - client.slow) + client.back * (1.0 + node.fast)
{
  var a, b, p, q := ttl - allowance + client.back, 1.0 - client.slow, ttl - grain - node.forward, 1.0 + node.fast;
  var l, k := a / b, p / q;
  assert a == l * b && p == k * q;
  Cross(l, k, b, q);
  assert a * q == l * b * q == l * (b * q);
  assert p * b == k * q * b == k * (b * q);
  assert a * q == ttl * q - allowance * q + client.back * q;
  assert p * b == ttl * b - (grain + node.forward) * b;
  assert ttl * q - ttl * b == ttl * (node.fast + client.slow);
}
lemma Cross(l: real, k: real, b: real, q: real)
  requires b > 0.0 && q > 0.0
  ensures l <= k <==> l * (b * q) <= k * (b * q)
{
  var m := b * q;
  assert m > 0.0;
  Scale(l, k, m);
}
lemma Scale(l: real, k: real, m: real) requires m > 0.0 ensures l <= k <==> l * m <= k * m {
  assert (k - l) * m == k * m - l * m;
  if l <= k { assert (k - l) * m >= 0.0; } else { assert (l - k) * m > 0.0; }
}
// The condition cannot be weaker: if it fails, two clocks within the bounds let a client rely on a key that is gone.
lemma ExactlySo(ttl: real, allowance: real, fast: real, slow: real) returns (now: real)
  requires 0.0 < ttl && 0.0 <= fast && 0.0 <= slow < 1.0 && allowance * (1.0 + fast) < ttl * (fast + slow)
  ensures now * (1.0 + fast) == ttl && now * (1.0 - slow) < ttl - allowance
{
  now := ttl / (1.0 + fast);
  var x := now * (1.0 - slow);
  assert x * (1.0 + fast) == ttl * (1.0 - slow);
  assert (ttl - allowance) * (1.0 + fast) == ttl * (1.0 + fast) - allowance * (1.0 + fast);
  assert ttl * (1.0 + fast) - ttl * (fast + slow) == ttl * (1.0 - slow);
  if x >= ttl - allowance { Scale(ttl - allowance, x, 1.0 + fast); }
}
// config.go: Allowance is at least TTL × drift factor + 2 ms. Without steps, and with at most 1 ms lost to rounding, it is
// enough that drift factor >= (fast + slow) / (1 + fast).
lemma DriftFactor(ttl: real, allowance: real, factor: real, grain: real, node: Drift, client: Drift)
  requires Possible(node) && Possible(client) && node.forward == 0.0 && client.back == 0.0
  requires 0.0 <= ttl && 0.0 <= grain <= 1.0 && allowance >= ttl * factor + 2.0
  requires factor >= (node.fast + client.slow) / (1.0 + node.fast)
  ensures A5(Lease(ttl, allowance, client), Keep(ttl, grain, node))
{
  var q, d := 1.0 + node.fast, node.fast + client.slow;
  assert d == (d / q) * q;
  Scale(d / q, factor, q);
  assert factor * q >= d;
  assert ttl * (factor * q) >= ttl * d by { assert ttl * (factor * q - d) >= 0.0; }
  Scale(ttl * factor + 2.0, allowance, q);
  assert (ttl * factor + 2.0) * q == ttl * (factor * q) + 2.0 * q;
  assert grain * (1.0 - client.slow) <= 1.0 by { assert grain * (1.0 - client.slow) == grain - grain * client.slow; assert grain * client.slow >= 0.0; }
  ExactCondition(ttl, allowance, grain, node, client);
}
// A4Long: silence that is counted on a clock that is fast by no more than a node's may be, and that is no shorter than the
// longest TTL, is no shorter than any lease. (config.go: validateQuarantine)
lemma QuietIsLong(quiet: real, longest: real, ttl: real, allowance: real, counter: Drift, client: Drift)
  requires Possible(counter) && Possible(client) && ttl <= longest <= quiet
  requires A5(Lease(ttl, allowance, client), Keep(ttl, 0.0, counter))
  ensures Lease(ttl, allowance, client) <= Keep(quiet, 0.0, counter)
{
  var q := 1.0 + counter.fast;
  AtMost(ttl - counter.forward, q, (quiet - counter.forward) / q);
}
