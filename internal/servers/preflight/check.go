package preflight

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// checkTimeout bounds the check of one server.
const checkTimeout = 5 * time.Second

// Server is what a server says about itself.
type Server struct {
	Addr    string // the address it was reached by
	Version string // as in "7.0.15"
	RunID   string // of its process; may be empty
}

// OpenAll checks all servers in parallel, as Open does, and that no two are the same. The
// error names each unfit server, and joins those that are unfit for the same reason. No
// connection stays open after an error.
func OpenAll(ctx context.Context, addrs []string, o redisnode.Options, also ...[]string) ([]*Conn, error) {
	conns, errs := make([]*Conn, len(addrs)), make([]error, len(addrs))
	done := make(chan struct{})
	for i, addr := range addrs {
		go func() {
			conns[i], errs[i] = Open(ctx, addr, o, also...)
			done <- struct{}{}
		}()
	}
	for range addrs {
		<-done
	}
	err := mergeErrors(errs)
	if err == nil {
		err = checkDistinct(conns)
	}
	if err != nil {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
		return nil, err
	}
	return conns, nil
}

// checkDistinct returns an error if two connections lead to the same server.
func checkDistinct(conns []*Conn) error {
	found := map[string]string{} // the address, by the run
	for _, c := range conns {
		run, addr := c.Server.RunID, c.Server.Addr
		if first, again := found[run]; again && run != "" {
			return &UnfitError{[]string{first, addr}, ErrSame, "both say run_id " + run}
		}
		found[run] = addr
	}
	return nil
}

// Open checks the server at an address (host:port) and returns a connection to it. It tries
// every command that a lock needs and those of also, as the user and with the key prefix of
// the options. ServerNames and DefaultTTL of the options are ignored. The error is an
// [UnfitError] or that of ctx.
func Open(ctx context.Context, addr string, o redisnode.Options, also ...[]string) (*Conn, error) {
	asking, cancel := withCheckTimeout(ctx)
	defer cancel()
	c, err := connect(asking, addr, o)
	if err == nil {
		if err = c.check(asking, o, also); err != nil {
			_ = c.Close()
		}
	}
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, err
}

// withCheckTimeout returns a context that ends after checkTimeout.
func withCheckTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, checkTimeout, fmt.Errorf("waited for %v", checkTimeout))
}

// check checks a server that has answered HELLO.
func (c *Conn) check(ctx context.Context, o redisnode.Options, also [][]string) error {
	i, err := c.info(ctx, o)
	if err != nil {
		return err
	}
	c.Server.Version, c.Server.RunID = i["redis_version"], i["run_id"]
	if err := c.unfit(i.problem()); err != nil {
		return err
	}
	if err := c.selectDB(ctx, o); err != nil {
		return err
	}
	return c.tryCommands(ctx, o, also)
}

// selectDB selects the database of the options.
func (c *Conn) selectDB(ctx context.Context, o redisnode.Options) error {
	if o.DB == 0 {
		return nil
	}
	return c.require(ctx, o, "SELECT", fmt.Sprint(o.DB))
}

// unfit returns a problem as an error that names the server, or nil if there is none.
func (c *Conn) unfit(f *problem) error {
	if f == nil {
		return nil
	}
	return &UnfitError{[]string{c.Server.Addr}, f.why, f.detail}
}

// problem is why a server is unfit.
type problem struct {
	why    error
	detail string
}

// probeKey is the key on which commands are tried. It expires after probeTTL milliseconds
// if it cannot be deleted.
const (
	probeKey = "preflight"
	probeTTL = "10000"
)

// tryCommands makes the server process each command once. It also finishes when ctx ends,
// so that the probe key is deleted.
func (c *Conn) tryCommands(ctx context.Context, o redisnode.Options, also [][]string) error {
	ctx, cancel := withCheckTimeout(context.WithoutCancel(ctx))
	defer cancel()
	key := o.Prefix + probeKey
	commands := [][]string{
		{"SET", key, "0", "PX", probeTTL},
		{"INCR", key},
		{"GET", key},
		{"PTTL", key},
		{"PEXPIRE", key, probeTTL},
		{"EVAL", "return redis.call('GET', KEYS[1])", "1", key},
		{"EVALSHA", strings.Repeat("0", 40), "1", key},
	}
	for n, words := range append(append(commands, also...), []string{"DEL", key}) {
		if err := c.require(ctx, o, words...); err != nil {
			if n > 0 {
				_, _ = c.Ask(ctx, "DEL", key) // if this fails, the key expires
			}
			return err
		}
	}
	return nil
}

// require sends a command that the server has to support.
func (c *Conn) require(ctx context.Context, o redisnode.Options, words ...string) error {
	_, err := c.Ask(ctx, words...)
	var no resp.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &no):
		return c.unfit(c.explainBroken(err))
	case no.Code() == "NOSCRIPT": // the user may run scripts
		return nil
	}
	return c.unfit(explainRefusal(no, o, words))
}

// explainRefusal says what an error reply to a command means.
func explainRefusal(no resp.Error, o redisnode.Options, words []string) *problem {
	detail := fmt.Sprintf("%s: %s", words[0], no)
	switch {
	case strings.Contains(string(no), "NOPERM"): // may also be part of a script's error
		return &problem{ErrForbidden, fmt.Sprintf("%s by user %q on keys %q: %s", words[0], user(o), o.Prefix+"*", no)}
	case no.Code() == "NOAUTH":
		return &problem{ErrPassword, detail}
	case no.Code() == "READONLY":
		return &problem{ErrReplica, detail}
	}
	return &problem{ErrRefuses, detail}
}

func user(o redisnode.Options) string {
	if o.Username == "" {
		return "default"
	}
	return o.Username
}

// info is the server's reply to INFO, by field.
type info map[string]string

// info sends INFO.
func (c *Conn) info(ctx context.Context, o redisnode.Options) (info, error) {
	reply, err := c.Ask(ctx, "INFO")
	var no resp.Error
	if errors.As(err, &no) {
		return nil, c.unfit(explainRefusal(no, o, []string{"INFO"}))
	}
	if err != nil {
		return nil, c.unfit(c.explainBroken(err))
	}
	text, _ := reply.(string)
	i := parseInfo(text)
	if i["redis_version"] == "" {
		return nil, c.unfit(&problem{ErrNotRedis, "INFO names no redis_version"})
	}
	return i, nil
}

func parseInfo(text string) info {
	i := info{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			i[name] = value
		}
	}
	return i
}

// problem returns why a server with this INFO is unfit, or nil.
func (i info) problem() *problem {
	if v, err := ParseVersion(i["redis_version"]); err == nil && v.Before(LeastVersion) {
		return &problem{ErrTooOld, fmt.Sprintf("Redis %s; at least %v is needed (for HELLO)", i["redis_version"], LeastVersion)}
	}
	switch {
	case i["redis_mode"] == "sentinel":
		return &problem{ErrSentinel, ""}
	case i["cluster_enabled"] == "1":
		return &problem{ErrCluster, ""}
	case i["role"] != "" && i["role"] != "master":
		return &problem{ErrReplica, "it follows " + i.master()}
	case i.evicts():
		return &problem{ErrEvicts, fmt.Sprintf("maxmemory is %s and maxmemory-policy %s; a lock needs noeviction", i["maxmemory"], i["maxmemory_policy"])}
	}
	return nil
}

func (i info) master() string { return net.JoinHostPort(i["master_host"], i["master_port"]) }

// evicts reports whether the server may evict keys. A lock that loses a key this way would
// be blamed on the faults of the plan, so it is an error and not a warning. A server
// without maxmemory evicts nothing, whatever its policy.
func (i info) evicts() bool {
	return i["maxmemory"] != "" && i["maxmemory"] != "0" && i["maxmemory_policy"] != "" && i["maxmemory_policy"] != "noeviction"
}

// Recheck checks a server again that was fit. It returns an error if the process was
// restarted or is no longer a master. It connects again if the connection broke.
func (c *Conn) Recheck(ctx context.Context, o redisnode.Options) error {
	i, err := c.info(ctx, o)
	if err != nil {
		again, lost := connect(ctx, c.Server.Addr, o)
		if lost != nil {
			return lost
		}
		_ = c.Close()
		c.conn, c.read = again.conn, again.read
		if err := c.selectDB(ctx, o); err != nil {
			return err
		}
		if i, err = c.info(ctx, o); err != nil {
			return err
		}
	}
	if i["run_id"] != c.Server.RunID {
		return &UnfitError{[]string{c.Server.Addr}, errRestarted, ""}
	}
	return c.unfit(i.problem())
}

var errRestarted = errors.New("was restarted")

// Version is a version of Redis. Another server has the version of the protocol that it
// implements.
type Version struct{ Major, Minor int }

// LeastVersion is the oldest Redis that a lock can use: HELLO and users came with 6.0,
// UNLINK with 4.0, everything else by 2.6.
var LeastVersion = Version{6, 0}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Before reports whether v is older than other.
func (v Version) Before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// ParseVersion reads a version such as "7.0.15". It ignores what follows the second number.
func ParseVersion(text string) (Version, error) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return Version{}, fmt.Errorf("%q is no version", text)
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return Version{}, fmt.Errorf("%q is no version", text)
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return Version{}, fmt.Errorf("%q is no version", text)
	}
	return Version{major, minor}, nil
}
