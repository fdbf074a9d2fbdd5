package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/env"
)

// operationFunc carries out a request over a connection. It does not return before the
// library does, but begins nothing when ctx has ended.
type operationFunc func(ctx context.Context, z *zk.Conn, r env.StoreRequest) (env.StoreReply, error)

// operation returns what carries out a request, or nil if ZooKeeper cannot.
func operation(r env.StoreRequest) operationFunc {
	switch {
	case r.Op == env.StoreOpen, r.Op == env.StoreClose, r.Op == env.StoreKeep:
		return keep // the other two are no requests to the library
	case r.Op == env.StoreCreate && r.TTL == 0 && r.Delay == 0:
		return create
	case r.Op == env.StoreDelete:
		return remove
	case r.Op == env.StoreList && !r.Serializable:
		return list
	case r.Op == env.StoreAwait:
		return await
	case r.Op == env.StoreUpdate:
		return update
	}
	return nil
}

// barrier makes the following reads on the connection see everything that was acknowledged
// before. It is a write, which only a leader with a quorum can commit, and of which the
// member answers when it has applied all before it.
func barrier(z *zk.Conn) error {
	_, err := z.Set("/", nil, -1)
	return err
}

func keep(_ context.Context, z *zk.Conn, _ env.StoreRequest) (env.StoreReply, error) {
	err := barrier(z)
	return env.StoreReply{Done: err == nil}, err
}

func create(ctx context.Context, z *zk.Conn, r env.StoreRequest) (env.StoreReply, error) {
	var flags int32
	if r.Session != 0 {
		flags |= zk.FlagEphemeral
	}
	if r.Sequential {
		flags |= zk.FlagSequence
	}
	for ctx.Err() == nil {
		path, err := createNoted(z, r, flags)
		switch {
		case err == nil:
			return created(z, r, path)
		case errors.Is(err, zk.ErrNoNode):
			if err := createParents(ctx, z, r.Key); err != nil {
				return env.StoreReply{}, err
			}
		case errors.Is(err, zk.ErrNodeExists):
			there, _, err := get(z, r.Key)
			if errors.Is(err, zk.ErrNoNode) {
				continue
			}
			return env.StoreReply{Entries: []env.Entry{there}}, err
		default:
			return env.StoreReply{}, err
		}
	}
	return env.StoreReply{}, context.Cause(ctx)
}

// createNoted creates an entry with a note.
func createNoted(z *zk.Conn, r env.StoreRequest, flags int32) (path string, err error) {
	done, err := noted(z, r.Value, &zk.CreateRequest{Path: "/" + r.Key, Data: []byte(r.Value), Acl: zk.WorldACL(zk.PermAll), Flags: flags})
	return done.String, err
}

// noted makes a change, and before it in the same transaction a note with the token of a value, which
// the transaction deletes again: see [watch].
func noted(z *zk.Conn, value string, change any) (zk.MultiResponse, error) {
	note := setNote + url.PathEscape(env.EntryToken(value))
	done, err := z.Multi(
		&zk.CreateRequest{Path: note, Acl: zk.WorldACL(zk.PermAll)}, &zk.DeleteRequest{Path: note, Version: -1},
		change,
	)
	if err != nil {
		return zk.MultiResponse{}, err
	}
	return done[2], nil
}

// update replaces the data of a node, whose version ZooKeeper compares.
func update(ctx context.Context, z *zk.Conn, r env.StoreRequest) (env.StoreReply, error) {
	for fresh := false; ctx.Err() == nil; fresh = true {
		there, stat, err := get(z, r.Key)
		switch {
		case err != nil && !errors.Is(err, zk.ErrNoNode):
			return env.StoreReply{}, err
		case err == nil && there.Revision == r.Revision:
			done, err := noted(z, r.Value, &zk.SetDataRequest{Path: "/" + r.Key, Data: []byte(r.Value), Version: stat.Version})
			switch {
			case err == nil:
				there.Value, there.Revision = r.Value, uint64(done.Stat.Mzxid)
				return env.StoreReply{Done: true, Entries: []env.Entry{there}}, nil
			case !errors.Is(err, zk.ErrBadVersion) && !errors.Is(err, zk.ErrNoNode):
				return env.StoreReply{}, err
			}
		case fresh && err == nil:
			return env.StoreReply{Entries: []env.Entry{there}}, nil
		case fresh:
			return env.StoreReply{}, nil
		}
		if err := barrier(z); err != nil {
			return env.StoreReply{}, err
		}
	}
	return env.StoreReply{}, context.Cause(ctx)
}

// created looks up the revision of a new entry, which the reply to its creation does not
// contain. An error must not be taken for one of the creation.
func created(z *zk.Conn, r env.StoreRequest, path string) (env.StoreReply, error) {
	exists, stat, err := z.Exists(path)
	switch {
	case err != nil:
		return env.StoreReply{}, fmt.Errorf("%s was created, but not found: %s", path, err.Error())
	case !exists:
		return env.StoreReply{}, fmt.Errorf("%s was created, and is gone", path)
	}
	e := env.Entry{Key: path[1:], Value: r.Value, Session: r.Session, Revision: uint64(stat.Mzxid)}
	return env.StoreReply{Done: true, Entries: []env.Entry{e}}, nil
}

func createParents(ctx context.Context, z *zk.Conn, key string) error {
	for i := range key {
		if key[i] != '/' {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := z.Create("/"+key[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// get reads an entry and what ZooKeeper knows of it.
func get(z *zk.Conn, key string) (env.Entry, *zk.Stat, error) {
	value, stat, err := z.Get("/" + key)
	if err != nil {
		return env.Entry{}, nil, err
	}
	return env.Entry{Key: key, Value: string(value), Session: uint64(stat.EphemeralOwner), Revision: uint64(stat.Mzxid)}, stat, nil
}

// remove deletes an entry. Its revision is compared before: ZooKeeper compares the version only, which
// begins anew with each node.
func remove(ctx context.Context, z *zk.Conn, r env.StoreRequest) (env.StoreReply, error) {
	version := int32(-1) // any
	if r.Revision != 0 {
		there, _, err := find(z, r)
		if err != nil || there == nil {
			return env.StoreReply{}, err
		}
		version = there.Version
	}
	if ctx.Err() != nil {
		return env.StoreReply{}, context.Cause(ctx)
	}
	_, err := z.Multi( // with a note, as in noted
		&zk.CreateRequest{Path: deletedNote, Acl: zk.WorldACL(zk.PermAll)}, &zk.DeleteRequest{Path: deletedNote, Version: -1},
		&zk.DeleteRequest{Path: "/" + r.Key, Version: version},
	)
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) {
		return env.StoreReply{}, nil
	}
	return env.StoreReply{Done: err == nil}, err
}

// find returns what ZooKeeper knows of an entry with a revision, or nil if there is none, and what
// delivers its next change. It may be gone already if the member lags behind; but what is said to be
// gone is.
func find(z *zk.Conn, r env.StoreRequest) (there *zk.Stat, change <-chan zk.Event, err error) {
	for fresh := false; ; fresh = true {
		exists, stat, change, err := z.ExistsW("/" + r.Key)
		if err != nil {
			return nil, nil, err
		}
		if exists && uint64(stat.Mzxid) == r.Revision {
			return stat, change, nil
		}
		if fresh {
			return nil, nil, nil
		}
		if err := barrier(z); err != nil {
			return nil, nil, err
		}
	}
}

// list reads the children of the parent that the prefix names. It repeats this if one was
// deleted, or created anew, before it was read: so it returns the entries as they were when
// their names were read, but for updates since.
func list(ctx context.Context, z *zk.Conn, r env.StoreRequest) (env.StoreReply, error) {
	if err := barrier(z); err != nil {
		return env.StoreReply{}, err
	}
	slash := strings.LastIndexByte(r.Key, '/') + 1
	for ctx.Err() == nil {
		names, parent, err := z.Children("/" + r.Key[:max(slash-1, 0)])
		if errors.Is(err, zk.ErrNoNode) {
			return env.StoreReply{Done: true}, nil
		}
		if err != nil {
			return env.StoreReply{}, err
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			return !strings.HasPrefix(name, r.Key[slash:]) || slash == 0 && name == "zookeeper" // its own node
		})
		entries, anew, err := getAll(z, r.Key[:slash], names, parent.Pzxid)
		if errors.Is(err, zk.ErrNoNode) || err == nil && anew {
			continue
		}
		if err != nil {
			return env.StoreReply{}, err
		}
		slices.SortFunc(entries, func(a, b env.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
		return env.StoreReply{Done: true, Entries: entries}, nil
	}
	return env.StoreReply{}, context.Cause(ctx)
}

// getAll reads entries concurrently. anew: one of them was created after a transaction.
func getAll(z *zk.Conn, parent string, names []string, after int64) (entries []env.Entry, anew bool, err error) {
	entries, errs := make([]env.Entry, len(names)), make([]error, len(names))
	created := make([]bool, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			var stat *zk.Stat
			if entries[i], stat, errs[i] = get(z, parent+name); errs[i] == nil {
				created[i] = stat.Czxid > after
			}
		})
	}
	all.Wait()
	return entries, slices.Contains(created, true), errors.Join(errs...)
}

// await waits for the deletion or an update of an entry, or for the end of the connection.
func await(ctx context.Context, z *zk.Conn, r env.StoreRequest) (env.StoreReply, error) {
	for {
		there, change, err := find(z, r)
		if err != nil || there == nil {
			return env.StoreReply{Done: err == nil}, err
		}
		select {
		case e := <-change:
			if e.Err != nil {
				return env.StoreReply{}, e.Err
			}
		case <-ctx.Done():
			return env.StoreReply{}, context.Cause(ctx)
		}
	}
}
