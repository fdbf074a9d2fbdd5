package redis

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// The times of Sentinel. One that does not get a reply for downAfter, and the longest replication
// lag, believes that a server is down. A failover that does not succeed is given up after
// failoverTimeout, and tried again after twice as long.
const (
	downAfter       = 500 * time.Millisecond
	failoverTimeout = 3 * time.Second
)

// masterName is the name under which the Sentinels watch the master and its replicas.
const masterName = "lock"

// startSentinel starts the redis-servers, of which the first is the master, and then a Sentinel
// beside each. The Sentinels are configured as if they had found the replicas and each other, which
// takes them up to ten seconds.
func (d *deployment) startSentinel(ctx context.Context) error {
	first := d.servers[0]
	err := d.startServers(ctx, func(s *Server) (lines []string) {
		if s != first {
			lines = append(lines, fmt.Sprintf("replicaof 127.0.0.1 %s", first.announced()))
		}
		if d.kind.Acknowledged != "" { // Sentinel compares offsets between equal priorities only
			lines = append(lines, fmt.Sprintf("replica-priority %d", 1+slices.Index(d.servers, s)))
		}
		return lines
	})
	if err != nil {
		return err
	}
	for i, s := range d.servers {
		if s.sentinel, err = d.process(fmt.Sprintf("sentinel-%d", i+1), 1); err != nil {
			return err
		}
		s.sentinel.Command = func() (*exec.Cmd, error) { return exec.Command(d.binary, sentinelFile, "--sentinel"), nil }
	}
	var sentinels []*child.Daemon
	for i, s := range d.servers {
		if err := write(s.sentinel, sentinelFile, d.sentinelConfig(i)); err != nil {
			return err
		}
		sentinels = append(sentinels, s.sentinel)
	}
	if err := startAll(ctx, sentinels); err != nil {
		return err
	}
	return await(ctx, func(ctx context.Context) error {
		for _, s := range sentinels {
			if err := d.ready(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *deployment) sentinelConfig(i int) []string {
	down := downAfter
	if s := d.setting.Store; s != nil {
		down += s.Commit.Max
	}
	of := func(option string, values ...any) string {
		return "sentinel " + option + " " + masterName + " " + strings.TrimSuffix(fmt.Sprintln(values...), "\n")
	}
	lines := []string{
		"bind 127.0.0.1",
		fmt.Sprintf("port %d", d.servers[i].sentinel.Ports[0].Number()),
		"sentinel myid " + identity(i),
		of("monitor", "127.0.0.1", d.servers[0].announced(), len(d.servers)/2+1),
		of("down-after-milliseconds", down.Milliseconds()),
		of("failover-timeout", failoverTimeout.Milliseconds()),
		of("parallel-syncs", len(d.servers)),
	}
	for j, s := range d.servers {
		if j > 0 {
			lines = append(lines, of("known-replica", "127.0.0.1", s.announced()))
		}
		if j != i {
			lines = append(lines, of("known-sentinel", "127.0.0.1", s.sentinel.Ports[0].Number(), identity(j)))
		}
	}
	return lines
}

// identity is the id of a process, of 40 hexadecimal digits.
func identity(i int) string { return fmt.Sprintf("%040x", i+1) }

// ready returns an error unless a Sentinel could fail over: it is connected to the others and to all
// replicas, and these are in sync.
func (d *deployment) ready(ctx context.Context, sentinel *child.Daemon) error {
	o := redisserver.Operator(sentinel.Ports[0].Addr())
	for _, want := range []struct{ list, sign string }{
		{"SENTINELS", " flags sentinel "}, // and not s_down or disconnected
		{"REPLICAS", " flags slave "},
		{"REPLICAS", " master-link-status ok "},
	} {
		found, err := o.Do(ctx, "SENTINEL", want.list, masterName) // names and values of each
		if err != nil {
			return err
		}
		if others := len(d.servers) - 1; strings.Count(fmt.Sprint(found), want.sign) != others {
			return fmt.Errorf("%s is to see %d %s with%s, but sees %v", sentinel.Name, others, want.list, strings.TrimSuffix(want.sign, " "), found)
		}
	}
	return nil
}
