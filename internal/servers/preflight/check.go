package preflight

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// patience is how long a server may take for all that it is asked here.
const patience = 5 * time.Second

// Server is what a server has told of itself.
type Server struct {
	Addr    string // by which it was found
	Version string // as in "7.0.15"
	RunID   string // of its process; empty: it does not tell
}

// All looks at all servers at once, as Open does at each, and whether they are different
// ones. The error tells of each that is unfit, and of those in one that are for
// the same reason; there are no connections then.
func All(ctx context.Context, addrs []string, o redisnode.Options, also ...[]string) ([]*Conn, error) {
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
	err := summary(errs)
	if err == nil {
		err = different(conns)
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

// different says which two of the servers are one.
func different(conns []*Conn) error {
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

// Open looks at the server at an address, host:port, and returns a connection to it with
// what it has told. It is asked for every command that a lock needs, and for those of
// also besides, with the prefix and as the user of the options; ServerNames and
// DefaultTTL do not matter here. The error is an [UnfitError], or that of ctx.
func Open(ctx context.Context, addr string, o redisnode.Options, also ...[]string) (*Conn, error) {
	asking, cancel := bounded(ctx)
	defer cancel()
	c, err := meet(asking, addr, o)
	if err == nil {
		if err = c.vet(asking, o, also); err != nil {
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

// bounded is a context that ends when our patience does.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, fmt.Errorf("%v are over", patience))
}

// vet asks a server that has greeted us.
func (c *Conn) vet(ctx context.Context, o redisnode.Options, also [][]string) error {
	i, err := c.info(ctx, o)
	if err != nil {
		return err
	}
	c.Server.Version, c.Server.RunID = i["redis_version"], i["run_id"]
	if err := c.unfit(i.fault()); err != nil {
		return err
	}
	if err := c.choose(ctx, o); err != nil {
		return err
	}
	return c.try(ctx, o, also)
}

// choose chooses the database.
func (c *Conn) choose(ctx context.Context, o redisnode.Options) error {
	if o.DB == 0 {
		return nil
	}
	return c.demand(ctx, o, "SELECT", fmt.Sprint(o.DB))
}

// unfit names the server in what is wrong with it.
func (c *Conn) unfit(f *fault) error {
	if f == nil {
		return nil
	}
	return &UnfitError{[]string{c.Server.Addr}, f.why, f.detail}
}

// fault is something that is wrong with a server.
type fault struct {
	why    error
	detail string
}

// probe is the key on which commands are tried, and probeLife how long it lives if we do
// not come to deleting it, in milliseconds.
const (
	probe     = "vetting"
	probeLife = "10000"
)

// try has the server do once what it will be asked to do. Who stops us meanwhile waits for
// the end of it, lest the probe be left behind.
func (c *Conn) try(ctx context.Context, o redisnode.Options, also [][]string) error {
	ctx, cancel := bounded(context.WithoutCancel(ctx))
	defer cancel()
	key := o.Prefix + probe
	commands := [][]string{
		{"SET", key, "0", "PX", probeLife},
		{"INCR", key},
		{"GET", key},
		{"PTTL", key},
		{"PEXPIRE", key, probeLife},
		{"EVAL", "return redis.call('GET', KEYS[1])", "1", key},
		{"EVALSHA", strings.Repeat("0", 40), "1", key},
	}
	for n, words := range append(append(commands, also...), []string{"DEL", key}) {
		if err := c.demand(ctx, o, words...); err != nil {
			if n > 0 {
				_, _ = c.Ask(ctx, "DEL", key) // or its time comes
			}
			return err
		}
	}
	return nil
}

// demand asks for a command that the server has to do.
func (c *Conn) demand(ctx context.Context, o redisnode.Options, words ...string) error {
	_, err := c.Ask(ctx, words...)
	var no refusal
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &no):
		return c.unfit(c.broken(err))
	case no.code() == "NOSCRIPT": // it may be asked for one
		return nil
	}
	return c.unfit(refused(no, o, words))
}

// refused is what a server's refusal of a command means.
func refused(no refusal, o redisnode.Options, words []string) *fault {
	said := fmt.Sprintf("%s: %s", words[0], no)
	switch {
	case strings.Contains(string(no), "NOPERM"): // also in what a script ends with
		return &fault{ErrForbidden, fmt.Sprintf("%s by user %q on keys %q: %s", words[0], user(o), o.Prefix+"*", no)}
	case no.code() == "NOAUTH":
		return &fault{ErrPassword, said}
	case no.code() == "READONLY":
		return &fault{ErrReplica, said}
	}
	return &fault{ErrRefuses, said}
}

func user(o redisnode.Options) string {
	if o.Username == "" {
		return "default"
	}
	return o.Username
}

// info is what a server tells of itself, by the name of the field.
type info map[string]string

// info asks for everything that INFO tells, which is little.
func (c *Conn) info(ctx context.Context, o redisnode.Options) (info, error) {
	said, err := c.Ask(ctx, "INFO")
	var no refusal
	if errors.As(err, &no) {
		return nil, c.unfit(refused(no, o, []string{"INFO"}))
	}
	if err != nil {
		return nil, c.unfit(c.broken(err))
	}
	text, _ := said.(string)
	i := fieldsOf(text)
	if i["redis_version"] == "" {
		return nil, c.unfit(&fault{ErrNotRedis, "INFO names no redis_version"})
	}
	return i, nil
}

func fieldsOf(text string) info {
	i := info{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			i[name] = value
		}
	}
	return i
}

// fault says what is wrong with a server that tells this, if something is.
func (i info) fault() *fault {
	if v, err := ParseVersion(i["redis_version"]); err == nil && v.Before(LeastVersion) {
		return &fault{ErrTooOld, fmt.Sprintf("Redis %s, and %v is the least (for HELLO)", i["redis_version"], LeastVersion)}
	}
	switch {
	case i["redis_mode"] == "sentinel":
		return &fault{ErrSentinel, ""}
	case i["cluster_enabled"] == "1":
		return &fault{ErrCluster, ""}
	case i["role"] != "" && i["role"] != "master":
		return &fault{ErrReplica, "it follows " + i.master()}
	case i.evicts():
		return &fault{ErrEvicts, fmt.Sprintf("maxmemory is %s and maxmemory-policy %s; noeviction is what a lock needs", i["maxmemory"], i["maxmemory_policy"])}
	}
	return nil
}

func (i info) master() string { return net.JoinHostPort(i["master_host"], i["master_port"]) }

// evicts reports whether the server may throw keys away. What a lock has lost in that way
// would be taken for the work of whatever fault there was; so it is no mere warning. A
// server without a bound on its memory throws nothing away, whatever its policy is.
func (i info) evicts() bool {
	return i["maxmemory"] != "" && i["maxmemory"] != "0" && i["maxmemory_policy"] != "" && i["maxmemory_policy"] != "noeviction"
}

// Still looks again at a server that All or Open has found fit, and says what has become
// of it since: that it is not the process any more that it was, or no master. The
// connection may be another one afterwards.
func (c *Conn) Still(ctx context.Context, o redisnode.Options) error {
	i, err := c.info(ctx, o)
	if err != nil {
		again, lost := meet(ctx, c.Server.Addr, o)
		if lost != nil {
			return lost
		}
		_ = c.Close()
		c.conn, c.read = again.conn, again.read
		if err := c.choose(ctx, o); err != nil {
			return err
		}
		if i, err = c.info(ctx, o); err != nil {
			return err
		}
	}
	if i["run_id"] != c.Server.RunID {
		return &UnfitError{[]string{c.Server.Addr}, errAnother, ""}
	}
	return c.unfit(i.fault())
}

var errAnother = errors.New("was started again")

// Version is a version of Redis: that of its protocol, where another server implements it.
type Version struct{ Major, Minor int }

// LeastVersion is the oldest Redis that a lock can use. HELLO, by which connections
// begin, and users came with 6.0; UNLINK with 4.0, the rest with 2.6.
var LeastVersion = Version{6, 0}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Before reports whether v is older.
func (v Version) Before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// ParseVersion reads a version as in "7.0.15"; what is behind the second number does not
// matter.
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
