package sqllocktest_test

import (
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/sqllocktest"
)

// A complete test. In a _test.go file it is called TestRowLockInStorm, and t is its argument.
func Example() {
	TestRowLockInStorm := func(t *testing.T) {
		open := func(env locktest.Env) *sql.DB { return stdlib.OpenDB(*sqllocktest.ConnConfig(env)) }
		sqllocktest.Run(t, func(env locktest.Env) sqllocktest.RowLock { return sqllocktest.RowLock{DB: open(env)} })
	}
	_ = TestRowLockInStorm
}
