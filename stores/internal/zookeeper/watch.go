package zookeeper

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// A watch of ZooKeeper is told the paths of nodes that come and go, in the order of the
// transactions, but neither their data nor who deleted them. So a client creates notes, whose paths
// say it, in the transaction of the change, and deletes them there: they come before the change.
// A node that goes without a note went with its session. No entry has such a key.
const (
	setNote     = "/~set~" // and the token
	deletedNote = "/~deleted"
)

// watch follows all nodes, at one member at a time.
type watch struct {
	log     live.EntryLog
	entries map[string]string // the tokens, by path
	token   string            // by the last note, of the next node
	noted   bool              // there is such a note
	deleted bool              // a note says that the next deletion is a client's
}

// The watch looks for the latest transaction at intervals. A member that does not answer is left.
const (
	lookInterval = 20 * time.Millisecond
	lookTimeout  = time.Second
)

// newWatch returns what watches the members of an ensemble: see [live.Fleet].
func newWatch(servers []*Server) func(ctx context.Context, log live.EntryLog) {
	return func(ctx context.Context, log live.EntryLog) {
		w := &watch{log: log, entries: map[string]string{}}
		for at := 0; ctx.Err() == nil; at = (at + 1) % len(servers) {
			_ = w.follow(ctx, servers[at].Addr()) // the next member continues
			select {
			case <-time.After(lookInterval):
			case <-ctx.Done():
			}
		}
	}
}

// follow follows the changes at a member, until that fails. What happened before is lost but for
// its result.
func (w *watch) follow(ctx context.Context, addr string) error {
	w.noted, w.deleted = false, false
	there := map[string]bool{}
	listing := true
	c, err := dialRaw(ctx, addr, func(kind nodeEvent, path string) {
		if listing && kind == nodeCreated {
			there[path] = true
		} else if listing {
			delete(there, path)
		}
		w.changed(kind, path)
	})
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.watchAll(); err != nil {
		return err
	}
	w.log.Gap()
	if err := c.barrier(); err != nil { // the member has what was acknowledged before
		return err
	}
	if err := w.list(c, "/", there); err != nil {
		return err
	}
	listing = false
	for path, token := range w.entries {
		if !there[path] {
			delete(w.entries, path)
			w.log.Record(history.Event{Kind: history.EntryGone, Token: token})
		}
	}
	for {
		before := w.log.Now()
		if err := c.barrier(); err != nil {
			return err
		}
		w.log.Seen(before)
		if err := c.listen(lookInterval); err != nil {
			return err
		}
	}
}

// list records the nodes below a path that are not known, and adds all to a set.
func (w *watch) list(c *rawConn, path string, there map[string]bool) error {
	names, err := c.children(path)
	if err != nil {
		return unlessGone(err)
	}
	for _, name := range names {
		child := strings.TrimSuffix(path, "/") + "/" + name
		if child == "/zookeeper" {
			continue
		}
		there[child] = true
		value, err := c.data(child)
		token := env.EntryToken(value)
		switch before, known := w.entries[child]; {
		case err != nil && unlessGone(err) != nil:
			return err
		case err == nil && !known && len(value) > 0:
			w.created(child, token)
		case err == nil && known && before != token:
			w.log.Record(history.Event{Kind: history.EntryGone, Token: before})
			w.created(child, token)
		}
		if err := w.list(c, child, there); err != nil {
			return err
		}
	}
	return nil
}

func unlessGone(err error) error {
	if errors.Is(err, errNoNode) {
		return nil
	}
	return err
}

// changed records the creation or deletion of a node.
func (w *watch) changed(kind nodeEvent, path string) {
	note, isSet := strings.CutPrefix(path, setNote)
	switch {
	case isSet && kind == nodeCreated:
		token, err := url.PathUnescape(note)
		w.token, w.noted = token, err == nil
	case path == deletedNote && kind == nodeCreated:
		w.deleted = true
	case isSet, path == deletedNote: // a note's end
	case kind == nodeCreated:
		if w.noted {
			w.created(path, w.token)
		}
		w.noted = false
	case kind == nodeChanged && w.noted:
		w.updated(path, w.token)
		w.noted = false
	case kind == nodeDeleted:
		w.gone(path)
		w.deleted = false
	}
}

func (w *watch) created(path, token string) {
	w.entries[path] = token
	w.log.Record(history.Event{Kind: history.EntrySet, Token: token})
}

// updated records an update that has given a node another token.
func (w *watch) updated(path, token string) {
	before, known := w.entries[path]
	if known && before == token {
		return
	}
	if known {
		w.log.Record(history.Event{Kind: history.EntryDeleted, Token: before})
	}
	w.created(path, token)
}

func (w *watch) gone(path string) {
	token, known := w.entries[path]
	if !known {
		return
	}
	delete(w.entries, path)
	e := history.Event{Kind: history.EntryGone, Token: token, Reason: history.SessionOver}
	if w.deleted {
		e = history.Event{Kind: history.EntryDeleted, Token: token}
	}
	w.log.Record(e)
}
