include "assumptions.dfy"
// What a power cut takes from a node with an append-only file: with `appendfsync always` nothing that was acknowledged, so
// it is no step of machine.dfy; with everysec the last second, so it is Revert or Empty.

// A command that the node has carried out, and the key that it had then, if any. Times are in seconds.
datatype Entry = Entry(at: real, has: bool, key: Key)
// file: the commands in order; the first `synced` of them are on the disk, the first `acked` of them are acknowledged.
datatype Disk = Disk(now: real, file: seq<Entry>, synced: nat, acked: nat)
datatype Policy = Always | Everysec

predicate Execute(s: Disk, t: Disk, e: Entry) { e.at == s.now && t == s.(file := s.file + [e]) }
predicate Sync(s: Disk, t: Disk) { t == s.(synced := |s.file|) }
// With always a reply waits for the sync.
predicate Acknowledge(p: Policy, s: Disk, t: Disk, k: nat) { k <= (if p.Always? then s.synced else |s.file|) && k >= s.acked && t == s.(acked := k) }
// With everysec no command is older than a second and not synced: the disk is not stuck (rows stuck-sync and torn-tail).
predicate Pass(p: Policy, s: Disk, t: Disk, d: real) {
  d > 0.0 && t == s.(now := s.now + d) && (p.Everysec? ==> forall i :: s.synced <= i < |s.file| ==> t.now <= s.file[i].at + 1.0)
}
// The file keeps what was synced, and perhaps more. acked is left: it says what clients were told.
predicate PowerCut(s: Disk, t: Disk, k: nat) { s.synced <= k <= |s.file| && t == s.(file := s.file[..k]) }

predicate DiskInv(p: Policy, s: Disk) {
  && s.synced <= |s.file| && (p.Always? ==> s.acked <= s.synced)
  && (forall i :: 0 <= i < |s.file| ==> s.file[i].at <= s.now)
  && (p.Everysec? ==> forall i :: s.synced <= i < |s.file| ==> s.now <= s.file[i].at + 1.0)
}
predicate DiskNext(p: Policy, s: Disk, t: Disk) {
  || (exists e :: Execute(s, t, e))
  || Sync(s, t)
  || (exists k :: Acknowledge(p, s, t, k))
  || (exists d :: Pass(p, s, t, d))
  || (exists k :: PowerCut(s, t, k))
}
lemma DiskStep(p: Policy, s: Disk, t: Disk) requires DiskInv(p, s) && DiskNext(p, s, t) ensures DiskInv(p, t) {}

// always: what was acknowledged is still there, as it was.
lemma AlwaysKeeps(s: Disk, t: Disk, k: nat)
  requires DiskInv(Always, s) && PowerCut(s, t, k)
  ensures s.acked <= |t.file| && t.file[..s.acked] == s.file[..s.acked]
{}
// everysec: what is gone is at most a second old, and what the node has then it had before.
lemma EverysecLosesASecond(s: Disk, t: Disk, k: nat)
  requires DiskInv(Everysec, s) && PowerCut(s, t, k)
  ensures t.file <= s.file && forall i :: |t.file| <= i < |s.file| ==> s.now - 1.0 <= s.file[i].at
{}
