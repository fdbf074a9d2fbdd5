package redis

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// voters is how many members are masters besides the one that keeps the keys. They own a slot each
// that no key uses, because a failover takes the votes of a majority of the masters that own
// slots.
const voters = 2

// lastSlot is the last of the slots.
const lastSlot = 16383

// nodeTimeout is how long a member may be silent until another takes it for failed.
const nodeTimeout = 500 * time.Millisecond

// nodesFile is where a member keeps what it knows of the cluster.
const nodesFile = "nodes.conf"

// startCluster starts the members. Node 1 is the master of all slots that keys use, nodes 2 and 3
// have a vote, and all others are replicas of node 1. Each finds a file as it would have written it
// after CLUSTER MEET, ADDSLOTS and REPLICATE.
func (d *deployment) startCluster(ctx context.Context) error {
	for i, s := range d.servers {
		if err := write(s.Daemon, nodesFile, d.nodes(i)); err != nil {
			return err
		}
	}
	err := d.startServers(ctx, func(s *Server) []string {
		bus := s.Ports[1].Number()
		return []string{
			"cluster-enabled yes",
			"cluster-config-file " + nodesFile,
			fmt.Sprintf("cluster-port %d", bus),
			"cluster-announce-ip 127.0.0.1",
			fmt.Sprintf("cluster-announce-port %s", s.announced()),
			fmt.Sprintf("cluster-announce-bus-port %d", bus),
			fmt.Sprintf("cluster-node-timeout %d", nodeTimeout.Milliseconds()),
			"cluster-require-full-coverage no",
		}
	})
	if err != nil {
		return err
	}
	return await(ctx, func(ctx context.Context) error {
		for _, s := range d.servers {
			info, err := s.Do(ctx, "CLUSTER", "INFO")
			if err != nil {
				return err
			}
			if !strings.Contains(fmt.Sprint(info), "cluster_state:ok") {
				return fmt.Errorf("%s is in no working cluster: %v", s.Name, info)
			}
		}
		return nil
	})
}

// HandOver implements [live.Predecessor] in a cluster, by CLUSTER FAILOVER at a replica.
func (s *Server) HandOver(ctx context.Context) error {
	isMaster := func(ctx context.Context, s *Server) (bool, error) {
		role, err := s.Do(ctx, "ROLE") // "master", …, or "slave", …
		fields, _ := role.([]any)
		return len(fields) > 0 && fields[0] == "master", err
	}
	if leads, err := isMaster(ctx, s); !leads {
		return err
	}
	for _, heir := range s.all.servers {
		info, err := heir.Do(ctx, "INFO", "replication")
		if err != nil || !strings.Contains(fmt.Sprint(info), "master_port:"+s.announced()+"\r\n") || !strings.Contains(fmt.Sprint(info), "master_link_status:up") {
			continue
		}
		if _, err := heir.Do(ctx, "CLUSTER", "FAILOVER"); err != nil {
			return err
		}
		return await(ctx, func(ctx context.Context) error {
			leads, err := isMaster(ctx, s)
			if leads {
				err = fmt.Errorf("%s is still a master, although %s has been asked to take over", s.Name, heir.Name)
			}
			return err
		})
	}
	return fmt.Errorf("%s has no replica that could take over", s.Name)
}

// nodes returns the lines of the file of one member.
func (d *deployment) nodes(myself int) (lines []string) {
	for i, s := range d.servers {
		flags, master, epoch, slots := "master", "-", i+1, ""
		switch {
		case i == 0:
			slots = fmt.Sprintf(" 0-%d", lastSlot-voters)
		case i <= voters:
			slots = fmt.Sprintf(" %d", lastSlot-voters+i)
		default:
			flags, master, epoch = "slave", identity(0), 1
		}
		if i == myself {
			flags = "myself," + flags
		}
		lines = append(lines, fmt.Sprintf("%s 127.0.0.1:%s@%d %s %s 0 0 %d connected%s",
			identity(i), s.announced(), s.Ports[1].Number(), flags, master, epoch, slots))
	}
	return append(lines, fmt.Sprintf("vars currentEpoch %d lastVoteEpoch 0", voters+1))
}
