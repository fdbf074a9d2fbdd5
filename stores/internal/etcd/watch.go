package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// deletedKey is the key in which a client that deletes an entry notes the entry's key, in the same
// transaction. A watch is not told why a key is gone: without a note its lease is over. No entry
// has a key that begins like this.
const deletedKey = "\x00deleted"

// The watch asks for the latest revision at intervals. A member that does not answer, or does not
// deliver what it has said there is, is left for the next one.
const (
	lookInterval = 20 * time.Millisecond
	lookTimeout  = time.Second
)

// emptyStore is the revision of a store without changes.
const emptyStore = 1

// watch follows all keys of a store, at one member at a time.
type watch struct {
	log     live.EntryLog
	last    int64             // the revision up to which everything is recorded
	entries map[string]string // the tokens, by key
}

// newWatch returns what watches the members of a cluster: see [live.Fleet].
func newWatch(servers []*Server) func(ctx context.Context, log live.EntryLog) {
	return func(ctx context.Context, log live.EntryLog) {
		w := &watch{log: log, last: emptyStore, entries: map[string]string{}}
		for at := 0; ctx.Err() == nil; at = (at + 1) % len(servers) {
			_ = w.follow(ctx, servers[at].Addr()) // the next member continues
			select {
			case <-time.After(lookInterval):
			case <-ctx.Done():
			}
		}
	}
}

// follow follows the changes after the last recorded one at a member, until that fails.
func (w *watch) follow(ctx context.Context, addr string) error {
	member, err := connectTo(addr, live.DialServer)
	if err != nil {
		return err
	}
	defer hangUp(member)
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	looks, failed := make(chan look), make(chan error, 1)
	go func() { failed <- w.look(ctx, member, looks) }()
	opening := time.AfterFunc(lookTimeout, cancel) // Watch returns when the stream is open, or ctx has ended
	changes := member.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(w.last+1))
	opening.Stop()
	var pending look // the zero value: none
	var overdue <-chan time.Time
	for {
		if pending.revision > 0 && pending.revision <= w.last {
			w.log.Seen(pending.sent)
			pending, overdue = look{}, nil
		}
		next := looks
		if pending.revision > 0 {
			next = nil
		}
		select {
		case pending = <-next:
			overdue = time.After(lookTimeout)
		case change, open := <-changes:
			if !open || change.Err() != nil {
				return fmt.Errorf("the watch has ended: %w", errors.Join(change.Err(), ctx.Err()))
			}
			w.record(change.Events)
		case err := <-failed:
			return err
		case <-overdue:
			return fmt.Errorf("revision %d was not delivered", pending.revision)
		}
	}
}

// look is the latest revision of the store at some instant after sent.
type look struct {
	sent     env.Instant
	revision int64
}

// look looks for the latest revision again and again, by linearizable reads.
func (w *watch) look(ctx context.Context, member *clientv3.Client, found chan<- look) error {
	for {
		l := look{sent: w.log.Now()}
		limited, cancel := context.WithTimeout(ctx, lookTimeout)
		reply, err := member.Get(limited, deletedKey, clientv3.WithKeysOnly())
		cancel()
		if err != nil {
			return err
		}
		l.revision = reply.Header.Revision
		select {
		case found <- l:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-time.After(lookInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// record records the changes of whole revisions.
func (w *watch) record(changes []*clientv3.Event) {
	notes := map[note]bool{}
	for _, e := range changes {
		if string(e.Kv.Key) == deletedKey {
			notes[note{string(e.Kv.Value), e.Kv.ModRevision}] = true
		}
	}
	for _, e := range changes {
		key := string(e.Kv.Key)
		w.last = max(w.last, e.Kv.ModRevision)
		switch {
		case key == deletedKey:
		case e.Type == mvccpb.PUT:
			w.put(key, env.EntryToken(string(e.Kv.Value)))
		case notes[note{key, e.Kv.ModRevision}]:
			w.log.Record(history.Event{Kind: history.EntryDeleted, Token: w.entries[key]})
			delete(w.entries, key)
		default:
			w.log.Record(history.Event{Kind: history.EntryGone, Token: w.entries[key], Reason: history.SessionOver})
			delete(w.entries, key)
		}
	}
}

// put records that a key has a value with a token. An update can give it another one.
func (w *watch) put(key, token string) {
	before, known := w.entries[key]
	w.entries[key] = token
	if known && before != token {
		w.log.Record(history.Event{Kind: history.EntryDeleted, Token: before})
	}
	if !known || before != token {
		w.log.Record(history.Event{Kind: history.EntrySet, Token: token})
	}
}

// note says that a client has deleted a key by a revision.
type note struct {
	key      string
	revision int64
}
