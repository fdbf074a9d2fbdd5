package zookeeper

import (
	"context"
	"fmt"
	"time"
)

// lead makes the first member the leader: so it is in the simulated store, and plans that lose
// the leader name node 1. Members that know the same elect the one with the highest id, which
// is the first. If another one leads, because it was up sooner, it is killed and started again.
func lead(ctx context.Context, servers []*Server) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		leader := leaderOf(ctx, servers)
		switch {
		case leader == servers[0]:
			return nil
		case leader != nil:
			leader.Kill()
			if err := leader.Start(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not lead after %v", servers[0].Name, startTimeout)
		case <-time.After(pollPause):
		}
	}
}

// leaderOf returns the member that leads, or is alone; nil: none.
func leaderOf(ctx context.Context, servers []*Server) *Server {
	for _, s := range servers {
		text, err := s.status(ctx)
		if role := mode(text); err == nil && (role == "leader" || role == "standalone") {
			return s
		}
	}
	return nil
}
