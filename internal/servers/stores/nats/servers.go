package nats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/stores/member"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Handlers lists how each kind of fault is injected.
var Handlers = slices.Concat(live.Anywhere(), live.Outages(), live.Stops(), live.PeerPartitions())

// startTimeout bounds how long a member may take to answer, and the cluster to create a
// stream. quitTimeout bounds a clean shutdown.
const (
	startTimeout = 60 * time.Second
	quitTimeout  = 10 * time.Second
)

// maxMembers is the largest number of replicas that a stream can have.
const maxMembers = 5

// Server is a member of the cluster.
type Server struct {
	*member.Member
	binary string
	addr   string   // where other members find it, as host:port
	routes []string // to the other members
}

// Open starts a cluster with a member for each node of the setting, and returns when it
// can create a bucket with a replica on each. After an error nothing is left behind. The
// seed is not used: NATS draws its own random numbers.
func Open(ctx context.Context, s nemesis.Setting, seed uint64) (live.Fleet, error) {
	return openFleet(ctx, s, Store{})
}

// OpenMarkers is [Open] for the clients of [Markers].
func OpenMarkers(ctx context.Context, s nemesis.Setting, seed uint64) (live.Fleet, error) {
	return openFleet(ctx, s, Markers{})
}

func openFleet(ctx context.Context, s nemesis.Setting, store live.Store) (live.Fleet, error) {
	if s.Nodes > maxMembers {
		return live.Fleet{}, fmt.Errorf("%d nodes: a stream of NATS has at most %d replicas", s.Nodes, maxMembers)
	}
	binary, err := find()
	if err != nil {
		return live.Fleet{}, err
	}
	return live.StartStore(store, func(group *child.Group) ([]*Server, live.PeerLinks, error) { return start(ctx, group, binary, s) }, nil)
}

// find returns the path of nats-server. Debian has it in a directory that is not in everybody's
// PATH.
func find() (string, error) {
	binary, err := exec.LookPath("nats-server")
	if err != nil && os.Getenv("PATH") != "" {
		if inSbin, sbinErr := exec.LookPath("/usr/sbin/nats-server"); sbinErr == nil {
			return inSbin, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("nats-server not found (%w): install it (apt-get install nats-server)", err)
	}
	return binary, nil
}

// installed returns an error that says what to install if there is no nats-server.
func installed() error {
	_, err := find()
	return err
}

// minTTL is the shortest maximum age of messages that a stream can have.
const minTTL = 100 * time.Millisecond

// checkTTL returns an error if a bucket cannot have a time to live as it is.
func checkTTL(ttl time.Duration) error {
	if ttl < minTTL {
		return fmt.Errorf("%v: keys of NATS live for at least %v", ttl, minTTL)
	}
	return nil
}

func start(ctx context.Context, group *child.Group, binary string, setting nemesis.Setting) ([]*Server, live.PeerLinks, error) {
	return member.Kind[*Server]{
		Ports: 2, StartTimeout: startTimeout, QuitTimeout: quitTimeout,
		New: func(m *member.Member) *Server {
			s := &Server{Member: m, binary: binary}
			m.Name = "nats-server on " + s.Addr()
			m.Command, m.Await = s.command, s.await
			return s
		},
		Connect: connectMembers, Ready: awaitCluster,
	}.Start(ctx, group, setting)
}

// connectMembers makes the links between the members. Members tell each other where they can be found,
// so a member has one address for all others, which it advertises. A route carries messages both ways,
// whoever has made it.
func connectMembers(servers []*Server) (live.PeerLinks, error) {
	var daemons []*child.Daemon
	for _, s := range servers {
		daemons = append(daemons, s.Daemon)
	}
	links, addrs, err := live.SharedLinks(daemons)
	if err != nil {
		return nil, err
	}
	var routes []string
	for i, s := range servers {
		s.addr = addrs[i]
		routes = append(routes, "nats://"+s.addr)
	}
	for i, s := range servers {
		s.routes = slices.Delete(slices.Clone(routes), i, i+1)
	}
	return links, nil
}

// command writes the configuration file and returns the command line.
func (s *Server) command() (*exec.Cmd, error) {
	path := filepath.Join(s.Dir, "nats.conf")
	if err := os.WriteFile(path, []byte(s.config()), 0o600); err != nil {
		return nil, err
	}
	return exec.Command(s.binary, "--config", path), nil
}

// config returns the configuration of the member. Members do not tell clients of each
// other, because these reach them only through the world. A single member is no cluster.
func (s *Server) config() string {
	text := fmt.Sprintf("server_name: node-%d\nlisten: %q\njetstream: { store_dir: %q }\n", s.Number, s.Addr(), filepath.Join(s.Data, "data"))
	if len(s.routes) == 0 {
		return text
	}
	return text + fmt.Sprintf("cluster: { name: lockstorm, listen: %q, advertise: %q, no_advertise: true, routes: [ %s ] }\n",
		s.Ports[1].Addr(), s.addr, strings.Join(s.routes, ", "))
}

// await waits until the member accepts clients. It need not have a leader: others may be
// down.
func (s *Server) await(ctx context.Context, run *child.Run) error {
	return child.Await(ctx, s.Name, run, func(ctx context.Context) bool {
		c := connect(live.DialServer, s.Addr())
		defer c.close()
		return c.await(ctx) == nil
	})
}

// awaitCluster waits until a bucket with a replica on every member can be created, which takes a
// leader of the cluster that knows all members. It deletes that bucket.
func awaitCluster(ctx context.Context, servers []*Server) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c := connect(live.DialServer, servers[0].Addr())
	defer c.close()
	if err := c.await(ctx); err != nil {
		return err
	}
	config := bucketConfig("probe", len(servers), time.Minute, false)
	err := insist(ctx, func(ctx context.Context) error { _, err := c.js.CreateStream(ctx, config); return err })
	if err != nil {
		return fmt.Errorf("%s cannot create a bucket with %d replicas after %v: %w", servers[0].Name, len(servers), startTimeout, err)
	}
	err = insist(ctx, func(ctx context.Context) error {
		err := c.js.DeleteStream(ctx, config.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) { // an earlier attempt has deleted it
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s cannot delete a bucket with %d replicas after %v: %w", servers[0].Name, len(servers), startTimeout, err)
	}
	return nil
}

// insist attempts a request until it succeeds or the context ends, and returns the error of the last
// attempt. A cluster may never reply to an attempt: to a creation while it has no leader, and NATS 2.9
// to the deletion of a stream just after it was created, if the machine is busy.
func insist(ctx context.Context, attempt func(context.Context) error) error {
	for {
		limited, cancel := context.WithTimeout(ctx, apiTimeout)
		err := attempt(limited)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pollInterval):
		}
	}
}

// apiTimeout bounds one attempt of insist. pollInterval is the time between two attempts.
const (
	apiTimeout   = time.Second
	pollInterval = 20 * time.Millisecond
)

// bucketConfig is the configuration of the stream of a key-value bucket: keys are subjects, and
// the latest message of a subject is its value, until it is older than the TTL. Clients of
// buckets deny the deletion of messages, which is how keys are deleted here unless by
// markers.
func bucketConfig(bucket string, replicas int, ttl time.Duration, markers bool) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + bucket, Subjects: []string{"$KV." + bucket + ".>"}, MaxMsgsPerSubject: 1, MaxAge: ttl,
		Storage: jetstream.FileStorage, Replicas: replicas, Discard: jetstream.DiscardNew,
		Duplicates: min(ttl, 2*time.Minute), AllowRollup: true, DenyDelete: markers,
	}
}

var versionPattern = regexp.MustCompile(`nats-server: v(\S+)`)

// version returns the version of the installed nats-server, or "" if there is none.
func version(ctx context.Context) string {
	binary, err := find()
	if err != nil {
		return ""
	}
	return child.Version(ctx, versionPattern, binary, "--version")
}
