package postgrestest_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/postgrestest"
)

// connect connects a client to the primary.
func connect(env locktest.Env) *sql.DB {
	config, err := pgx.ParseConfig(postgrestest.ConnString(env))
	env.Must(err)
	config.DialFunc = env.Dial
	db := stdlib.OpenDB(*config)
	env.Cleanup(db.Close)
	return db
}

// Mutex is your lock: a row with a time to live, which the primary's clock counts.
type Mutex struct {
	DB  *sql.DB
	TTL time.Duration
}

const table = `create table if not exists locks (name text primary key, token text not null, expires timestamptz not null)`

// The row may have this token already: of a statement whose answer was lost.
const take = `insert into locks as l values ($1, $2, clock_timestamp() + $3 * interval '1 microsecond')
	on conflict (name) do update set token = excluded.token, expires = excluded.expires
	where l.expires <= clock_timestamp() or l.token = excluded.token`

// ErrExpired is the error of a release that came too late.
var ErrExpired = errors.New("the lock has expired")

// Lock waits until the lock is held. It returns its token, and when it may be over.
func (m *Mutex) Lock(ctx context.Context, name string) (token string, until time.Time, err error) {
	token = rand.Text()
	for {
		sent := time.Now()
		result, err := m.DB.ExecContext(ctx, take, name, token, m.TTL.Microseconds())
		if err == nil {
			rows, _ := result.RowsAffected()
			if until := sent.Add(m.TTL); rows == 1 && time.Now().Before(until) {
				return token, until, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", time.Time{}, ctx.Err()
		case <-time.After(20 * time.Millisecond): // after an error there may be a new primary
		}
	}
}

// Unlock deletes the row if it has the token.
func (m *Mutex) Unlock(ctx context.Context, name, token string) error {
	result, err := m.DB.ExecContext(ctx, `delete from locks where name = $1 and token = $2`, name, token)
	if err != nil {
		return err
	}
	if rows, _ := result.RowsAffected(); rows == 0 {
		return ErrExpired
	}
	return nil
}

// open makes the lock of one client.
func open(env locktest.Env) locktest.Locker {
	mutex := &Mutex{DB: connect(env), TTL: env.TTL}
	_, err := mutex.DB.ExecContext(context.Background(), table)
	env.Must(err)
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		token, until, err := mutex.Lock(ctx, name)
		release := func(ctx context.Context) error {
			err := mutex.Unlock(ctx, name, token)
			if errors.Is(err, ErrExpired) {
				return locktest.ErrNotHeld
			}
			return err
		}
		return locktest.Hold{Release: release, Until: until}, err
	})
}

// A complete test of a lock on PostgreSQL. In a _test.go file it is called TestMutexInStorm, and
// t is its argument.
func Example() {
	TestMutexInStorm := func(t *testing.T) {
		locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: postgrestest.Store}, open)
	}
	_ = TestMutexInStorm
}
