package sim

import "github.com/lockstorm/lockstorm/env"

// replica is what has come to the other nodes of a store whose changes are
// answered before they are replicated. It lags behind the leader's machine by
// the changes that are on their way.
type replica struct {
	machine machine
	log     []logged // on their way, in their order
}

// logged is one change: carried out at the same moment it has the same effect on
// the replica.
type logged struct {
	request env.StoreRequest
	now     clockReading
	arrives int64 // ground time
}

// enter puts a change on its way.
func (r *replica) enter(l logged, now int64) {
	r.catchUp(now)
	r.log = append(r.log, l)
}

// catchUp carries out what has come by a ground time.
func (r *replica) catchUp(now int64) {
	for len(r.log) > 0 && r.log[0].arrives <= now {
		r.machine.do(&r.log[0].request, r.log[0].now)
		r.log = r.log[1:]
	}
}

// takeOver gives a new leader its state. If that is another node than the last
// one, it is what had come to it when that was lost: what was on its way has not
// happened, and its revisions are used again. The other nodes catch up with the
// new leader at once. It returns how many changes are lost.
func (s *ensemble) takeOver(id int, mono int64) (lost uint64) {
	if s.replica != nil && id != s.last {
		lost = s.machine.revision - s.replica.machine.revision
		s.machine = s.replica.machine
	}
	s.machine.anew(mono)
	if s.replica != nil {
		s.replica.machine, s.replica.log = s.machine.copied(), nil
	}
	s.leader = id
	return lost
}
