//go:build linux

package sqllocktest_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/postgrestest"
	"github.com/lockstorm/lockstorm/stores/sqllocktest"
)

func byDefault(env locktest.Env) sqllocktest.RowLock {
	return sqllocktest.RowLock{DB: stdlib.OpenDB(*sqllocktest.ConnConfig(env))}
}

// accounts is a lock on rows of the user's.
func accounts(env locktest.Env) sqllocktest.RowLock {
	r := byDefault(env)
	r.Setup = []string{`create table if not exists accounts (id text primary key)`}
	r.Insert = `insert into accounts values ($1) on conflict do nothing`
	r.Select = `select id from accounts where id = $1 for update`
	return r
}

// of returns what makes the lock of a client.
func of(open func(locktest.Env) sqllocktest.RowLock) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker { return sqllocktest.New(env, open(env)) }
}

// Law: a row lock keeps its promises while a primary is down.
func TestRealStoreKeepsTheRowLock(t *testing.T) {
	c := externaltest.LeaderDown(t, postgrestest.Store)
	c.Rounds = 30 // it gives up at once while there is no primary
	locktest.Run(t, c, of(byDefault))
}

// Law: nobody tells a holder that is cut off that its transaction is over.
func TestRealStoreShowsAHolderThatIsNotTold(t *testing.T) {
	externaltest.Wrong(t, postgrestest.Store, of(accounts))
}

// Law: the statement counts: without FOR UPDATE nobody is excluded.
func TestRealStoreShowsAStatementWithoutALock(t *testing.T) {
	c := externaltest.Named(t, sqllocktest.Config(locktest.Config{Nodes: 1, Dir: t.TempDir()}), "contention")
	broken := externaltest.Broken(t, c, of(func(env locktest.Env) sqllocktest.RowLock {
		r := accounts(env)
		r.Select = strings.TrimSuffix(r.Select, " for update")
		return r
	}))
	if len(broken) != 1 || broken[0] != "contention V1" {
		t.Errorf("%q is broken, not V1", broken)
	}
}
