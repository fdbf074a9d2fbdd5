// Package sqllocktest tests row locks of a SQL database (SELECT … FOR UPDATE) in the storms of
// locktest, on real servers of PostgreSQL, which have to be installed:
//
//	func TestRowLockInStorm(t *testing.T) {
//		sqllocktest.Run(t, func(env locktest.Env) sqllocktest.RowLock {
//			return sqllocktest.RowLock{DB: stdlib.OpenDB(*sqllocktest.ConnConfig(env))}
//		})
//	}
//
// The test is of your configuration: use the driver's and the pool's settings that production has,
// and your statement:
//
//	sqllocktest.RowLock{
//		DB:     db,
//		Setup:  []string{`create table if not exists accounts (id text primary key)`},
//		Insert: `insert into accounts values ($1) on conflict do nothing`,
//		Select: `select id from accounts where id = $1 for update`,
//	}
//
// Options of locktest take one line more:
//
//	c := sqllocktest.Config(locktest.Config{Nodes: 1})
//	locktest.Run(t, c, func(env locktest.Env) locktest.Locker { return sqllocktest.New(env, open(env)) })
//
// A hold is a transaction: a grant has no end of validity, and lasts until the commit. Nothing
// reports its loss before the commit fails. So a holder that is cut off works on when the server
// has ended its transaction and somebody else has the row. The storm holder-cut-off shows this by a
// violation of V1: such a lock protects what the transaction itself writes, and nothing else. For
// what is outside of the database use a row with an expiry, as in the example of
// [github.com/lockstorm/lockstorm/stores/postgrestest].
package sqllocktest

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/postgrestest"
)

// Run tests a row lock on PostgreSQL with 2 synchronous standbys, as [locktest.Run] does. open is
// called for each client of each run.
func Run(t *testing.T, open func(locktest.Env) RowLock) {
	t.Helper()
	locktest.Run(t, Config(locktest.Config{}), func(env locktest.Env) locktest.Locker { return New(env, open(env)) })
}

// Config returns the configuration with PostgreSQL as its store, unless it names another one. Time
// is real, so a TTL and rounds that are 0 become 1 s and 10. The TTL is no part of the lock; the
// server ends connections of clients that have been cut off for so long.
func Config(c locktest.Config) locktest.Config {
	c.Backend = locktest.Process
	c.TTL, c.Rounds = cmp.Or(c.TTL, time.Second), cmp.Or(c.Rounds, 10)
	if c.Store == (locktest.Store{}) {
		c.Store = postgrestest.Store
	}
	return c
}

// ConnConfig returns the configuration of a connection to the primary by the dialer of env, for
// pgx/stdlib.OpenDB.
func ConnConfig(env locktest.Env) *pgx.ConnConfig {
	config, err := pgx.ParseConfig(postgrestest.ConnString(env))
	env.Must(err)
	config.DialFunc = env.Dial
	return config
}

// RowLock is a lock on the row of a resource, held by a transaction. The statements are optional;
// without them the row is in a table locks.
type RowLock struct {
	// DB is closed after the run.
	DB *sql.DB

	// Options are those of the transaction. nil means the defaults of the driver.
	Options *sql.TxOptions

	// Setup is statements to execute before the first lock. All clients execute them, one after
	// another.
	Setup []string

	// Insert makes sure that there is a row for the resource $1. It is executed by itself before
	// each lock. With a Select of your own it may be empty.
	Insert string

	// Select locks the row of the resource $1 and returns it.
	Select string
}

// Statements of a lock without any.
const (
	createLocks = `create table if not exists locks (name text primary key)`
	insertRow   = `insert into locks values ($1) on conflict do nothing`
	selectRow   = `select name from locks where name = $1 for update`
)

// New returns the lock of a client, for [locktest.Run].
func New(env locktest.Env, r RowLock) locktest.Locker {
	if r.Select == "" {
		r.Setup, r.Insert, r.Select = append([]string{createLocks}, r.Setup...), insertRow, selectRow
	}
	env.Cleanup(r.DB.Close)
	for _, statement := range r.Setup {
		_, err := r.DB.ExecContext(context.Background(), statement)
		env.Must(err)
	}
	return locktest.LockerFunc(r.lock)
}

// lock waits until a transaction has locked the row.
func (r RowLock) lock(ctx context.Context, resource string) (locktest.Hold, error) {
	if r.Insert != "" {
		if _, err := r.DB.ExecContext(ctx, r.Insert, resource); err != nil {
			return locktest.Hold{}, err
		}
	}
	// The transaction ends with its context, which is that of the whole hold.
	tx, err := r.DB.BeginTx(ctx, r.Options)
	if err != nil {
		return locktest.Hold{}, err
	}
	if err := r.selectRow(ctx, tx, resource); err != nil {
		_ = tx.Rollback() // what counts is that the lock was not acquired
		return locktest.Hold{}, err
	}
	return locktest.Hold{Release: func(context.Context) error { return tx.Commit() }}, nil
}

// selectRow locks the row, and returns an error if there is none.
func (r RowLock) selectRow(ctx context.Context, tx *sql.Tx, resource string) error {
	rows, err := tx.QueryContext(ctx, r.Select, resource)
	if err != nil {
		return err
	}
	found := rows.Next()
	if err := rows.Close(); err != nil {
		return err
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("sqllocktest: %q has no row: Select returned nothing", resource)
	}
	return nil
}
