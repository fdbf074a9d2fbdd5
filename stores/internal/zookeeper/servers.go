package zookeeper

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/member"
)

// Handlers lists how each kind of fault is injected.
var Handlers = slices.Concat(live.Anywhere(), live.Outages(), live.Stops(), live.PeerPartitions())

// The times of an ensemble. A session lasts at least two ticks. A follower leaves its leader
// when it has not heard from it for syncLimit ticks.
const (
	tick      = 200 * time.Millisecond
	initLimit = 100
	syncLimit = 5

	minSession = 2 * tick
	maxSession = time.Hour
)

// startTimeout bounds how long a member may take to serve. quitTimeout bounds a clean shutdown.
const (
	startTimeout = time.Minute
	quitTimeout  = 10 * time.Second
)

// jarDir is where Debian installs Java libraries.
const jarDir = "/usr/share/java"

// Server is a member of the ensemble.
type Server struct {
	*member.Member
	java    []string // the command without the class and its arguments
	id      int      // in the ensemble
	members []*Server
	quorum  *wire.Network // links to the port at which a leader awaits its followers
	votes   *wire.Network // links to the port for elections
	served  bool          // ever
}

// Open starts an ensemble with a member for each node of the setting, and returns when all of
// them serve. After an error nothing is left behind. The seed is not used: ZooKeeper draws
// its own random numbers.
func Open(ctx context.Context, s nemesis.Setting, _ uint64) (live.Fleet, error) {
	java, err := findJava(jarDir)
	if err != nil {
		return live.Fleet{}, err
	}
	return live.StartStore(Store{}, func(group *child.Group) ([]*Server, live.PeerLinks, error) { return start(ctx, group, java, s) }, newWatch)
}

// findJava returns the beginning of a command that runs a class of ZooKeeper's.
func findJava(jars string) ([]string, error) {
	const install = "install it (apt-get install zookeeper default-jre-headless)"
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("java, which runs ZooKeeper, not found (%w): %s", err, install)
	}
	// The second one writes the log to the standard error.
	classes := []string{filepath.Join(jars, "zookeeper.jar"), filepath.Join(jars, "slf4j-simple.jar")}
	for _, jar := range classes {
		if _, err := os.Stat(jar); err != nil {
			return nil, fmt.Errorf("ZooKeeper not found (%w): %s", err, install)
		}
	}
	return []string{
		java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-XX:-UsePerfData", // its file is not below the group's directory, and survives SIGKILL
		"-cp", strings.Join(classes, string(filepath.ListSeparator)),
	}, nil
}

// installed returns an error that says what to install if there is no ZooKeeper.
func installed() error {
	_, err := findJava(jarDir)
	return err
}

// checkTTL returns an error if a session cannot have a timeout as it is.
func checkTTL(ttl time.Duration) error {
	if ttl < minSession || ttl > maxSession {
		return fmt.Errorf("%v: sessions of ZooKeeper last from %v to %v here", ttl, minSession, maxSession)
	}
	return nil
}

func start(ctx context.Context, group *child.Group, java []string, setting nemesis.Setting) ([]*Server, live.PeerLinks, error) {
	return member.Kind[*Server]{
		Ports: 3, StartTimeout: startTimeout, QuitTimeout: quitTimeout,
		New: func(m *member.Member) *Server {
			s := &Server{Member: m, java: java, id: setting.Nodes + 1 - m.Number}
			m.Name = "ZooKeeper on " + s.Addr()
			m.Command, m.Await = s.prepare, s.await
			return s
		},
		Connect: connect,
		Ready: func(ctx context.Context, servers []*Server) error {
			if err := lead(ctx, servers); err != nil {
				return err
			}
			return warmUp(ctx, servers)
		},
	}.Start(ctx, group, setting.Nodes)
}

// The JVM compiles what runs often. Before that a request takes longer than clients of a
// lock wait for it.
const warmUps = 10

// warmUp makes every member carry out each kind of request a few times.
func warmUp(ctx context.Context, servers []*Server) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var all errgroup.Group
	for _, s := range servers {
		all.Go(func() error {
			c, err := Store{}.Connect([]string{s.Addr()}, live.DialServer)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }() // returns no error
			for done := 0; done < warmUps; {
				err := useOnce(ctx, c, fmt.Sprintf("warm-up/%d-", s.Number))
				switch {
				case err == nil:
					done++
				case ctx.Err() != nil:
					return fmt.Errorf("%s does not serve after %v: %w", s.Name, startTimeout, err)
				}
			}
			return nil
		})
	}
	return all.Wait()
}

// useOnce opens a session, creates an entry in it, and closes it.
func useOnce(ctx context.Context, c live.StoreClient, key string) error {
	opened, err := c.Do(ctx, env.StoreRequest{Op: env.StoreOpen, TTL: maxSession})
	for _, r := range []env.StoreRequest{
		{Op: env.StoreCreate, Key: key, Session: opened.Session, Sequential: true},
		{Op: env.StoreKeep, Session: opened.Session},
		{Op: env.StoreList, Key: key},
		{Op: env.StoreClose, Session: opened.Session},
	} {
		if err == nil {
			_, err = c.Do(ctx, r)
		}
	}
	return err
}

// prepare writes the configuration, and returns the command that starts the member.
func (s *Server) prepare() (*exec.Cmd, error) {
	data, file := filepath.Join(s.Dir, "data"), filepath.Join(s.Dir, "zoo.cfg")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(data, "myid"), []byte(strconv.Itoa(s.id)), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(s.configuration(data)), 0o600); err != nil {
		return nil, err
	}
	args := slices.Concat(s.java[1:], []string{
		"-Djava.io.tmpdir=" + s.Dir,
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-Dzookeeper.preAllocSize=1024", // KiB of a log file, instead of 64 MiB
		"-Dzookeeper.forceSync=no",      // no fault cuts power, and five members share a disk
		// A member that looks for a leader repeats its vote at intervals that double, by
		// default up to a minute.
		"-Dzookeeper.fastleader.maxNotificationInterval=" + milliseconds(2*tick),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", file,
	})
	return exec.Command(s.java[0], args...), nil
}

func (s *Server) configuration(data string) string {
	lines := []string{
		"dataDir=" + data,
		"clientPortAddress=127.0.0.1",
		fmt.Sprintf("clientPort=%d", s.Ports[0].Number()),
		"tickTime=" + milliseconds(tick),
		fmt.Sprintf("initLimit=%d", initLimit),
		fmt.Sprintf("syncLimit=%d", syncLimit),
		"minSessionTimeout=" + milliseconds(minSession),
		"maxSessionTimeout=" + milliseconds(maxSession),
		"maxClientCnxns=0",
		"admin.enableServer=false",
		"4lw.commands.whitelist=srvr",
	}
	if len(s.members) > 1 { // a single one is no ensemble
		for _, m := range s.members {
			lines = append(lines, s.server(m))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// await waits until the member serves, or, when it is started again, until it answers: then
// the others may be down.
func (s *Server) await(ctx context.Context, run *child.Run) error {
	err := child.Await(ctx, s.Name, run, func(ctx context.Context) bool {
		status, _ := s.status(ctx)
		if mode(status) == "" && (status == "" || !s.served) {
			time.Sleep(pollPause)
			return false
		}
		return true
	})
	s.served = s.served || err == nil
	return err
}

// pollPause keeps the looks at a member from slowing down its start.
const pollPause = 10 * time.Millisecond

var modePattern = regexp.MustCompile(`(?m)^Mode: (\w+)$`)

// mode returns what a member is according to its status: "leader", "follower" or "standalone";
// or "" if it does not serve.
func mode(status string) string {
	if found := modePattern.FindStringSubmatch(status); found != nil {
		return found[1]
	}
	return ""
}

// status returns what the member says of itself.
func (s *Server) status(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	return string(text), err
}

var versionPattern = regexp.MustCompile(`version:? (\d[\w.]*)`)

// version returns the version of the installed ZooKeeper, or "" if there is none.
func version(ctx context.Context) string {
	java, err := findJava(jarDir)
	if err != nil {
		return ""
	}
	return child.Version(ctx, versionPattern, append(java, "org.apache.zookeeper.version.VersionInfoMain")...)
}
