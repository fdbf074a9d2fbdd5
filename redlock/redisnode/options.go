package redisnode

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/env"
)

// Options configures the connections to the nodes. The zero value is complete. The fields can
// be passed to another process as JSON, except those that point into this process.
type Options struct {
	// Runtime has the clock of the instants that Send gets; nil means
	// [env.System]. Its monotonic clock must run at the machine's rate.
	Runtime env.Runtime `json:"-"`

	// Prefix is put in front of every key. All clients of a lock need the same
	// one.
	Prefix string

	// Username, Password and DB (from 0, as in SELECT) are those of every node. A Username
	// needs a Password; without one the user is the server's default.
	Username string
	Password string
	DB       int

	// TLS secures the connections. It cannot be passed to another process.
	TLS *tls.Config `json:"-"`

	// Dial, if it is not nil, makes the connections to the nodes. Its arguments are "tcp" and
	// the address of the node. It cannot be combined with TLS.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `json:"-"`

	// PoolSize is the largest number of connections to one node. Requests beyond them wait,
	// at most until they expire. At most 65,535; 0 means 64.
	PoolSize int

	// MaxInFlight is how many batches of requests to one node are under way at once, each
	// over its own connection, before further requests wait. The waiting requests are sent
	// together, as one batch, when a batch ends, or after one millisecond for each connection
	// in use. Batches save system calls: many clients in one process get several times as many
	// locks per second. 0 means 1, which suits nearby masters; it must not be negative. With
	// PoolSize or more, every request has a connection to itself.
	MaxInFlight int

	// DialTimeout bounds one dial, with TLS and the handshake. While a node's host drops
	// packets, a dial keeps its place in the pool this long, even after its request has
	// expired. 0 means 1 s; it must not be negative.
	DialTimeout time.Duration
}

const (
	defaultPoolSize    = 64
	defaultDialTimeout = time.Second

	// bufferSize is enough for any command and reply here, in bytes; go-redis
	// would take 64 KiB for each connection.
	bufferSize = 4096

	// writeBuffer holds a batch of about a hundred requests, in bytes. A batch that is written
	// in pieces is answered in pieces; its clients then send their next requests in groups, as
	// smaller batches.
	writeBuffer = 16384
)

func (o Options) withDefaults() Options {
	if o.Runtime == nil {
		o.Runtime = env.System()
	}
	if o.PoolSize == 0 {
		o.PoolSize = defaultPoolSize
	}
	o.MaxInFlight = min(max(o.MaxInFlight, 1), o.PoolSize)
	if o.DialTimeout == 0 {
		o.DialTimeout = defaultDialTimeout
	}
	return o
}

// clientOptions returns the options of the client of one node, without its dialer. It is no
// method: who compiles against Options would compile parts of go-redis again, which takes
// seconds.
func clientOptions(o Options, addr string) *redis.Options {
	return &redis.Options{
		Addr: addr, // user, password and database are those of our own handshake

		// A command goes out once, and nothing but its context ends it.
		MaxRetries:            -1,
		ContextTimeoutEnabled: true,
		ReadTimeout:           -1,
		WriteTimeout:          -1,

		DialTimeout:   o.DialTimeout,
		DialerRetries: 1,
		PoolSize:      o.PoolSize,
		PoolTimeout:   math.MaxInt64, // go-redis would turn a request away after 30 s

		// HELLO, for which see [accepted], and no side channels.
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PipelinePoolSize:         -1,

		ReadBufferSize:  bufferSize,
		WriteBufferSize: writeBuffer,
	}
}

// maxPoolSize is how many connections one host can have to one address.
const maxPoolSize = 1<<16 - 1

// check returns an error that names the first option out of range.
func (o Options) check() error {
	return cmp.Or(o.checkLogin(), o.checkLimits())
}

func (o Options) checkLogin() error {
	switch {
	case o.Username != "" && o.Password == "":
		return fmt.Errorf("redisnode: Username %q without a Password", o.Username)
	case o.DB < 0:
		return fmt.Errorf("redisnode: DB %d: want 0 or more", o.DB)
	case o.Dial != nil && o.TLS != nil:
		return errors.New("redisnode: Dial and TLS: want one of them")
	}
	return nil
}

func (o Options) checkLimits() error {
	switch {
	case o.PoolSize < 0 || o.PoolSize > maxPoolSize:
		return fmt.Errorf("redisnode: PoolSize %d: want 0 (for %d) to %d", o.PoolSize, defaultPoolSize, maxPoolSize)
	case o.MaxInFlight < 0:
		return fmt.Errorf("redisnode: MaxInFlight %d: want 0 (for 1) or more", o.MaxInFlight)
	case o.DialTimeout < 0:
		return fmt.Errorf("redisnode: DialTimeout %v: want 0 (for %v) or more", o.DialTimeout, defaultDialTimeout)
	}
	return nil
}
