package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Handlers lists how each kind of fault is injected.
var Handlers = slices.Concat(live.Anywhere(nemesis.NodeClockFeature), live.Outages(), live.Stops(), live.PeerPartitions())

// startTimeout bounds how long a server may take to answer, and a backup. quitTimeout bounds
// a clean shutdown, in which a primary waits for its standbys.
const (
	startTimeout = time.Minute
	quitTimeout  = 5 * time.Second
)

// Server is a member of the cluster, over all its restarts.
type Server struct {
	*child.Daemon
	cluster *cluster
	node    int
	link    *wire.Link // to the primary

	clocks sync.Mutex
	clock  *redisserver.FakeClock // nil: the machine's

	member // guarded by the cluster's mu
}

// Addr returns the server's host:port, which stays the same over restarts.
func (s *Server) Addr() string { return s.Ports[0].Addr() }

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

// newServer adds a server to the group. It does not start it.
func (c *cluster) newServer(node int, clock bool) (*Server, error) {
	d, err := c.group.Add(fmt.Sprintf("node-%d", node), 1)
	if err != nil {
		return nil, err
	}
	if d.Dir, err = filepath.EvalSymlinks(d.Dir); err != nil {
		return nil, err
	}
	s := &Server{Daemon: d, cluster: c, node: node}
	if clock {
		s.clock = redisserver.NewFakeClock(s.clockFile())
	}
	d.Name = "postgres on " + s.Addr()
	d.StartTimeout, d.QuitTimeout, d.QuitSignal = startTimeout, quitTimeout, syscall.SIGINT // a fast shutdown
	d.Command, d.Await = s.prepare, s.await
	return s, c.owner.take(d.Dir)
}

func (s *Server) clockFile() string { return filepath.Join(s.Dir, "clock") }

// command returns a command of PostgreSQL, without what the environment says of other
// servers.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") })
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return c.owner.run(cmd)
}

// prepare prepares the files of the server, and returns the command that starts it. Only the
// first primary is not started as a standby.
func (s *Server) prepare() (*exec.Cmd, error) {
	cmd := s.cluster.command(filepath.Join(s.cluster.binaries, "postgres"), s.args()...)
	if s.cluster.created {
		signal := filepath.Join(s.data(), "standby.signal")
		if err := errors.Join(os.WriteFile(signal, nil, 0o600), s.cluster.owner.take(signal)); err != nil {
			return nil, err
		}
	}
	if s.clock == nil {
		return cmd, nil
	}
	s.clocks.Lock()
	defer s.clocks.Unlock()
	cmd.Env = append(cmd.Env, redisserver.FakeTimeEnv(s.cluster.preload, s.clockFile())...)
	return cmd, s.clock.Load()
}

// args returns the whole command line. Timeouts of the replication are off because the
// clocks of servers may be wrong.
func (s *Server) args() []string {
	host, port, _ := net.SplitHostPort(s.link.Addr())
	settings := []string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=",
		"shared_buffers=16MB", "max_connections=300", "autovacuum=off", "jit=off",
		"dynamic_shared_memory_type=mmap", // in the data directory, so that nothing survives a SIGKILL
		"max_wal_senders=32", "wal_keep_size=256MB",
		"wal_sender_timeout=0", "wal_receiver_timeout=0", "wal_retrieve_retry_interval=50ms",
		fmt.Sprintf("primary_conninfo=host=%s port=%s user=postgres application_name=%s", host, port, s.name()),
	}
	settings = append(settings, s.cluster.durability()...)
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.Ports[0].Number())}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// name is the server's name as a standby.
func (s *Server) name() string { return fmt.Sprintf("node_%d", s.node) }

// await waits until the server answers.
func (s *Server) await(ctx context.Context, run *child.Run) error {
	err := child.Await(ctx, s.Name, run, func(ctx context.Context) bool { var one int; return s.ask(ctx, "select 1", &one) == nil })
	if err != nil {
		return err
	}
	return releaseMemory(s.data())
}

// slowest is the lowest rate of a clock, in parts per million below 1. libfaketime divides
// timeouts by the rate, and a server whose clock stands still dies: its postmaster calls
// select with an invalid timeout.
const slowest = -999_000

// SetClock implements [live.Clocked]. The setting survives restarts.
func (s *Server) SetClock(ahead time.Duration, ppm int64) error {
	s.clocks.Lock()
	defer s.clocks.Unlock()
	return s.clock.Set(ahead, max(ppm, slowest))
}

// askTimeout bounds how long a server may take to answer a question of this package.
const askTimeout = 2 * time.Second

// ask asks the server for one row.
func (s *Server) ask(ctx context.Context, sql string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := connect(ctx, s.Addr(), live.DialServer)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.QueryRow(ctx, sql).Scan(into)
}

// create fills the data directory with a command, whose last option is -D. The command does not sync the
// files, as it would by default: that takes seconds.
func (s *Server) create(ctx context.Context, name string, args ...string) error {
	if err := errors.Join(os.RemoveAll(s.data()), os.RemoveAll(s.data()+".new")); err != nil {
		return err
	}
	run, err := s.Fail(ctx, func() (*exec.Cmd, error) { // it appears only if it is complete
		tool := []string{"-c", `"$@" "$0.new" && mv "$0.new" "$0"`, s.data(), filepath.Join(s.cluster.binaries, name)}
		return s.cluster.command("sh", slices.Concat(tool, args, []string{"-D"})...), nil
	})
	if err != nil {
		return err
	}
	if _, err := os.Stat(s.data()); err != nil {
		return fmt.Errorf("%s of node %d failed; the end of its log:\n%s", name, s.node, run.Log())
	}
	return nil
}

// initialize creates the data of the first primary.
func (s *Server) initialize(ctx context.Context) error {
	return s.create(ctx, "initdb", "--username=postgres", "--auth=trust", "--no-locale", "--encoding=UTF8", "--wal-segsize=1", "--no-sync", "--no-instructions")
}

// rebuild replaces the server's data by those of the primary.
func (s *Server) rebuild(ctx context.Context, primary *Server) error {
	host, port, _ := net.SplitHostPort(primary.Addr())
	return s.create(ctx, "pg_basebackup", "--host="+host, "--port="+port, "--username=postgres", "--checkpoint=fast", "--wal-method=stream", "--no-sync")
}

// packaged is where distributions install servers of several versions.
var packaged = "/usr/lib/postgresql/*/bin/postgres"

// find returns the directory of the newest installed server.
func find() (string, error) {
	found, _ := filepath.Glob(packaged)
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(majorIn(a), majorIn(b)) })), nil
	}
	binary, err := exec.LookPath("postgres")
	if err != nil {
		return "", fmt.Errorf("postgres not found in %s (%w): install it (apt-get install postgresql)", filepath.Dir(packaged), err)
	}
	if binary, err = filepath.EvalSymlinks(binary); err != nil {
		return "", err
	}
	return filepath.Dir(binary), nil
}

// installed returns an error that says what to install if there is no server, or nobody to run it.
func installed() error {
	_, err := find()
	if err == nil {
		_, err = findOwner()
	}
	return err
}

// majorIn returns the version in the path of a server.
func majorIn(path string) float64 {
	version, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
	return version
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\S+)`)

// version returns the version of the installed server, or "" if there is none.
func version(ctx context.Context) string {
	binaries, err := find()
	if err != nil {
		return ""
	}
	return child.Version(ctx, versionPattern, filepath.Join(binaries, "postgres"), "--version")
}
