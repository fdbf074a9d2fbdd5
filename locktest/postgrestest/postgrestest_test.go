//go:build linux

package postgrestest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/postgrestest"
)

func TestRealStoreKeepsACorrectLock(t *testing.T) { externaltest.Correct(t, postgrestest.Store, open) }

// openAdvisory makes a lock that belongs to a connection, and does not look whether that is still
// there.
func openAdvisory(env locktest.Env) locktest.Locker {
	db := connect(env)
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		conn, err := db.Conn(ctx)
		if err != nil {
			return locktest.Hold{}, err
		}
		release := func(ctx context.Context) error {
			_, err := conn.ExecContext(ctx, `select pg_advisory_unlock(hashtext($1))`, name)
			return errors.Join(err, conn.Close())
		}
		_, err = conn.ExecContext(ctx, `select pg_advisory_lock(hashtext($1))`, name)
		return locktest.Hold{Release: release}, err
	})
}

func TestRealStoreShowsALockThatIgnoresItsConnection(t *testing.T) {
	externaltest.Wrong(t, postgrestest.Store, openAdvisory)
}
