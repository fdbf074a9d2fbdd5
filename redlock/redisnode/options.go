package redisnode

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/env"
)

// Options says how nodes are talked to. The zero value is complete. Another process can be
// told all of it, in JSON, but what points to something of this one.
type Options struct {
	// Runtime tells the time that instants are readings of; nil means
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

	// TLS is used if it is set, or made of Certificates if these are: another process can
	// be told only the second.
	TLS          *tls.Config `json:"-"`
	Certificates *Certificates

	// Dial makes the connections to the nodes, if it is set, and not the system: it is told
	// "tcp" and the address of the node. With TLS it must not be set.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `json:"-"`

	// ServerNames are the hosts, by node from 0, for which the nodes' certificates
	// have to be good, where the nodes are reached by way of other addresses. nil:
	// those of the addresses, or of TLS.
	ServerNames []string

	// DefaultTTL is how long keys live for which a command asks for no end: counters
	// of fences, the notes of a quarantine, what some locks of package locks set. It
	// has to be a whole number of milliseconds, and longer than anybody counts on
	// them: a counter that is gone begins anew. 0: for ever.
	DefaultTTL time.Duration

	// PoolSize is the number of connections kept for one node, on each of which
	// requests can be under way to it; more wait for their turn, at most
	// until they are given up. At most 65,535; 0 means 64.
	PoolSize int

	// Abreast is how many requests go to one node at once, each over a connection of
	// its own. More wait until one of those is answered, and then go out together over
	// one connection: many clients of one process, whose work is mostly in system calls,
	// get several times as many locks so. What it costs: a request that comes while
	// Abreast others are under way waits for one of them, or as many milliseconds as
	// connections are in use, and goes out then. 0 means 1, which is right for masters
	// that are near; it must not be negative. As many as PoolSize, or more: each
	// request has always a connection to itself.
	Abreast int

	// DialTimeout bounds the making of one connection, with TLS and the handshake. While a
	// node's host swallows packets, dials hold their turn in the pool this long, also
	// after their request was given up. 0 means 1 s; it must not be negative.
	DialTimeout time.Duration
}

const (
	defaultPoolSize    = 64
	defaultDialTimeout = time.Second

	// bufferSize is enough for any command and reply here, in bytes; go-redis
	// would take 64 KiB for each connection.
	bufferSize = 4096

	// writeBuffer holds a batch of about a hundred requests. One that is written in pieces is
	// answered in pieces, and the clients then come back in groups, each a smaller batch.
	writeBuffer = 16384
)

func (o Options) withDefaults() Options {
	if o.Runtime == nil {
		o.Runtime = env.System()
	}
	if o.PoolSize == 0 {
		o.PoolSize = defaultPoolSize
	}
	o.Abreast = min(max(o.Abreast, 1), o.PoolSize)
	if o.DialTimeout == 0 {
		o.DialTimeout = defaultDialTimeout
	}
	return o
}

// tls is what a node, from 0, is talked to with; nil: plainly.
func (o Options) tls(node int) *tls.Config {
	if o.TLS == nil || o.ServerNames == nil {
		return o.TLS
	}
	config := o.TLS.Clone()
	config.ServerName = o.ServerNames[node]
	return config
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
