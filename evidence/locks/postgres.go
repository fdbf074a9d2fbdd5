package locks

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"time"

	"cirello.io/pglock"
	advisory "github.com/allisson/go-pglock/v3"
	"github.com/lib/pq"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/postgrestest"
)

// connect connects a client to the primary, by the driver that both libraries name.
func connect(env locktest.Env) *sql.DB {
	connector, err := pq.NewConnector(postgrestest.ConnString(env))
	env.Must(err)
	connector.Dialer(pqDialer{env})
	db := sql.OpenDB(connector)
	env.Cleanup(db.Close)
	return db
}

// pqDialer is a dialer of lib/pq.
type pqDialer struct{ env locktest.Env }

func (d pqDialer) Dial(network, addr string) (net.Conn, error) {
	return d.env.Dial(context.Background(), network, addr)
}

func (d pqDialer) DialTimeout(network, addr string, timeout time.Duration) (net.Conn, error) {
	return d.env.DialWithin(network, addr, timeout)
}

// DialContext implements pq.DialerContext.
func (d pqDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return d.env.Dial(ctx, network, addr)
}

// openPglock is pglock with heartbeats as often as by default, in relation to the lease. The context that
// it passes to work under the lock reports the loss.
func openPglock(env locktest.Env) locktest.Locker {
	client, err := pglock.New(connect(env), pglock.WithLeaseDuration(env.TTL), pglock.WithHeartbeatFrequency(env.TTL/4))
	env.Must(err)
	env.Must(client.TryCreateTable())
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		held, done, finished := make(chan context.Context, 1), make(chan struct{}), make(chan error, 1)
		go func() {
			finished <- client.Do(ctx, resource, func(ctx context.Context, _ *pglock.Lock) error {
				held <- ctx
				<-done
				return nil
			})
		}()
		select {
		case working := <-held:
			release := func(context.Context) error {
				lost := working.Err() != nil
				close(done)
				return pglockReleased(<-finished, lost)
			}
			return locktest.Hold{Lost: working.Done(), Release: release}, nil
		case err := <-finished:
			return locktest.Hold{}, err
		}
	})
}

// errSilentDo is what is known of a release by Do, which ignores the error.
var errSilentDo = errors.New("pglock does not say whether the lock was held until then")

func pglockReleased(err error, lost bool) error {
	switch {
	case lost:
		return locktest.ErrNotHeld
	case err != nil:
		return err
	}
	return errSilentDo
}

// openAdvisory is go-pglock, a lock that belongs to a connection. It reports no loss.
func openAdvisory(env locktest.Env) locktest.Locker {
	db := connect(env)
	return locktest.LockerFunc(func(ctx context.Context, _ string) (locktest.Hold, error) {
		lock, err := advisory.NewLock(ctx, 1, db)
		if err != nil {
			return locktest.Hold{}, err
		}
		if err := lock.WaitAndLock(ctx); err != nil {
			return locktest.Hold{}, errors.Join(err, lock.Close())
		}
		release := func(ctx context.Context) error { return errors.Join(lock.Unlock(ctx), lock.Close()) }
		return locktest.Hold{Release: release}, nil
	})
}
