package keywatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// Log records what a watch reports. It is [live.EntryLog].
type Log interface {
	Record(e history.Event)
	Gap()
	Seen(before env.Instant)
	Now() env.Instant
}

// Watch watches the keys of a node, over all servers that the node has had.
type Watch struct {
	log   Log
	keys  map[string]held // as recorded, by their names
	clock serverClock     // of the current server
	flows bool            // its first stream has begun
}

// held is a key.
type held struct {
	value  string
	expiry int64 // in milliseconds of the server's wall clock; 0: it is not known; or noExpiry
}

// event returns an event about a key as it is. Its end is the latest instant of the machine's monotonic
// clock that it can be: a key lives through the millisecond of its expiry.
func (w *Watch) event(kind history.Kind, name string, k held) history.Event {
	e := history.Event{Kind: kind, Resource: name, Token: k.value}
	switch {
	case k.expiry == noExpiry:
		e.Detail = history.NoExpiry
	case k.expiry > 0:
		e.Ends = w.clock.latest((k.expiry + 1) * int64(time.Millisecond))
	}
	return e
}

// New returns a watch that knows no keys yet.
func New(log Log) *Watch { return &Watch{log: log, keys: map[string]held{}} }

// lookInterval is the time between two looks at the server's counters. lookTimeout bounds how long a
// server may take to answer, or the stream to catch up; a server that is stopped takes longer, and
// then the watch begins anew.
const (
	lookInterval = 20 * time.Millisecond
	lookTimeout  = time.Minute
)

// Follow records changes of the keys at a server until that fails or ctx ends. It first records how
// the keys differ from those that it has recorded before: lost is the reason why keys are gone that
// have not expired, or "". Then it calls began.
func (w *Watch) Follow(ctx context.Context, addr, lost string, began func()) error {
	s, err := open(ctx, addr)
	if err != nil {
		return err
	}
	asking := redisserver.NewClient(addr)
	done := make(chan struct{})
	go func() { defer close(done); s.follow() }()
	closeBoth := func() { _, _ = asking.Close(), s.conn.Close() }
	defer func() { closeBoth(); <-done }()
	defer context.AfterFunc(ctx, closeBoth)()
	return w.follow(ctx, asking, s, lost, began)
}

// open makes a connection that is a replica's.
func open(ctx context.Context, addr string) (*stream, error) {
	observer, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s, err := openStream(ctx, observer)
	if err != nil {
		_ = observer.Close()
	}
	return s, err
}

func (w *Watch) follow(ctx context.Context, asking *redis.Client, s *stream, lost string, began func()) error {
	w.clock = serverClock{}
	if err := w.awaitStream(ctx, asking, s); err != nil {
		return err
	}
	before := w.log.Now()
	last, there, err := list(ctx, asking)
	if err != nil {
		return err
	}
	w.clock.read(last.now, before, w.log.Now())
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
			w.recordLast(s.take(everything))
			return err
		}
		w.clock.read(now.now, before, w.log.Now())
		changes, err := w.upTo(ctx, s, now.offset)
		if err != nil {
			w.recordLast(changes)
			return err
		}
		w.record(changes, reasonOf(last, now, changes))
		w.log.Seen(before)
		last = now
		select {
		case <-time.After(lookInterval):
		case <-ctx.Done():
			w.recordLast(s.take(everything))
			return ctx.Err()
		}
	}
}

// awaitStream waits until the first server sends changes as it makes them, which takes up to a tenth of a second: what
// it has not sent when it is killed is never recorded. The keys of a server that has come back are more urgent.
func (w *Watch) awaitStream(ctx context.Context, asking *redis.Client, s *stream) error {
	if w.flows {
		return nil
	}
	if err := asking.Publish(ctx, "lockstorm", "").Err(); err != nil { // a change that concerns no key
		return err
	}
	now, err := lookAt(ctx, asking)
	if err == nil {
		_, err = w.upTo(ctx, s, now.offset)
	}
	w.flows = err == nil
	return err
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
	now              int64 // of the same clock, in microseconds; 0: INFO does not state it
}

// lookAt looks at the server.
func lookAt(ctx context.Context, asking *redis.Client) (look, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	info, err := asking.Info(ctx).Result()
	if err != nil {
		return look{}, err
	}
	return parseLook(info)
}

func parseLook(info string) (l look, err error) {
	for name, to := range map[string]*int64{"master_repl_offset": &l.offset, "expired_keys": &l.expired, "evicted_keys": &l.evicted} {
		if *to, err = strconv.ParseInt(field(info, name), 10, 64); err != nil {
			return l, fmt.Errorf("INFO states no %s", name)
		}
	}
	l.now, _ = strconv.ParseInt(field(info, "server_time_usec"), 10, 64)
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

// listScript returns the server's clock, and the name, value and remaining life of all strings.
const listScript = `local found, now = {}, redis.call('TIME')
for _, name in ipairs(redis.call('KEYS', '*')) do
  if redis.call('TYPE', name).ok == 'string' then
    found[#found + 1] = {name, redis.call('GET', name), redis.call('PTTL', name)}
  end
end
return {now[1], now[2], found}`

// list returns the present keys, and the offset of the stream at that instant.
func list(ctx context.Context, asking *redis.Client) (at look, there map[string]held, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var info *redis.StringCmd
	var found *redis.Cmd
	_, err = asking.TxPipelined(ctx, func(p redis.Pipeliner) error {
		info, found = p.Info(ctx), p.Eval(ctx, listScript, nil)
		return nil
	})
	if err != nil {
		return at, nil, err
	}
	if at, err = parseLook(info.Val()); err != nil {
		return at, nil, err
	}
	at.clock, there, err = parseList(found.Val())
	return at, there, err
}

func parseList(reply any) (clock int64, there map[string]held, err error) {
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
		there[name] = k
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
			e := w.event(history.KeySet, name, there[name])
			e.Reason = history.RolledBack
			w.log.Record(e)
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

// recordLast records changes after which the server could not be looked at any more: nobody knows why keys
// are gone, and whether its clock was set meanwhile.
func (w *Watch) recordLast(changes []change) {
	w.clock.lost = true
	w.record(changes, unknownReason)
}

// record records changes. Keys are gone for that reason, unless a note says otherwise.
func (w *Watch) record(changes []change, reason string) {
	for i := range changes {
		c := &changes[i]
		if c.db != 0 && c.db != everyDB {
			continue // the run's keys are in database 0
		}
		if c.what == flushed {
			for _, name := range slices.Sorted(maps.Keys(w.keys)) {
				w.gone(name, history.Deleted)
			}
			continue
		}
		switch why := reason; c.what {
		case set:
			w.set(c.key, held{c.value, c.expiry})
		case extended:
			w.extended(c.key, c.expiry)
		case gone:
			if c.evicted {
				why = history.Evicted
			}
			w.gone(c.key, why)
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
		w.log.Record(w.event(history.KeyExtended, name, is))
		return
	case known:
		w.log.Record(history.Event{Kind: history.KeyGone, Resource: name, Token: was.value, Reason: history.Overwritten})
	}
	w.log.Record(w.event(history.KeySet, name, is))
}

func (w *Watch) extended(name string, expiry int64) {
	if is, known := w.keys[name]; known {
		is.expiry = expiry
		w.keys[name] = is
		w.log.Record(w.event(history.KeyExtended, name, is))
	}
}

func (w *Watch) gone(name, reason string) {
	if was, known := w.keys[name]; known {
		delete(w.keys, name)
		w.log.Record(history.Event{Kind: history.KeyGone, Resource: name, Token: was.value, Reason: reason})
	}
}
