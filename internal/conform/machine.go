package conform

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// The state of one resource and its steps: proof/state.dfy and proof/machine.dfy. Each function that has the
// name of a predicate there is its transcription; testdata/guards.txt has both texts side by side. Times are
// on the ground clock. Nodes are numbered from 1, tries and rounds from 0.

// Time is an instant or a duration in nanoseconds.
type Time = int64

type (
	try   = int
	round = int
)

// key is a key of a node. voted: a vote for it has counted, since the instant since.
type key struct {
	token   string
	expires Time
	voted   bool
	since   Time
}

// stored is a key that a node has, or has had since it last lost data.
type stored struct {
	node int
	key  key
}

// roundState is a SET or an extension: when the client read its clock, for how long after that it relies on
// the round at most, for how long nodes keep a key at least, and the nodes whose votes count. newest: the latest
// instant since which the key of one of these votes had been voted for.
type roundState struct {
	try               try
	read, lease, keep Time
	votes             uint64 // one bit per node, the lowest being node 1
	newest            Time
}

// Kinds are the kinds of steps, in the order of Next in machine.dfy and of FencesNext in fences.dfy.
var Kinds = []kind{
	begin, sending, set, extend, drop, grant, giveUp, deletion, revert, empty, tick,
	beginDraw, count, choose, raise, change, endDraw,
}

// machine is a state, and what does not change: the quorums and the silence of nodes that have lost data.
type machine struct {
	quorums history.Electorate
	quiet   Time

	now     Time
	key     map[int]key
	past    []stored // without those that are no longer alive, unless archive has them
	archive []stored // the others, which a file may bring back
	lost    map[int]Time
	token   []string // by try
	rounds  []roundState
	done    []bool // by try
	granted []bool // by round
	held    []Time // by try: when it last held the lock by a round that is no longer live

	tokens  map[string]bool // those of all tries
	givenUp map[string]bool // those of tries that are done
	live    []round         // no other one can become live again (NeverAgain)
}

func newMachine(quorums history.Electorate, quiet Time) *machine {
	return &machine{quorums: quorums, quiet: quiet, key: map[int]key{}, lost: map[int]Time{}, tokens: map[string]bool{}, givenUp: map[string]bool{}}
}

// guard is a condition of a step. name is that of its predicate, or its text in machine.dfy.
type guard struct {
	name  string
	holds bool
}

// failing returns the names of the guards that do not hold.
func failing(guards ...guard) (names []string) {
	for _, g := range guards {
		if !g.holds {
			names = append(names, g.name)
		}
	}
	return names
}

func bit(node int) uint64 { return 1 << (node - 1) }

// Ends is the instant until which a client may rely on a round.
func (r *roundState) ends() Time { return r.read + r.lease }

func (s *machine) Live(i round) bool {
	return i < len(s.rounds) && !s.done[s.rounds[i].try] && s.now < s.rounds[i].ends()
}

func (s *machine) HasQuorum(votes uint64) bool {
	return s.quorums.Count(votes) >= s.quorums.Needed()
}

func (s *machine) Holds(i round) bool { return s.Live(i) && s.HasQuorum(s.rounds[i].votes) }

// The steps carry themselves out whether or not their guards hold, and return those that do not.

func (s *machine) Begin(a string) (h try, wrong []string) {
	wrong = failing(guard{"A2Fresh", s.A2Fresh(a)})
	s.token, s.done, s.held, s.tokens[a] = append(s.token, a), append(s.done, false), append(s.held, 0), true
	return len(s.token) - 1, wrong
}

func (s *machine) Send(h try, read, lease, keep Time) (i round, wrong []string) {
	wrong = failing(
		guard{"h in s.token", h < len(s.token)},
		guard{"A6Read", s.A6Read(read)},
		guard{"A5", A5(lease, keep)},
		guard{"A4Long", s.A4Long(lease)})
	s.rounds = append(s.rounds, roundState{try: h, read: read, lease: lease, keep: keep})
	s.granted = append(s.granted, false)
	if i = len(s.rounds) - 1; s.Live(i) {
		s.live = append(s.live, i)
	}
	return i, wrong
}

// vote adds the vote of a node, for a key that was first voted for at the instant since.
func (r *roundState) vote(n int, since Time) {
	if r.votes == 0 || since > r.newest {
		r.newest = since
	}
	r.votes |= bit(n)
}

// store stores a key on a node.
func (s *machine) store(n int, k key) {
	s.key[n] = k
	if p := (stored{n, k}); !slices.Contains(s.past, p) {
		s.past = append(s.past, p)
	}
}

func (s *machine) Set(i round, n int, expires Time, counts bool) []string {
	r := &s.rounds[i]
	wrong := failing(
		guard{"A3Absent", s.A3Absent(n)},
		guard{"expires >= s.now + s.rounds[i].keep", expires >= s.now+r.keep},
		guard{"A4Quiet", !counts || s.A4Quiet(n)})
	s.store(n, key{token: s.token[r.try], expires: expires, voted: counts, since: s.now})
	if counts {
		r.vote(n, s.now)
	}
	return wrong
}

func (s *machine) Extend(i round, n int, expires Time, counts bool) []string {
	r := &s.rounds[i]
	k, has := s.key[n]
	wrong := failing(
		guard{"n in s.key", has},
		guard{"A3Own", !has || s.A3Own(r.try, k)},
		guard{"A3Longer", A3Longer(k, expires)},
		guard{"expires >= s.now + s.rounds[i].keep", expires >= s.now+r.keep},
		guard{"A4Extends", !counts || s.A4Extends(n, k)})
	if !has {
		k.token = s.token[r.try]
	}
	if !k.voted {
		k.since = s.now
	}
	k.expires, k.voted = expires, k.voted || counts
	s.store(n, k)
	if counts {
		r.vote(n, k.since)
	}
	return wrong
}

func (s *machine) Drop(n int) []string {
	k, has := s.key[n]
	wrong := failing(guard{"n in s.key", has}, guard{"A3Expired", !has || s.A3Expired(k)})
	delete(s.key, n)
	return wrong
}

func (s *machine) Grant(i round) []string {
	r := &s.rounds[i]
	wrong := failing(
		guard{"HasQuorum", s.HasQuorum(r.votes)},
		guard{"s.rounds[i].try !in s.done", !s.done[r.try]},
		guard{"A6Check", s.A6Check(r)})
	s.granted[i] = true
	return wrong
}

func (s *machine) GiveUp(h try) []string {
	wrong := failing(guard{"h in s.token", h < len(s.token)})
	s.done[h], s.givenUp[s.token[h]] = true, true
	s.prune()
	return wrong
}

func (s *machine) Delete(h try, n int) []string {
	k, has := s.key[n]
	wrong := failing(
		guard{"h in s.token", h < len(s.token)},
		guard{"n in s.key", has},
		guard{"A2GivenUp", s.A2GivenUp(h)},
		guard{"A2Compares", !has || s.A2Compares(h, k)})
	delete(s.key, n)
	return wrong
}

// Revert and Empty have a further argument: when the node last carried out anything. A node that is down
// does nothing, so the step may be placed where it went down.

func (s *machine) Revert(p stored, at Time) []string {
	wrong := failing(guard{"A4Own", s.A4Own(p)})
	s.forget(p.node)
	s.key[p.node] = p.key
	s.past = append(s.past, p)
	s.lost[p.node] = at
	return wrong
}

func (s *machine) Empty(n int, at Time) []string {
	delete(s.key, n)
	s.forget(n)
	s.lost[n] = at
	return nil
}

// forget forgets what a node has had.
func (s *machine) forget(n int) {
	here := func(p stored) bool { return p.node == n }
	s.past, s.archive = slices.DeleteFunc(s.past, here), slices.DeleteFunc(s.archive, here)
}

func (s *machine) Tick(d Time) []string {
	wrong := failing(guard{"d > 0.0", d > 0})
	s.now += d
	s.prune()
	return wrong
}

// prune drops what the invariant no longer speaks of: rounds that are not live, and copies that are not alive.
// Neither comes back.
func (s *machine) prune() {
	s.live = slices.DeleteFunc(s.live, func(i round) bool {
		if s.Live(i) {
			return false
		}
		if r := &s.rounds[i]; s.HasQuorum(r.votes) {
			s.held[r.try] = max(s.held[r.try], min(s.now, r.ends()))
		}
		return true
	})
	s.past = slices.DeleteFunc(s.past, func(p stored) bool {
		if s.Alive(p.key) {
			return false
		}
		s.archive = append(s.archive, p)
		return true
	})
}
