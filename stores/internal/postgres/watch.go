package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// The watch reads the log of changes at intervals. A primary that does not answer is left.
const (
	readInterval = 10 * time.Millisecond
	readTimeout  = time.Second
)

// logged is a row of the log of changes. A value is the token of one try, so each of its changes
// happens once.
type logged struct{ what, value string }

// watch reads the log of changes from the primary, which a failover can have shortened.
type watch struct {
	log      live.EntryLog
	recorded map[logged]bool
	present  map[string]bool // the values of entries, as recorded
}

// watch watches the entries: see [live.Fleet].
func (c *cluster) watch(ctx context.Context, log live.EntryLog) {
	w := &watch{log: log, recorded: map[logged]bool{}, present: map[string]bool{}}
	for at := 0; ctx.Err() == nil; at = (at + 1) % len(c.servers) {
		_ = w.follow(ctx, c.servers[at].Addr()) // the next server may be the primary
		select {
		case <-time.After(readInterval):
		case <-ctx.Done():
		}
	}
}

// follow records the changes that a primary has, over one connection, until that fails.
func (w *watch) follow(ctx context.Context, addr string) error {
	connecting, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	conn, err := connect(connecting, addr, live.DialServer, pgconn.ValidateConnectTargetSessionAttrsPrimary)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	open := int64(0) // all transactions before it have ended, and their changes are recorded
	for first := true; ; first = false {
		before := w.log.Now()
		rows, next, err := read(ctx, conn, open)
		if err != nil {
			return err
		}
		if first {
			w.forget(rows)
		}
		for _, row := range rows {
			w.record(row)
		}
		w.log.Seen(before)
		open = next
		select {
		case <-time.After(readInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// read returns the changes by transactions from open on that have been committed, in their order,
// and the oldest transaction that had not ended. Rows are numbered before they are committed, so
// their numbers do not tell which ones are new.
func read(ctx context.Context, conn *pgx.Conn, open int64) (changes []logged, next int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	rows, err := conn.Query(ctx, `select s.next, c.what, c.value
		from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as next) s
		left join changes c on c.transaction >= $1::text::xid8 order by c.n`, strconv.FormatInt(open, 10))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var what, value *string // null: there are no changes
		if err := rows.Scan(&next, &what, &value); err != nil {
			return nil, 0, err
		}
		if what != nil {
			changes = append(changes, logged{*what, *value})
		}
	}
	return changes, next, rows.Err()
}

// forget records what is undone because a primary, which has exactly these changes, lacks others
// that are recorded: it may be a new one.
func (w *watch) forget(has []logged) {
	kept := map[logged]bool{}
	for _, row := range has {
		kept[row] = true
	}
	for _, row := range slices.SortedFunc(maps.Keys(w.recorded), func(a, b logged) int { return cmp.Compare(a.value, b.value) }) {
		if kept[row] {
			continue
		}
		delete(w.recorded, row)
		created := logged{set, row.value}
		switch {
		case row == created && w.present[row.value]:
			delete(w.present, row.value)
			w.log.Record(history.Event{Kind: history.EntryGone, Token: row.value, Reason: history.Forgotten})
		case row != created && kept[created] && !w.present[row.value]:
			w.present[row.value] = true
			w.log.Record(history.Event{Kind: history.EntrySet, Token: row.value, Reason: history.RolledBack})
		}
	}
}

// The changes, as the log calls them. Any other is a deletion by a client.
const (
	set   = "set"
	swept = "swept"
)

// record records a change, unless it is.
func (w *watch) record(row logged) {
	if w.recorded[row] {
		return
	}
	w.recorded[row] = true
	w.present[row.value] = row.what == set
	e := history.Event{Kind: history.EntryDeleted, Token: row.value}
	switch row.what {
	case set:
		e.Kind = history.EntrySet
	case swept:
		e.Kind, e.Reason = history.EntryGone, history.Swept
	}
	w.log.Record(e)
}
