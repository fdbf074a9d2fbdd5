package keywatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Log records what a watch reports. It is [live.EntryLog].
type Log interface {
	Record(e history.Event)
	Gap()
	Seen(before env.Instant)
	Now() env.Instant
}

// Options says what a [Watch] watches.
type Options struct {
	// Connect says how to connect. Only keys of its DB that begin with its Prefix are recorded.
	Connect redisnode.Options

	// All says that the server has no other keys than those of the run: then all of them are listed
	// when the watch begins. Otherwise only the known ones are looked at.
	All bool
}

// Watch watches the keys of a node, over all servers that the node has had.
type Watch struct {
	options Options
	log     Log
	keys    map[string]held // as recorded, by their names without the prefix
}

// held is a key.
type held struct {
	value  string
	expiry int64 // in milliseconds of the server's wall clock; 0: it is not known; or noExpiry
}

// detail says in the history that the key has no expiry.
func (k held) detail() string {
	if k.expiry == noExpiry {
		return history.NoExpiry
	}
	return ""
}

// New returns a watch that knows no keys yet.
func New(o Options, log Log) *Watch { return &Watch{options: o, log: log, keys: map[string]held{}} }

// lookInterval is the time between two looks at the server's counters. lookTimeout bounds how long a
// server may take to answer, or the stream to catch up; a server that is stopped takes longer, and
// then the watch begins anew.
const (
	lookInterval = 20 * time.Millisecond
	lookTimeout  = time.Minute
)

// ErrCountsReplicas is the error of a server that accepts writes only with replicas: it would count
// the watch.
var ErrCountsReplicas = errors.New("min-replicas-to-write is set: the server would count the watch of its keys as a replica")

// Check returns an error if keys of the server at an address cannot be watched: the user may not do
// what a watch does (PSYNC, REPLCONF, MULTI, EXEC, EVAL, INFO, TIME and TYPE), or the server counts its
// replicas. The server makes one copy for it.
func Check(ctx context.Context, addr string, connect redisnode.Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, checkTimeout, fmt.Errorf("waited for %v", checkTimeout))
	defer cancel()
	w := New(Options{Connect: connect}, nil)
	asking, s, err := w.open(ctx, addr)
	if err == nil {
		defer func() { _, _ = asking.Close(), s.conn.Close() }()
		_, _, err = w.list(ctx, asking)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %w", addr, ErrUnwatchable, err)
	}
	return nil
}

// ErrUnwatchable is the error of a server whose keys cannot be watched.
var ErrUnwatchable = errors.New("its keys cannot be watched")

// checkTimeout bounds a check. A server may wait for further replicas before it makes a copy, by
// default for five seconds.
const checkTimeout = 20 * time.Second

// Follow records changes of the keys at a server until that fails or ctx ends. It first records how
// the keys differ from those that it has recorded before: lost is the reason why keys are gone that
// have not expired, or "". Then it calls began.
func (w *Watch) Follow(ctx context.Context, addr, lost string, began func()) error {
	asking, s, err := w.open(ctx, addr)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { defer close(done); s.follow() }()
	closeBoth := func() { _, _ = asking.Close(), s.conn.Close() }
	defer func() { closeBoth(); <-done }()
	defer context.AfterFunc(ctx, closeBoth)()
	return w.follow(ctx, asking, s, lost, began)
}

// open makes a connection for questions, and one that is a replica's.
func (w *Watch) open(ctx context.Context, addr string) (asking *preflight.Conn, s *stream, err error) {
	if asking, err = preflight.Connect(ctx, addr, w.options.Connect); err != nil {
		return nil, nil, err
	}
	if err = w.selectDB(ctx, asking); err == nil {
		err = mayFollow(ctx, asking)
	}
	var observer *preflight.Conn
	if err == nil {
		observer, err = preflight.Connect(ctx, addr, w.options.Connect)
	}
	if err == nil {
		if s, err = openStream(ctx, observer); err != nil {
			_ = observer.Close()
		}
	}
	if err != nil {
		_ = asking.Close()
	}
	return asking, s, err
}

func (w *Watch) selectDB(ctx context.Context, asking *preflight.Conn) error {
	if w.options.Connect.DB == 0 {
		return nil
	}
	_, err := asking.Ask(ctx, "SELECT", strconv.Itoa(w.options.Connect.DB))
	return err
}

// mayFollow returns an error if the watch would change how the server behaves.
func mayFollow(ctx context.Context, asking *preflight.Conn) error {
	reply, err := asking.Ask(ctx, "INFO", "replication")
	if err != nil {
		return err
	}
	if text, _ := reply.(string); field(text, "min_slaves_good_slaves") != "" {
		return ErrCountsReplicas
	}
	return nil
}

func (w *Watch) follow(ctx context.Context, asking *preflight.Conn, s *stream, lost string, began func()) error {
	last, there, err := w.list(ctx, asking)
	if err != nil {
		return err
	}
	w.log.Gap()
	if _, err := w.upTo(ctx, s, last.offset); err != nil { // the changes before are in the list
		return err
	}
	w.compare(there, last.clock, lost)
	began()
	for {
		before := w.log.Now()
		now, err := lookAt(ctx, asking)
		if err != nil {
			w.record(s.take(everything), unknownReason)
			return err
		}
		changes, err := w.upTo(ctx, s, now.offset)
		if err != nil {
			w.record(changes, unknownReason)
			return err
		}
		w.record(changes, reasonOf(last, now, changes))
		w.log.Seen(before)
		last = now
		select {
		case <-time.After(lookInterval):
		case <-ctx.Done():
			w.record(s.take(everything), unknownReason)
			return ctx.Err()
		}
	}
}

func (w *Watch) upTo(ctx context.Context, s *stream, offset int64) ([]change, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return s.upTo(ctx, offset)
}

// look is what INFO says at some offset of the stream.
type look struct {
	offset           int64
	expired, evicted int64
	clock            int64 // of the server, in milliseconds; only of a list
}

// lookAt looks at the server.
func lookAt(ctx context.Context, asking *preflight.Conn) (look, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	reply, err := asking.Ask(ctx, "INFO")
	if err != nil {
		return look{}, err
	}
	text, _ := reply.(string)
	return parseLook(text)
}

func parseLook(info string) (l look, err error) {
	for name, to := range map[string]*int64{"master_repl_offset": &l.offset, "expired_keys": &l.expired, "evicted_keys": &l.evicted} {
		if *to, err = strconv.ParseInt(field(info, name), 10, 64); err != nil {
			return l, fmt.Errorf("INFO states no %s", name)
		}
	}
	return l, nil
}

// field returns the value of a field of INFO, or "".
func field(info, name string) string {
	_, rest, found := strings.Cut(info, "\n"+name+":")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// listScript returns the server's clock, and the name, value and remaining life of strings: of those
// that match a pattern, or of the named ones.
const listScript = `local names, found, now = KEYS, {}, redis.call('TIME')
if ARGV[1] ~= '' then names = redis.call('KEYS', ARGV[1]) end
for _, name in ipairs(names) do
  if redis.call('TYPE', name).ok == 'string' then
    found[#found + 1] = {name, redis.call('GET', name), redis.call('PTTL', name)}
  end
end
return {now[1], now[2], found}`

// list returns the present keys, and the offset of the stream at that instant.
func (w *Watch) list(ctx context.Context, asking *preflight.Conn) (at look, there map[string]held, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	list := []string{"EVAL", listScript, "0", w.options.Connect.Prefix + "*"}
	if !w.options.All {
		names := slices.Sorted(maps.Keys(w.keys))
		list = []string{"EVAL", listScript, strconv.Itoa(len(names))}
		for _, name := range names {
			list = append(list, w.options.Connect.Prefix+name)
		}
		list = append(list, "")
	}
	var reply any
	for _, words := range [][]string{{"MULTI"}, {"INFO"}, list, {"EXEC"}} {
		if reply, err = asking.Ask(ctx, words...); err != nil {
			return at, nil, err
		}
	}
	replies, _ := reply.([]any)
	if len(replies) != 2 {
		return at, nil, fmt.Errorf("unexpected reply to EXEC: %v", reply)
	}
	info, _ := replies[0].(string)
	if at, err = parseLook(info); err != nil {
		return at, nil, err
	}
	at.clock, there, err = w.parseList(replies[1])
	return at, there, err
}

func (w *Watch) parseList(reply any) (clock int64, there map[string]held, err error) {
	if no, is := reply.(resp.Error); is {
		return 0, nil, fmt.Errorf("EVAL: %w", no)
	}
	malformed := fmt.Errorf("unexpected list of keys: %v", reply)
	parts, _ := reply.([]any)
	if len(parts) != 3 {
		return 0, nil, malformed
	}
	seconds, first := strconv.ParseInt(fmt.Sprint(parts[0]), 10, 64)
	micros, second := strconv.ParseInt(fmt.Sprint(parts[1]), 10, 64)
	if err := errors.Join(first, second); err != nil {
		return 0, nil, malformed
	}
	clock = seconds*1000 + micros/1000
	rows, _ := parts[2].([]any)
	there = map[string]held{}
	for _, row := range rows {
		columns, _ := row.([]any)
		if len(columns) != 3 {
			return 0, nil, malformed
		}
		name, _ := columns[0].(string)
		k := held{expiry: noExpiry}
		k.value, _ = columns[1].(string)
		if left, _ := columns[2].(int64); left >= 0 {
			k.expiry = clock + left
		}
		if short, ours := strings.CutPrefix(name, w.options.Connect.Prefix); ours {
			there[short] = k
		}
	}
	return clock, there, nil
}

// compare records how the keys that are there differ from those that are recorded.
func (w *Watch) compare(there map[string]held, clock int64, lost string) {
	for _, name := range slices.Sorted(maps.Keys(w.keys)) {
		was := w.keys[name]
		is, stays := there[name]
		if stays && is.value == was.value {
			w.keys[name] = is
			continue
		}
		delete(w.keys, name)
		reason := lost
		if was.expiry > 0 && was.expiry < clock {
			reason = history.Expired
		}
		w.log.Record(history.Event{Kind: history.KeyGone, Resource: name, Token: was.value, Reason: reason})
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if _, known := w.keys[name]; !known {
			w.keys[name] = there[name]
			w.log.Record(history.Event{Kind: history.KeySet, Resource: name, Token: there[name].value, Reason: history.RolledBack, Detail: there[name].detail()})
		}
	}
}

// unknownReason is the reason of deletions of which it is not known.
const unknownReason = ""

// reasonOf returns why keys were deleted between two looks. Each key that expires or is evicted is
// a deletion in the stream.
func reasonOf(from, to look, changes []change) string {
	deletions := int64(0)
	for i := range changes {
		if changes[i].what == gone && !changes[i].evicted {
			deletions++
		}
	}
	expired, evicted := to.expired-from.expired, to.evicted-from.evicted
	switch {
	case expired == 0 && evicted == 0:
		return history.Deleted
	case expired == deletions && evicted == 0:
		return history.Expired
	case expired == 0 && evicted == deletions:
		return history.Evicted
	}
	return unknownReason
}

// record records changes. Keys are gone for that reason, unless a note says otherwise.
func (w *Watch) record(changes []change, reason string) {
	for i := range changes {
		c := &changes[i]
		if c.db != w.options.Connect.DB && c.db != everyDB {
			continue
		}
		if c.what == flushed {
			for _, name := range slices.Sorted(maps.Keys(w.keys)) {
				w.gone(name, history.Deleted)
			}
			continue
		}
		name, ours := strings.CutPrefix(c.key, w.options.Connect.Prefix)
		if !ours {
			continue
		}
		switch why := reason; c.what {
		case set:
			w.set(name, held{c.value, c.expiry})
		case extended:
			w.extended(name, c.expiry)
		case gone:
			if c.evicted {
				why = history.Evicted
			}
			w.gone(name, why)
		}
	}
}

func (w *Watch) set(name string, is held) {
	was, known := w.keys[name]
	w.keys[name] = is
	switch {
	case known && was == is:
		return
	case known && was.value == is.value:
		w.log.Record(history.Event{Kind: history.KeyExtended, Resource: name, Token: is.value, Detail: is.detail()})
		return
	case known:
		w.log.Record(history.Event{Kind: history.KeyGone, Resource: name, Token: was.value, Reason: history.Overwritten})
	}
	w.log.Record(history.Event{Kind: history.KeySet, Resource: name, Token: is.value, Detail: is.detail()})
}

func (w *Watch) extended(name string, expiry int64) {
	if is, known := w.keys[name]; known {
		is.expiry = expiry
		w.keys[name] = is
		w.log.Record(history.Event{Kind: history.KeyExtended, Resource: name, Token: is.value, Detail: is.detail()})
	}
}

func (w *Watch) gone(name, reason string) {
	if was, known := w.keys[name]; known {
		delete(w.keys, name)
		w.log.Record(history.Event{Kind: history.KeyGone, Resource: name, Token: was.value, Reason: reason})
	}
}
