package rivals

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// row is a row for each resource, which is there while somebody holds it.
type row struct{}

// NewRow returns the lock of a table in a database, as articles have it: it deletes
// the rows that are past their TTL, inserts one of its own under a unique key, and
// deletes that when it is done. Who fails tries again after a random delay. The
// fence is the row's increasing number.
//
// The TTL is counted by the database's clock. A row cannot be extended.
func NewRow(c Config, p Ports) (*Mutex, error) { return newStoreMutex(c, p, row{}) }

func (row) acquire(ctx context.Context, a *attempt) error {
	m, key := a.mutex, path(a.resource)
	a.aim(m.validUntil(m.config.TTL))
	if _, err := m.ask(ctx, env.StoreRequest{Op: env.StoreSweep, Key: key}); err != nil {
		return err
	}
	if _, err := a.create(ctx, env.StoreRequest{Key: key, TTL: m.config.TTL}); err != nil {
		return err
	}
	return a.check()
}

func (row) abandon(a *attempt) { a.clear() }

func (row) release(ctx context.Context, h *Hold) (env.Answer, error) { return h.drop(ctx) }
