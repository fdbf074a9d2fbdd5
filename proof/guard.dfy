include "assumptions.dfy"
// V3, effect exclusion, behind a resource that checks fences on reads and writes (F2): for any clients, however long
// they pause and whenever their requests arrive. It needs no lock, only fences of which no two sections have the same.

// One access that the resource accepted. The log is ghost.
datatype Access = Access(fence: nat, write: bool, value: int)
datatype Resource = Resource(value: int, highest: nat, log: seq<Access>)

predicate ResourceInit(s: Resource) { s.log == [] }
// guard.go: Read, Write, in mode Fenced. A rejected access changes nothing.
predicate Read(s: Resource, t: Resource, fence: nat) {
  F2Reads(s.highest, fence) && t == s.(highest := fence, log := s.log + [Access(fence, false, s.value)])
}
predicate Write(s: Resource, t: Resource, fence: nat, value: int) {
  F2Writes(s.highest, fence) && t == s.(value := value, highest := fence, log := s.log + [Access(fence, true, value)])
}
predicate ResourceNext(s: Resource, t: Resource) {
  (exists f :: Read(s, t, f)) || (exists f, v :: Write(s, t, f, v))
}
predicate ResourceInv(s: Resource) {
  && (forall i, j :: 0 <= i < j < |s.log| ==> s.log[i].fence <= s.log[j].fence)
  && (forall i :: 0 <= i < |s.log| ==> s.log[i].fence <= s.highest)
  && (|s.log| > 0 ==> s.log[|s.log| - 1].value == s.value)
  && (forall i :: 0 < i < |s.log| && !s.log[i].write ==> s.log[i].value == s.log[i - 1].value)
}
lemma ResourceAtInit(s: Resource) requires ResourceInit(s) ensures ResourceInv(s) {}
// Uses F2.
lemma ResourceStep(s: Resource, t: Resource) requires ResourceInv(s) && ResourceNext(s, t) ensures ResourceInv(t) {}

// V3: between two accesses of a section there is none of another, so sections take effect one after another and no update
// is lost.
lemma V3(s: Resource, i: int, j: int, k: int)
  requires ResourceInv(s) && 0 <= i < j < k < |s.log| && s.log[i].fence == s.log[k].fence
  ensures s.log[j].fence == s.log[i].fence
{}
