// Package postgrestest has the stores of locktest for locks that are kept in PostgreSQL:
//
//	locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: postgrestest.Store}, open)
//
// The servers are processes on this machine, one primary and streaming standbys, of the newest
// PostgreSQL that is installed. Everybody may connect as the superuser postgres, without a
// password and without TLS, to the database postgres, which is empty. With pgx a client connects by
// the dialer of the environment, directly or through database/sql:
//
//	config, err := pgx.ParseConfig(postgrestest.ConnString(env))
//	config.DialFunc = env.Dial
//	db := stdlib.OpenDB(*config)
//
// # Failover
//
// The first node is the primary at first. When it is killed, shut down or stopped, the standby
// with the most WAL is promoted after half a second, if a majority is left. [ConnString] lists all
// servers with target_session_attrs=read-write, so that a new connection goes to the
// primary; a connection to a former one fails, or says that the server is read-only.
//
// # Faults
//
// Faults kill, shut down and stop servers, set their wall clocks, and affect connections and
// clients. No server loses what it has on disk. The server closes the connections of a client that
// has been cut off for the TTL, as with tcp_keepalives_idle and the other settings of keepalive
// set to short times: so it frees the advisory locks of the client.
package postgrestest

import (
	"net"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/postgres"
)

// Store is a primary with a standby for each other node. A commit is answered when a majority
// of the servers has it on disk.
var Store = locktest.NewStore(postgres.Store{}.Servers())

// Asynchronous is the same with asynchronous replication, which PostgreSQL has by default: what
// the primary sends takes up to 50 ms, and a failover loses what was on its way. Locks promise no
// exclusion when a server goes down.
var Asynchronous = locktest.NewStore(asynchronous())

func asynchronous() *live.StoreServers {
	s := postgres.Store{}.Servers()
	s.Asynchronous, s.Commit = true, nemesis.Range{Max: 50 * time.Millisecond}
	return s
}

// ConnString returns the connection string of a client of the primary, for [pgx.ParseConfig] or
// another driver that knows target_session_attrs.
//
// [pgx.ParseConfig]: https://pkg.go.dev/github.com/jackc/pgx/v5#ParseConfig
func ConnString(env locktest.Env) string {
	var hosts, ports []string
	for _, addr := range env.Addrs {
		host, port, _ := net.SplitHostPort(addr)
		hosts, ports = append(hosts, host), append(ports, port)
	}
	return "host=" + strings.Join(hosts, ",") + " port=" + strings.Join(ports, ",") +
		" user=postgres dbname=postgres sslmode=disable target_session_attrs=read-write"
}
