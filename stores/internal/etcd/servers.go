package etcd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/member"
)

// Handlers lists how each kind of fault is injected.
var Handlers = slices.Concat(live.Anywhere(), live.Outages(), live.Stops(), live.PeerPartitions())

// The times of an etcd cluster. The election timeout also bounds the TTL of a lease from
// below: at one and a half times as long, rounded up to whole seconds.
const (
	heartbeatInterval = 50 * time.Millisecond
	electionTimeout   = 500 * time.Millisecond
)

// startTimeout bounds how long a member may take to answer, and the cluster to elect a
// leader. quitTimeout bounds a clean shutdown.
const (
	startTimeout = 30 * time.Second
	quitTimeout  = 10 * time.Second
)

// Server is a member of the cluster.
type Server struct {
	*member.Member
	binary  string
	peer    string // the URL at which the other members find it
	cluster string // the initial cluster, as etcd writes it
}

func (s *Server) name() string { return fmt.Sprintf("member-%d", s.Number) }

// Open starts a cluster with a member for each node of the setting, and returns when it has
// a leader. After an error nothing is left behind. The seed is not used: etcd draws its own
// random numbers.
func Open(ctx context.Context, s nemesis.Setting, _ uint64) (live.Fleet, error) {
	binary, err := find()
	if err != nil {
		return live.Fleet{}, err
	}
	return live.StartStore(Store{}, func(group *child.Group) ([]*Server, live.PeerLinks, error) {
		return start(ctx, group, binary, s)
	}, newWatch)
}

// find returns the path of etcd.
func find() (string, error) {
	binary, err := exec.LookPath("etcd")
	if err != nil {
		return "", fmt.Errorf("etcd not found (%w): install it (apt-get install etcd-server)", err)
	}
	return filepath.Abs(binary) // each server runs in a directory of its own
}

// installed returns an error that says what to install if there is no etcd.
func installed() error {
	_, err := find()
	return err
}

// checkTTL returns an error if a lease cannot have a time to live as it is.
func checkTTL(ttl time.Duration) error {
	const shortest = electionTimeout * 3 / 2 // rounded up to whole seconds
	if ttl < shortest || ttl%time.Second != 0 {
		return fmt.Errorf("%v: leases of etcd last for whole seconds", ttl)
	}
	return nil
}

func start(ctx context.Context, group *child.Group, binary string, setting nemesis.Setting) ([]*Server, live.PeerLinks, error) {
	return member.Kind[*Server]{
		Ports: 2, StartTimeout: startTimeout, QuitTimeout: quitTimeout,
		New: func(m *member.Member) *Server {
			s := &Server{Member: m, binary: binary}
			m.Name = "etcd on " + s.Addr()
			m.Command = func() (*exec.Cmd, error) { return exec.Command(s.binary, s.args()...), nil }
			m.Await = s.await
			return s
		},
		Connect: connect, Ready: awaitLeader,
	}.Start(ctx, group, setting.Nodes)
}

// connect makes the links between the members. Who joins a cluster has to know each member by the same
// URL as the others do, so a member has one address for all others.
func connect(servers []*Server) (live.PeerLinks, error) {
	var daemons []*child.Daemon
	for _, s := range servers {
		daemons = append(daemons, s.Daemon)
	}
	links, addrs, err := live.SharedLinks(daemons)
	if err != nil {
		return nil, err
	}
	var cluster []string
	for i, s := range servers {
		s.peer = "http://" + addrs[i]
		cluster = append(cluster, s.name()+"="+s.peer)
	}
	for _, s := range servers {
		s.cluster = strings.Join(cluster, ",")
	}
	return links, nil
}

// args returns the whole command line. A member that has data ignores the initial cluster.
func (s *Server) args() []string {
	return []string{
		"--name", s.name(), "--data-dir", filepath.Join(s.Dir, "data"),
		"--listen-client-urls", "http://" + s.Addr(), "--advertise-client-urls", "http://" + s.Addr(),
		"--listen-peer-urls", "http://" + s.Ports[1].Addr(), "--initial-advertise-peer-urls", s.peer,
		"--initial-cluster", s.cluster, "--initial-cluster-state", "new",
		"--heartbeat-interval", fmt.Sprint(heartbeatInterval.Milliseconds()),
		"--election-timeout", fmt.Sprint(electionTimeout.Milliseconds()),
		"--logger", "zap", "--log-level", "error",
	}
}

// await waits until the member answers. It need not have a leader: others may be down.
func (s *Server) await(ctx context.Context, run *child.Run) error {
	return child.Await(ctx, s.Name, run, func(ctx context.Context) bool {
		_, ok := get(ctx, s.Addr(), "/version")
		return ok
	})
}

// healthy is what a member says that reaches the leader.
var healthy = regexp.MustCompile(`"health":\s*"true"`)

// get returns what a member says under a path, and whether it is up.
func get(ctx context.Context, addr, path string) (text string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return err.Error(), false
	}
	transport := &http.Transport{DisableKeepAlives: true, Proxy: nil}
	reply, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err.Error(), false
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(reply.Body)
	return strings.TrimSpace(string(body)), err == nil && reply.StatusCode == http.StatusOK
}

var versionPattern = regexp.MustCompile(`etcd Version: (\S+)`)

// version returns the version of the installed etcd, or "" if there is none.
func version(ctx context.Context) string {
	return child.Version(ctx, versionPattern, "etcd", "--version")
}
