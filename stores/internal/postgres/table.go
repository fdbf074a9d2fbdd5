package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// schema creates the tables: of entries, of leases, and a log of the changes of entries, which a
// trigger writes in the transaction of the change. An update is one only if it changes the token. A
// sweep marks its deletions, because a trigger does not know who deletes.
//
// Entries are created and updated by functions because that takes two
// statements: a lock keeps others from drawing a revision until the entry is committed. The
// statements of a volatile function each see what is committed when they begin.
const schema = `
create table entries (key text primary key, value text not null, id bigserial, expires timestamptz);
create function create_entry(k text, v text, ttl interval)
	returns table (done bool, key text, value text, id bigint) volatile language plpgsql as $$
begin
	perform pg_advisory_xact_lock(1);
	return query select false, e.key, e.value, e.id from entries e where e.key = k;
	if not found then
		return query insert into entries as e (key, value, expires) values (k, v, clock_timestamp() + ttl)
			returning true, e.key, e.value, e.id;
	end if;
end $$;
create function update_entry(k text, v text, revision bigint)
	returns table (done bool, key text, value text, id bigint) volatile language plpgsql as $$
begin
	perform pg_advisory_xact_lock(1);
	return query update entries as e set value = v, id = nextval('entries_id_seq') where e.key = k and e.id = revision
		returning true, e.key, e.value, e.id;
	if not found then
		return query select false, e.key, e.value, e.id from entries e where e.key = k;
	end if;
end $$;
create table leases (key text primary key, owner text, id bigint, lease_until timestamptz not null default '-infinity');
create function create_lease(k text, v text, ttl interval)
	returns table (done bool, key text, value text, id bigint) volatile language plpgsql as $$
begin
	if not exists (select from leases l where l.key = k) then
		insert into leases (key) values (k) on conflict do nothing;
	end if;
	return query update leases as l set owner = v, id = nextval('entries_id_seq'), lease_until = clock_timestamp() + ttl
		where l.key = (select j.key from leases j where j.key = k and j.lease_until <= clock_timestamp() for update skip locked)
		returning true, l.key, l.owner, l.id;
	if not found then
		return query select false, l.key, l.owner, l.id from leases l where l.key = k and l.lease_until > clock_timestamp();
	end if;
end $$;
create table changes (n bigserial primary key, transaction xid8 not null default pg_current_xact_id(), what text not null, value text not null);
create index on changes (transaction);
create function log_change() returns trigger language plpgsql as $$
begin
	if tg_op = 'UPDATE' and split_part(old.value, ' ', 1) = split_part(new.value, ' ', 1) then
		return null;
	end if;
	if tg_op <> 'INSERT' then
		insert into changes (what, value) values (coalesce(nullif(current_setting('entries.sweep', true), ''), 'deleted'), split_part(old.value, ' ', 1));
	end if;
	if tg_op <> 'DELETE' then
		insert into changes (what, value) values ('set', split_part(new.value, ' ', 1));
	end if;
	return null;
end $$;
create trigger log_changes after insert or update or delete on entries for each row execute function log_change();
create function sweep_entries(prefix text) returns void volatile language plpgsql as $$
begin
	perform set_config('entries.sweep', 'swept', true);
	delete from entries e where starts_with(e.key, prefix) and e.expires <= clock_timestamp();
end $$`

// A lease is an entry that expires by itself, in the way of job queues: each key is a row that stays,
// and a free one is taken by SELECT … FOR UPDATE SKIP LOCKED. Its id is drawn while the row is locked,
// so ids of one key increase from lease to lease.

// setUp are the statements that prepare the first primary, before there are standbys: so no
// commit waits for them. Without the templates, backups and restarts, which sync each file,
// take a third of the time.
var setUp = []string{
	"set synchronous_commit = local",
	"update pg_database set datistemplate = false",
	"drop database template0",
	"drop database template1",
	schema,
}

// setUp prepares the first primary.
func (s *Server) setUp(ctx context.Context) error {
	conn, err := connect(ctx, s.Addr(), live.DialServer)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	for _, statement := range setUp {
		if _, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return nil
}

// awaitInterval is the time between two looks at whether an entry is gone.
const awaitInterval = 10 * time.Millisecond

// statement carries out a request on a connection.
type statement func(context.Context, *pgx.Conn, env.StoreRequest) (env.StoreReply, error)

// operation returns how a request is carried out, or nil if it cannot be.
func operation(r env.StoreRequest) statement {
	switch r.Op {
	case env.StoreCreate:
		switch {
		case r.Session != 0 || r.Sequential || r.Delay != 0:
			return nil
		case r.Expires:
			return lease
		}
		return create
	case env.StoreRenew:
		return renew
	case env.StoreDelete:
		return deleteEntry
	case env.StoreList:
		if r.Serializable {
			return nil
		}
		return list
	case env.StoreAwait:
		return look
	case env.StoreSweep:
		return sweep
	case env.StoreUpdate:
		return update
	}
	return nil
}

func create(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (env.StoreReply, error) {
	var ttl *int64 // nil: the entry never expires
	if r.TTL > 0 {
		micros := r.TTL.Microseconds()
		ttl = &micros
	}
	return change(ctx, conn, "select done, key, value, id from create_entry($1, $2, $3::bigint * interval '1 microsecond')", r.Key, r.Value, ttl)
}

func lease(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (env.StoreReply, error) {
	return change(ctx, conn, "select done, key, value, id from create_lease($1, $2, $3::bigint * interval '1 microsecond')", r.Key, r.Value, r.TTL.Microseconds())
}

func renew(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (env.StoreReply, error) {
	return change(ctx, conn, `update leases set lease_until = greatest(lease_until, clock_timestamp() + $3::bigint * interval '1 microsecond')
		where key = $1 and id = $2 and lease_until > clock_timestamp() returning true, key, owner, id`, r.Key, int64(r.Revision), r.TTL.Microseconds())
}

func update(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (env.StoreReply, error) {
	return change(ctx, conn, "select done, key, value, id from update_entry($1, $2, $3)", r.Key, r.Value, int64(r.Revision))
}

// change executes a statement that returns whether it has created, renewed or updated an entry, and the entry;
// or nothing, if it has not and does not say why.
func change(ctx context.Context, conn *pgx.Conn, sql string, args ...any) (reply env.StoreReply, err error) {
	var e env.Entry
	err = conn.QueryRow(ctx, sql, args...).Scan(&reply.Done, &e.Key, &e.Value, &e.Revision)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return env.StoreReply{}, nil
	case err != nil:
		return env.StoreReply{}, err
	}
	reply.Entries = []env.Entry{e}
	return reply, nil
}

func deleteEntry(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (reply env.StoreReply, err error) {
	err = conn.QueryRow(ctx, `with
		entry as (delete from entries where key = $1 and ($2::bigint = 0 or id = $2) returning key),
		lease as (update leases set lease_until = '-infinity' where key = $1 and ($2::bigint = 0 or id = $2) and lease_until > clock_timestamp() returning key)
		select exists (select from entry) or exists (select from lease)`, r.Key, int64(r.Revision)).Scan(&reply.Done)
	return reply, err
}

// there are the entries and the leases that have not expired.
const there = "(select key, value, id from entries union all select key, owner, id from leases where lease_until > clock_timestamp()) e"

func list(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (env.StoreReply, error) {
	rows, err := conn.Query(ctx, "select key, value, id from "+there+" where starts_with(key, $1) order by id", r.Key)
	if err != nil {
		return env.StoreReply{}, err
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e env.Entry, err error) {
		return e, row.Scan(&e.Key, &e.Value, &e.Revision)
	})
	if err != nil {
		return env.StoreReply{}, err
	}
	return env.StoreReply{Done: true, Entries: entries}, nil
}

// look reports whether an entry is gone.
func look(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (reply env.StoreReply, err error) {
	err = conn.QueryRow(ctx, "select not exists (select from "+there+" where key = $1 and id = $2::bigint)", r.Key, int64(r.Revision)).Scan(&reply.Done)
	return reply, err
}

func sweep(ctx context.Context, conn *pgx.Conn, r env.StoreRequest) (env.StoreReply, error) {
	_, err := conn.Exec(ctx, "select sweep_entries($1)", r.Key)
	return env.StoreReply{Done: err == nil}, err
}
