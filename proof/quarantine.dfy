include "assumptions.dfy"
// A4 from a quarantine: what clients know of run ids implies that a node whose vote counts has been running for the
// quarantine. (redlock/quarantine.go) Answers of nodes in quarantine are free: they may set keys, refuse, and reply.
type Incarnation(==,!new) // the run id of a server process
type Client(==,!new)

// born: when a process began, which is not before its node lost data. first: when a client first saw a process. notes:
// processes that some client has vouched for, on any node.
datatype Watch = Watch(now: real, born: map<Incarnation, real>, first: map<(Client, Incarnation), real>, notes: set<Incarnation>)

predicate WatchInit(s: Watch) { s.born == map[] && s.first == map[] && s.notes == {} }
// A server starts. Notes that its file brings back are about other processes.
predicate StartServer(s: Watch, t: Watch, r: Incarnation) { r !in s.born && t == s.(born := s.born[r := s.now]) }
// observeRun: a reply of the process has arrived.
predicate Observe(s: Watch, t: Watch, c: Client, r: Incarnation) {
  r in s.born && (c, r) !in s.first && t == s.(first := s.first[(c, r) := s.now])
}
// The process was known for long enough when the request was sent. (weigh: age)
predicate Known(s: Watch, quiet: real, c: Client, r: Incarnation, sent: real) {
  (c, r) in s.first && s.first[(c, r)] + quiet <= sent && sent <= s.now
}
// attest.
predicate Attest(s: Watch, t: Watch, quiet: real, c: Client, r: Incarnation, sent: real) {
  Known(s, quiet, c, r, sent) && t == s.(notes := s.notes + {r})
}
predicate WatchTick(s: Watch, t: Watch, d: real) { d > 0.0 && t == s.(now := s.now + d) }
predicate WatchNext(s: Watch, t: Watch, quiet: real) {
  || (exists r :: StartServer(s, t, r))
  || (exists c, r :: Observe(s, t, c, r))
  || (exists c, r, sent :: Attest(s, t, quiet, c, r, sent))
  || (exists d :: WatchTick(s, t, d))
}
predicate WatchInv(s: Watch, quiet: real) {
  && (forall r :: r in s.born ==> s.born[r] <= s.now)
  && (forall c, r :: (c, r) in s.first ==> r in s.born && s.born[r] <= s.first[(c, r)])
  && (forall r :: r in s.notes ==> r in s.born && s.born[r] + quiet <= s.now)
}
lemma WatchAtInit(s: Watch, quiet: real) requires WatchInit(s) ensures WatchInv(s, quiet) {}
lemma WatchStep(s: Watch, t: Watch, quiet: real)
  requires WatchInv(s, quiet) && WatchNext(s, t, quiet)
  ensures WatchInv(t, quiet) && forall r :: r in s.born ==> r in t.born && t.born[r] == s.born[r]
{}
// A vote that counts: the process r carried out the SET in state x, and the client weighs the reply in a later state y;
// r has been running for the quarantine when it carried out the SET, which is A4Quiet.
lemma CountedVote(x: Watch, y: Watch, quiet: real, c: Client, r: Incarnation, sent: real)
  requires WatchInv(x, quiet) && WatchInv(y, quiet) && r in x.born && r in y.born && x.born[r] == y.born[r]
  requires sent <= x.now <= y.now
  requires r in x.notes || Known(y, quiet, c, r, sent)
  ensures x.born[r] + quiet <= x.now
{}
// A yes to an extension from the process whose yes to SET counted comes from a node that may vote: A4Extends.
// (weighExtension)
lemma SameProcess(x: Watch, y: Watch, quiet: real, r: Incarnation)
  requires r in x.born && r in y.born && x.born[r] == y.born[r] && x.born[r] + quiet <= x.now <= y.now
  ensures y.born[r] + quiet <= y.now
{}
