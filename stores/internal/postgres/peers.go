package postgres

import (
	"slices"

	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// cutRule is the number of the rule on the links of the replication that are cut. That of their lag
// has another one.
const cutRule = 1

// Cut implements [live.Peers]. A primary that does not reach a majority is restarted as a standby
// before another one can be elected, as Patroni does. It is rebuilt when it reaches the others again.
func (c *cluster) Cut(apart *nemesis.PeerPartition) {
	c.mu.Lock()
	c.apart = apart
	c.holdStreams()
	for _, s := range c.servers {
		if s.starting != nil && s.stale && c.cutOff(s) { // it copies the data of the primary
			s.starting.cancel()
		}
	}
	primary := c.primary
	isolated := primary != nil && !c.inMajority(primary)
	c.reconsider()
	c.mu.Unlock()
	if isolated {
		primary.Kill()
		c.mu.Lock()
		defer c.mu.Unlock()
		primary.state = up
		c.start(primary)
	}
}

// Mend implements [live.Peers].
func (c *cluster) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apart = nil
	c.holdStreams()
	for _, s := range c.servers {
		if s.stale {
			c.start(s)
		}
	}
	c.reconsider()
}

// holdStreams holds back the replication of the servers that are cut off from the primary, and of no
// others. The caller holds mu.
func (c *cluster) holdStreams() {
	for _, s := range c.servers {
		off := c.cutOff(s)
		s.link.Each(nemesis.Both, func(d *wire.Direction) {
			d.Lift(cutRule)
			if off {
				d.Impose(cutRule, nemesis.HoldAll())
			}
		})
	}
}

// cutOff reports whether the server does not reach the primary. The caller holds mu.
func (c *cluster) cutOff(s *Server) bool {
	return c.apart != nil && c.primary != nil && c.apart.Apart(s.node, c.primary.node)
}

// inMajority reports whether the server reaches a majority of all servers. The caller holds mu.
func (c *cluster) inMajority(s *Server) bool {
	return c.apart == nil || !slices.Contains(c.apart.Minority(len(c.servers)), s.node)
}
