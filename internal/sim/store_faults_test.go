package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// inquiry is one request to the store, and what its client saw of it.
type inquiry struct {
	client  int
	request env.StoreRequest
	of      string // the value of the entry that a deletion or an update names by its revision
	reply   env.StoreReply
	err     error

	call, returned int64 // ground time; if it has not, math.MaxInt64
	late           bool  // it returned after its end
}

func (q *inquiry) done() bool { return q.returned < math.MaxInt64 && q.err == nil }

// storeStorm draws a setting with a store and a plan for it.
func storeStorm(random *rand.PCG) nemesis.Setting {
	below := func(n uint64) int { return int(random.Uint64() % n) }
	upTo := func(d int) nemesis.Distribution {
		return nemesis.Distribution{Range: nemesis.Range{Max: time.Duration(below(uint64(d))) * ms / 2}}
	}
	s := setting(1+below(4), 1+below(5))
	s.Latency, s.Persistence = upTo(6), [...]nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always}[below(3)]
	s.Connections = [...]nemesis.Connections{{}, {}, {Limit: 1}, pipelined}[below(4)]
	replication, sync := upTo(20), upTo(10)
	s.Replication, s.Sync = &replication, &sync
	s.Store = &nemesis.Store{Election: upTo(100), Commit: upTo(20), Asynchronous: below(3) == 0}
	g, err := nemesis.Generator{Most: 12}.Only(s, nemesis.Ability{Name: "sim", Kinds: Faults(), Features: Features()})
	if err != nil {
		panic(err)
	}
	s.Plan = g.Plan(s, 100*ms, random)
	return s
}

// inquirer is a client that asks whatever comes to its mind.
type inquirer struct {
	user
	all      *[]*inquiry
	sessions []uint64
	seen     []env.Entry
}

func (c *inquirer) below(n int) int {
	var b [2]byte
	c.world.Runtime(c.id).Random(b[:])
	return (int(b[0])<<8 + int(b[1])) % n
}

// Keys with a p are plain: they belong to no session and are never swept.
func (c *inquirer) plain() string { return fmt.Sprintf("p%d", c.below(3)) }

func (c *inquirer) session() uint64 {
	if len(c.sessions) == 0 {
		return 0
	}
	return c.sessions[c.below(len(c.sessions))]
}

func (c *inquirer) request() (r env.StoreRequest, of string) {
	value := fmt.Sprintf("%d.%d", c.id, len(*c.all))
	var known env.Entry
	if len(c.seen) > 0 {
		known = c.seen[c.below(len(c.seen))]
	}
	switch c.below(17) {
	case 0:
		return env.StoreRequest{Op: env.StoreOpen, TTL: time.Duration(20+c.below(200)) * ms}, ""
	case 1:
		return env.StoreRequest{Op: env.StoreKeep, Session: c.session()}, ""
	case 2:
		return env.StoreRequest{Op: env.StoreClose, Session: c.session()}, ""
	case 3, 4:
		return env.StoreRequest{Op: env.StoreCreate, Key: "s", Value: value, Session: c.session(), Sequential: c.below(2) == 0, Delay: time.Duration(c.below(50)) * ms}, ""
	case 5:
		return env.StoreRequest{Op: env.StoreCreate, Key: "r" + value, TTL: time.Duration(1+c.below(100)) * ms}, ""
	case 6:
		return env.StoreRequest{Op: env.StoreSweep, Key: "r"}, ""
	case 7:
		return env.StoreRequest{Op: env.StoreAwait, Key: known.Key, Revision: known.Revision}, ""
	case 8:
		return remove(c.plain()), ""
	case 9:
		if strings.HasPrefix(known.Key, "p") {
			return env.StoreRequest{Op: env.StoreDelete, Key: known.Key, Revision: known.Revision}, known.Value
		}
	case 10:
		return env.StoreRequest{Op: env.StoreCreate, Key: fmt.Sprintf("x%d", c.below(2)), Value: value, TTL: time.Duration(20+c.below(200)) * ms, Expires: true}, ""
	case 11, 12:
		return env.StoreRequest{Op: env.StoreRenew, Key: known.Key, Revision: known.Revision, TTL: time.Duration(20+c.below(200)) * ms}, ""
	case 13, 14:
		if strings.HasPrefix(known.Key, "p") {
			return update(known.Key, known.Revision, value), known.Value
		}
	case 15:
		return env.StoreRequest{Op: env.StoreList, Key: [...]string{"", "s", c.plain()}[c.below(3)]}, ""
	}
	return create(c.plain(), value), ""
}

// inquire asks once.
func (c *inquirer) inquire() {
	q := &inquiry{client: c.id, call: c.world.now, returned: math.MaxInt64}
	q.request, q.of = c.request()
	*c.all = append(*c.all, q)
	until := c.now().Add(time.Duration(c.below(200)) * ms)
	ctx, returned := c.world.Call(context.Background(), c.id)
	q.reply, q.err = c.world.Store(c.id).Ask(ctx, q.request, until)
	returned()
	q.returned, q.late = c.world.now, c.now() > until.Add(1) // a fast clock does not show every nanosecond
	if q.err == nil {
		c.seen = append(c.seen, q.reply.Entries...)
		if q.reply.Session != 0 {
			c.sessions = append(c.sessions, q.reply.Session)
		}
	}
}

func (c *inquirer) main() {
	steps := env.Steps()
	for range 40 {
		c.world.Reach(c.id, steps[c.below(len(steps))], 1)
		if c.below(4) == 0 {
			c.world.Runtime(c.id).Go("aside", c.inquire)
		} else {
			c.inquire()
		}
		sleep(c.world, c.id, time.Duration(c.below(20))*ms)
	}
}

func playStoreStorm(t *testing.T, s nemesis.Setting, seed uint64) (asked []*inquiry, log history.Log, trace uint64) {
	t.Helper()
	w, err := Open(t.Context(), s, seed, &log)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(t.Context(), func(client int) {
		(&inquirer{user: user{w, client}, all: &asked}).main()
	})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	trace, _ = w.Trace()
	return asked, log, trace
}

// Law: whatever happens to the nodes and to the network, the store does what it
// promises.
func TestTheStoreKeepsItsPromisesInStorms(t *testing.T) {
	for seed := range uint64(600) {
		s := storeStorm(nemesis.Stream(seed, "storm"))
		if err := s.Validate(); err != nil {
			t.Fatal(seed, err)
		}
		asked, log, trace := playStoreStorm(t, s, seed)
		if _, _, again := playStoreStorm(t, s, seed); again != trace {
			t.Errorf("seed %d: another trace", seed)
		}
		broken := slices.Concat(returnLate(asked, log), oneEntryForAKey(asked))
		if !s.Store.Asynchronous || strings.Count(leaders(log), "@") == 1 {
			broken = slices.Concat(broken, revisionsGrow(asked), goneIsGone(asked), linearizable(asked))
		}
		for _, what := range broken {
			t.Errorf("seed %d: %s", seed, what)
		}
	}
}

// returnLate names requests that returned after their end, though their client
// did not stand still meanwhile.
func returnLate(asked []*inquiry, log history.Log) (broken []string) {
	for _, q := range asked {
		if q.late && !slices.ContainsFunc(log, func(e history.Event) bool {
			return e.Kind == history.Resume && e.Client == q.client && int64(e.Time) == q.returned
		}) {
			broken = append(broken, fmt.Sprintf("late: %+v", *q))
		}
	}
	return broken
}

func oneEntryForAKey(asked []*inquiry) (broken []string) {
	for _, q := range asked {
		for i, e := range q.reply.Entries {
			if i > 0 && q.reply.Entries[i-1].Revision >= e.Revision || slices.ContainsFunc(q.reply.Entries[:i], func(o env.Entry) bool { return o.Key == e.Key }) {
				broken = append(broken, fmt.Sprintf("list: %+v", q.reply.Entries))
			}
		}
	}
	return broken
}

// revisionsGrow names entries whose revision is not above that of one created
// before.
func revisionsGrow(asked []*inquiry) (broken []string) {
	for _, a := range asked {
		for _, b := range asked {
			if a != b && a.created() != 0 && b.created() != 0 && (a.created() == b.created() || a.returned < b.call && a.created() > b.created()) {
				broken = append(broken, fmt.Sprintf("%+v, then %+v", *a, *b))
			}
		}
	}
	return broken
}

// created returns the revision of the created, renewed or updated entry; 0: there was none.
func (q *inquiry) created() uint64 {
	if op := q.request.Op; q.done() && q.reply.Done && (op == env.StoreCreate || op == env.StoreRenew || op == env.StoreUpdate) {
		return q.reply.Entries[0].Revision
	}
	return 0
}

// goneIsGone names entries that were listed after their end, or that of their session, was
// reported.
func goneIsGone(asked []*inquiry) (broken []string) {
	for _, end := range asked {
		gone := func(e env.Entry) bool { return false }
		switch r := end.request; {
		case !end.done():
			continue
		case r.Op == env.StoreClose, r.Op == env.StoreKeep && !end.reply.Done:
			gone = func(e env.Entry) bool { return e.Session == r.Session && e.Session != 0 }
		case r.Op == env.StoreAwait, slices.Contains([]env.StoreOp{env.StoreDelete, env.StoreRenew, env.StoreUpdate}, r.Op) && end.reply.Done:
			gone = func(e env.Entry) bool { return e.Key == r.Key && e.Revision == r.Revision }
		}
		for _, q := range asked {
			if q.done() && q.call > end.returned && slices.ContainsFunc(q.reply.Entries, gone) {
				broken = append(broken, fmt.Sprintf("%+v after %+v", *q, *end))
			}
		}
	}
	return broken
}

// plainKeys specifies the plain keys of a store, each apart. The state is the
// value of the entry, empty if there is none: no two have the same.
var plainKeys = porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any {
		q, held := input.(*inquiry), state.(string)
		next := []any{}
		if !q.done() || q.agrees(held) {
			next = append(next, q.after(held))
		}
		if !q.done() && q.after(held) != held {
			next = append(next, held)
		}
		return next
	},
}

// after is what there is after a request that found held.
func (q *inquiry) after(held string) string {
	switch {
	case q.request.Op == env.StoreCreate && held == "":
		return q.request.Value
	case q.request.Op == env.StoreDelete && (q.request.Revision == 0 || q.of == held):
		return ""
	case q.request.Op == env.StoreUpdate && held != "" && q.of == held:
		return q.request.Value
	}
	return held
}

// agrees reports whether the reply is that of a store which holds this.
func (q *inquiry) agrees(held string) bool {
	there := ""
	if len(q.reply.Entries) > 0 {
		there = q.reply.Entries[0].Value
	}
	switch q.request.Op {
	case env.StoreCreate:
		return q.reply.Done == (held == "") && there == max(held, q.after(held))
	case env.StoreDelete:
		return q.reply.Done == (q.after(held) != held)
	case env.StoreUpdate:
		return q.reply.Done == (q.after(held) != held) && there == q.after(held)
	}
	return there == held
}

// linearizable names the plain keys on which the requests cannot have taken effect
// one after another.
func linearizable(asked []*inquiry) (broken []string) {
	for _, key := range []string{"p0", "p1", "p2"} {
		var operations []porcupine.Operation
		for _, q := range asked {
			concerns := q.request.Key == key && q.request.Op != env.StoreAwait && q.request.Op != env.StoreRenew // which is declined
			if !concerns || q.request.Op == env.StoreList && !q.done() || errors.Is(q.err, env.ErrNoLeader) {
				continue
			}
			end := q.returned
			if !q.done() {
				end = math.MaxInt64
			}
			operations = append(operations, porcupine.Operation{ClientId: q.client, Input: q, Call: q.call, Return: end})
		}
		if !porcupine.CheckOperations(plainKeys.ToModel(), operations) {
			broken = append(broken, key+" is not linearizable")
		}
	}
	return broken
}
