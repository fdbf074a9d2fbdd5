package postgres

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// member is what the failover manager knows of a server.
type member struct {
	state state // what faults have made of it

	// serves: it runs, as the primary or a standby that has not been stale since it started.
	serves bool

	// stale: it missed an election. It may have WAL that the new primary lacks.
	stale bool

	// leads: its process has been promoted.
	leads bool

	starting *starting // in the background, or nil
}

type state uint8

const (
	down state = iota
	up
	stopped
)

// starting is a start of a server in the background.
type starting struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	err    error         // read after done is closed
}

// eligible reports whether the server can be elected.
func (m *member) eligible() bool { return m.state == up && m.serves && !m.stale }

// Kill implements [live.Crasher].
func (s *Server) Kill() { s.leave(down, s.kill) }

// Quit implements [live.Crasher].
func (s *Server) Quit() { s.leave(down, s.quit) }

// Stop implements [live.Stopper]. It stops all processes of the server.
func (s *Server) Stop() (err error) {
	s.leave(stopped, func() { err = s.pause() })
	return err
}

// leave takes the server out of service by how. A primary is replaced.
func (s *Server) leave(to state, how func()) {
	c := s.cluster
	c.mu.Lock()
	if to == stopped && s.state != up {
		c.mu.Unlock()
		return
	}
	s.state = to // before the processes end, so that nobody takes their end for a failure
	start := s.starting
	c.mu.Unlock()
	if start != nil {
		start.cancel()
		<-start.done
	}
	how()
	c.mu.Lock()
	defer c.mu.Unlock()
	if to == down {
		s.serves, s.leads = false, false
	}
	if c.primary == s {
		c.depose()
	}
	c.reconsider()
}

// Start implements [live.Crasher]. A server that has to be rebuilt while there is no primary
// is started when there is one, in the background.
func (s *Server) Start(ctx context.Context) error {
	c := s.cluster
	c.mu.Lock()
	s.state = up
	c.start(s)
	c.reconsider()
	start := s.starting
	c.mu.Unlock()
	if start == nil {
		return nil
	}
	select {
	case <-start.done:
		return start.err
	case <-ctx.Done():
		s.Kill()
		return context.Cause(ctx)
	}
}

// Continue implements [live.Stopper]. A server that has been replaced or rebuilt since it
// was stopped is killed, and started as a standby in the background.
func (s *Server) Continue() error {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.state != stopped {
		return nil
	}
	s.state = up
	defer c.reconsider()
	if s.serves && !s.stale && !s.leads {
		return s.unpause()
	}
	s.kill()
	s.serves, s.leads = false, false
	c.start(s)
	return nil
}

// start starts a server as a standby in the background, unless it has to be rebuilt and
// reaches no primary. The caller holds mu.
func (c *cluster) start(s *Server) {
	if s.starting != nil || s.state != up || s.stale && (!c.promoted || c.cutOff(s)) || c.over.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(c.over)
	start := &starting{cancel: cancel, done: make(chan struct{})}
	s.starting = start
	var from *Server
	if s.stale {
		from = c.primary
	}
	elections := c.elections
	c.tasks.Go(func() {
		defer close(start.done)
		err := s.run(ctx, from)
		c.mu.Lock()
		defer c.mu.Unlock()
		ended := ctx.Err() != nil
		cancel()
		s.starting = nil
		switch {
		case ended:
			c.start(s) // if its link to the primary was cut, and is back
			return
		case err == nil && (from == nil || c.elections == elections):
			s.serves, s.stale = !s.stale || from != nil, s.stale && from == nil
		case err != nil && (from == nil || c.primary == from && from.state == up):
			start.err = err
			c.group.Report(err)
			return
		}
		if s.stale {
			c.start(s) // from the next primary
		}
		c.reconsider()
	})
}

// run starts the server as a standby, with the data of another server unless that is nil.
func (s *Server) run(ctx context.Context, from *Server) error {
	s.kill()
	if from != nil {
		if err := s.rebuild(ctx, from); err != nil {
			s.kill()
			return err
		}
	}
	return s.Daemon.Start(ctx)
}

// depose records that there is no primary any more. What it has sent and standbys have not
// received is lost. The caller holds mu.
func (c *cluster) depose() {
	c.last, c.primary, c.promoted = c.primary, nil, false
	for _, s := range c.servers {
		s.link.Redirect("")
	}
	c.record(0)
}

// record reports who leads. The caller holds mu.
func (c *cluster) record(node int) {
	if c.tell != nil {
		c.tell(history.Event{Kind: history.Leader, Node: node}, env.Instant(0))
	}
}

// candidates returns the servers that can be elected, the one after the last primary first,
// or nil if they are too few. Stale servers count if they have nothing that the others lack:
// the last primary was in sync with a majority. The caller holds mu.
func (c *cluster) candidates() (eligible []*Server) {
	n, stale := len(c.servers), 0
	for i := range n {
		s := c.servers[(c.last.node+i)%n]
		switch {
		case !c.inMajority(s):
		case s.eligible():
			eligible = append(eligible, s)
		case s.state == up && s.stale && c.settled:
			stale++
		}
	}
	if c.setting.Asynchronous || len(eligible)+stale > n/2 {
		return eligible
	}
	return nil
}

// reconsider schedules an election if it is needed and possible. The caller holds mu.
func (c *cluster) reconsider() {
	if c.primary != nil || c.electing || len(c.candidates()) == 0 || c.over.Err() != nil {
		return
	}
	c.electing = true
	after := c.election.Draw(c.random())
	c.tasks.Go(func() {
		select {
		case <-time.After(after):
			c.elect()
		case <-c.over.Done():
		}
	})
}

// elect promotes the server with the most WAL, if there are enough candidates.
func (c *cluster) elect() {
	c.mu.Lock()
	asked := c.candidates()
	c.mu.Unlock()
	received := map[*Server]int64{}
	for _, s := range asked {
		if wal, ok := c.received(s); ok {
			received[s] = wal
		}
	}

	c.mu.Lock()
	best := c.choose(received)
	if best == nil {
		c.electing = false
		c.reconsider()
		c.mu.Unlock()
		return
	}
	c.primary, c.settled, best.leads = best, false, true
	c.record(best.node)
	c.mu.Unlock()
	promoted := c.promote(best)

	c.mu.Lock()
	c.electing = false
	if !promoted || c.primary != best {
		c.reconsider()
		c.mu.Unlock()
		return
	}
	c.promoted = true
	c.elections++
	c.holdStreams()
	for _, s := range c.servers {
		s.link.Redirect(best.Addr())
		if _, took := received[s]; !took {
			s.serves, s.stale = false, true
			c.start(s)
		}
	}
	c.mu.Unlock()
	c.settle(best)
}

// choose returns the candidate with the most WAL, or nil if too few of them are left. The
// caller holds mu.
func (c *cluster) choose(received map[*Server]int64) (best *Server) {
	for _, s := range c.candidates() {
		wal, asked := received[s]
		if !asked { // it has come since: there will be another election
			return nil
		}
		if best == nil || wal > received[best] {
			best = s
		}
	}
	return best
}

// received returns the position of the last WAL that a server has, when it receives no more.
func (c *cluster) received(s *Server) (wal int64, ok bool) {
	const sql = `select case when exists (select from pg_stat_wal_receiver) then null
		else pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::bigint end`
	var last *int64
	ok = c.poll(s, s.eligible, sql, &last, func() bool { return last != nil })
	if !ok {
		return 0, false
	}
	return *last, true
}

// promote makes a standby the primary, unless it is lost.
func (c *cluster) promote(s *Server) bool {
	leads := func() bool { return c.primary == s }
	var standby bool
	if !c.poll(s, leads, "select pg_is_in_recovery() and pg_promote(false)", &standby, func() bool { return true }) {
		return false
	}
	return c.poll(s, leads, "select pg_is_in_recovery()", &standby, func() bool { return !standby })
}

// settle waits until enough standbys have everything that the new primary has.
func (c *cluster) settle(s *Server) {
	leads := func() bool { return c.primary == s }
	const now = "select pg_current_wal_insert_lsn()::text"
	var lsn string
	if !c.poll(s, leads, now, &lsn, func() bool { return true }) {
		return
	}
	if c.inSync(s, leads, lsn, c.confirming()) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.settled = c.settled || c.primary == s
	}
}

// pollInterval is the time between two questions to a server.
const pollInterval = 10 * time.Millisecond

// poll asks a server, as long as it is worth it, until the answer is the right one.
func (c *cluster) poll(s *Server, worth func() bool, sql string, into any, right func() bool) bool {
	for {
		c.mu.Lock()
		on := worth() && c.over.Err() == nil
		c.mu.Unlock()
		if !on {
			return false
		}
		if s.ask(c.over, sql, into) == nil && right() {
			return true
		}
		select {
		case <-time.After(pollInterval):
		case <-c.over.Done():
		}
	}
}
