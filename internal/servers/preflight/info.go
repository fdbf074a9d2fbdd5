package preflight

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

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
