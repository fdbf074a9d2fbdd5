package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// awaitLeader waits until all members have a leader, which is the first: so it is in the
// simulated store, and plans that lose the leader name node 1.
func awaitLeader(ctx context.Context, servers []*Server) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, s := range servers {
		for {
			health, _ := get(ctx, s.Addr(), "/health")
			if healthy.MatchString(health) {
				break
			}
			if !pause(ctx) {
				return fmt.Errorf("%s has no leader after %v: %s", s.Name, startTimeout, health)
			}
		}
	}
	for {
		leads, err := lead(ctx, servers)
		if leads {
			return nil
		}
		if !pause(ctx) {
			return fmt.Errorf("%s does not lead after %v: %w", servers[0].Name, startTimeout, err)
		}
	}
}

// pollInterval is the time between two looks at a member, whose answers take a round among
// the members.
const pollInterval = 20 * time.Millisecond

// pause waits for the next look. It reports whether ctx still goes on.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollInterval):
		return true
	}
}

// lead asks the leader to hand over to the first member, unless that leads already.
func lead(ctx context.Context, servers []*Server) (leads bool, err error) {
	first, err := statusOf(ctx, servers[0])
	if err != nil {
		return false, err
	}
	wanted := first.Header.MemberId
	for _, s := range servers {
		there, err := statusOf(ctx, s)
		if err != nil {
			return false, err
		}
		if there.Header.MemberId != there.Leader {
			continue
		}
		if there.Leader == wanted {
			return true, nil
		}
		err = s.ask(func(c *clientv3.Client) error {
			_, err := c.MoveLeader(ctx, wanted)
			return err
		})
		return false, cmp.Or(err, errElection) // whether it leads is seen next time
	}
	return false, errElection
}

var errElection = errors.New("an election is under way")

func statusOf(ctx context.Context, s *Server) (reply *clientv3.StatusResponse, err error) {
	err = s.ask(func(c *clientv3.Client) error {
		reply, err = c.Status(ctx, s.Addr())
		return err
	})
	return reply, err
}

// ask makes a request at one member.
func (s *Server) ask(do func(*clientv3.Client) error) error {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{s.Addr()}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithNoProxy()},
	})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // reports that its context has ended
	return do(c)
}
