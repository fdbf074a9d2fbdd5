//go:build linux

package redisnode_test

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// ear is a node that answers the handshake, and SET when the test tells it to.
type ear struct {
	mu          sync.Mutex
	connections []net.Conn // over which it has heard a SET
	heard       int        // SETs
}

// newEar returns an ear and nodes of it alone, in a bubble: what takes a while there takes as
// long on any machine.
func newEar(t *testing.T, o redisnode.Options) (*ear, *bench) {
	t.Helper()
	e := new(ear)
	o.Dial = func(context.Context, string, string) (net.Conn, error) {
		ours, its := net.Pipe()
		go e.hear(its)
		return ours, nil
	}
	b := &bench{T: t}
	b.nodes = b.connect([]string{"ear:1"}, o)
	return e, b
}

// hear counts the lines that name a command.
func (e *ear) hear(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch strings.ToLower(lines.Text()) {
		case "hello":
			_, _ = conn.Write([]byte("*0\r\n"))
		case "info":
			_, _ = conn.Write([]byte("-NOPERM this user may not\r\n"))
		case "set":
			e.mu.Lock()
			e.heard++
			if !slices.Contains(e.connections, conn) {
				e.connections = append(e.connections, conn)
			}
			e.mu.Unlock()
		}
	}
}

// await waits until so many SETs have been received in all, and no more.
func (e *ear) await(b *bench, sets int) {
	b.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		e.mu.Lock()
		heard := e.heard
		e.mu.Unlock()
		if heard == sets {
			return
		}
		if heard > sets || time.Now().After(end) {
			b.Fatalf("the node has heard %d requests, want %d", heard, sets)
		}
	}
}

// answer answers so many SETs that came over the first connection.
func (e *ear) answer(sets int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.connections[0].Write([]byte(strings.Repeat("+OK\r\n", sets)))
}

// answerLast answers so many SETs that came over the connection that was first used last.
func (e *ear) answerLast(sets int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.connections[len(e.connections)-1].Write([]byte(strings.Repeat("+OK\r\n", sets)))
}

// say writes to the connection that was first used last.
func (e *ear) say(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.connections[len(e.connections)-1].Write([]byte(text))
}

// hangUp ends the connection that was first used last.
func (e *ear) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.connections[len(e.connections)-1].Close()
}

func TestBatches(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"requests that wait go out together":            testRequestsThatWaitGoOutTogether,
		"max in flight":                                 testMaxInFlight,
		"waiting requests are flushed without replies":  testWaitingRequestsAreFlushedWithoutReplies,
		"waiting request expires":                       testWaitingRequestExpires,
		"open breaker probes":                           testOpenBreakerProbes,
		"open breaker refuses requests":                 testOpenBreakerRefusesRequests,
		"reply is not held up by the rest of its batch": testReplyIsNotHeldUpByTheRestOfItsBatch,
		"replies behind an error":                       testRepliesBehindAnError,
		"replies come in pieces":                        testRepliesComeInPieces,
		"broken connection takes no reply back":         testBrokenConnectionTakesNoReplyBack,
		"request expires within a batch":                testRequestExpiresWithinABatch,
		"close fails waiting requests":                  testCloseFailsWaitingRequests,
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

func (b *bench) send(giveUp env.Instant) env.Round {
	return b.nodes.Send(env.AllNodes(1), set("a", time.Hour), giveUp)
}

func (b *bench) wantOne(r env.Round, want env.Answer) {
	b.Helper()
	if got := b.hear(r, 1); got[0] != want {
		b.Errorf("%v, want %v", got[0], want)
	}
}

// Requests that waited for a connection are sent together: the server receives all of them before
// it answers any.
func testRequestsThatWaitGoOutTogether(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	rounds := []env.Round{b.send(env.Never)}
	e.await(b, 1)
	for range 19 {
		rounds = append(rounds, b.send(env.Never))
	}
	e.answer(1)
	e.await(b, 20)
	e.answer(19)
	for _, r := range rounds {
		b.wantOne(r, env.Yes)
	}
}

// An error is the reply to one request of a batch. The others get their own.
func testRepliesBehindAnError(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	b.send(env.Never)
	e.await(b, 1)
	refused, taken, set := b.send(env.Never), b.send(env.Never), b.send(env.Never)
	e.answer(1)
	e.await(b, 4)
	e.say("-OOM command not allowed when used memory > 'maxmemory'.\r\n$-1\r\n+OK\r\n")
	b.wantOne(refused, env.Failed)
	b.wantOne(taken, env.No)
	b.wantOne(set, env.Yes)
}

// Requests within MaxInFlight have a connection each.
func testMaxInFlight(t *testing.T) {
	const requests = 10
	e, b := newEar(t, redisnode.Options{PoolSize: requests, MaxInFlight: math.MaxInt})
	for range requests {
		b.send(env.Never)
	}
	e.await(b, requests)
	if got := len(e.connections); got != requests {
		t.Errorf("%d requests came over %d connections", requests, got)
	}
}

// A node that does not answer holds nobody up: what waits goes out over a further
// connection.
func testWaitingRequestsAreFlushedWithoutReplies(t *testing.T) {
	e, b := newEar(t, redisnode.Options{})
	for sent := range 4 {
		b.send(env.Never)
		e.await(b, sent+1)
	}
}

// A request that expires while it waits is not sent, and has failed.
func testWaitingRequestExpires(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	b.send(env.Never)
	e.await(b, 1)
	b.wantOne(b.send(in(20*time.Millisecond)), env.Failed)
	last := b.send(env.Never)
	e.answer(1)
	e.await(b, 2)
	e.answer(1)
	b.wantOne(last, env.Yes)
}

// A node that has not answered a batch gets one request at a time until it answers: the one with
// the latest deadline.
func testOpenBreakerProbes(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	first := b.send(in(50 * time.Millisecond))
	e.await(b, 1)
	var early []env.Round
	for range 3 {
		early = append(early, b.send(in(300*time.Millisecond)))
	}
	probe, late := b.send(env.Never), b.send(in(patience))
	b.wantOne(first, env.Lost)
	e.await(b, 2)
	for _, r := range early {
		b.wantOne(r, env.Failed)
	}
	e.await(b, 2)
	e.answerLast(1)
	b.wantOne(probe, env.Yes)
	e.await(b, 3)
	e.answerLast(1)
	b.wantOne(late, env.Yes)
}

// A node that has not answered its probe either keeps one waiting at most, and the others
// are refused; when it answers everything is as before.
func testOpenBreakerRefusesRequests(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	for sent := range 2 {
		lost := b.send(in(50 * time.Millisecond))
		e.await(b, sent+1)
		b.wantOne(lost, env.Lost)
	}
	probe := b.send(env.Never)
	e.await(b, 3)
	waits := b.send(env.Never)
	for range 3 {
		b.wantOne(b.send(env.Never), env.Failed)
	}
	e.answerLast(1)
	b.wantOne(probe, env.Yes)
	e.await(b, 4)
	together := []env.Round{b.send(env.Never), b.send(env.Never)}
	e.answerLast(1)
	b.wantOne(waits, env.Yes)
	e.await(b, 6)
	e.answerLast(2)
	for _, r := range together {
		b.wantOne(r, env.Yes)
	}
}

// batch sends requests that go out together, and returns when the node has received them.
func (e *ear) batch(b *bench, requests int) (rounds []env.Round) {
	b.Helper()
	e.mu.Lock()
	heard := e.heard
	e.mu.Unlock()
	first := b.send(env.Never)
	e.await(b, heard+1)
	for range requests {
		rounds = append(rounds, b.send(env.Never))
	}
	e.answerLast(1)
	b.wantOne(first, env.Yes)
	e.await(b, heard+1+requests)
	return rounds
}

// A request whose reply has come is answered while others of its batch have none, in the
// order in which they went out.
func testReplyIsNotHeldUpByTheRestOfItsBatch(t *testing.T) {
	const requests = 5
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	rounds := e.batch(b, requests)
	for n, r := range rounds {
		if reply, err := r.Next(t.Context(), in(0)); !errors.Is(err, env.ErrTimeout) {
			t.Errorf("request %d is answered without a reply: %+v, %v", n+1, reply, err)
		}
		e.answerLast(1)
		b.wantOne(r, env.Yes)
	}
}

// Replies count as they come, whole, whatever pieces they come in and whatever they say, and
// not before their last byte.
func testRepliesComeInPieces(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	replies := []struct {
		text string
		want env.Answer
	}{{"+OK\r\n", env.Yes}, {"$-1\r\n", env.No}, {"-OOM command not allowed\r\n", env.Failed}, {"+OK\r\n", env.Yes}}
	rounds := e.batch(b, len(replies))
	for n, c := range replies {
		last := len(c.text) - 1
		for _, piece := range c.text[:last] {
			e.say(string(piece))
		}
		if reply, err := rounds[n].Next(t.Context(), in(0)); !errors.Is(err, env.ErrTimeout) {
			t.Errorf("request %d is answered before the end of its reply: %+v, %v", n+1, reply, err)
		}
		e.say(c.text[last:])
		b.wantOne(rounds[n], c.want)
	}
}

// A broken connection takes along the requests that had no reply, and no other. (Of one that
// breaks when all are answered see TestIdleConnectionsThatTheServerCloses.)
func testBrokenConnectionTakesNoReplyBack(t *testing.T) {
	const requests = 4
	for replied := range requests {
		e, b := newEar(t, redisnode.Options{PoolSize: 1})
		rounds := e.batch(b, requests)
		e.answerLast(replied)
		e.hangUp()
		for n, r := range rounds {
			want := env.Lost
			if n < replied {
				want = env.Yes
			}
			if got := b.hear(r, 1)[0]; got != want {
				t.Errorf("request %d of %d, of which %d had a reply: %v, want %v", n+1, requests, replied, got, want)
			}
		}
		if replied == requests {
			continue // it broke while it was idle, which a pipe, unlike a socket, does not show before it is used
		}
		again := e.batch(b, 1)
		e.answerLast(1)
		b.wantOne(again[0], env.Yes)
	}
}

// A request that expires after it was sent does not affect the others of its batch.
func testRequestExpiresWithinABatch(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	b.send(env.Never)
	e.await(b, 1)
	short, long := b.send(in(500*time.Millisecond)), b.send(env.Never)
	e.answer(1)
	e.await(b, 3)
	b.wantOne(short, env.Lost)
	e.answer(2)
	b.wantOne(long, env.Yes)
}

// Closed nodes report every request that was on its way or waiting.
func testCloseFailsWaitingRequests(t *testing.T) {
	e, b := newEar(t, redisnode.Options{PoolSize: 1})
	rounds := []env.Round{b.send(env.Never)}
	e.await(b, 1)
	for range 5 {
		rounds = append(rounds, b.send(env.Never))
	}
	if err := b.nodes.Close(); err != nil {
		t.Error(err)
	}
	for _, r := range rounds {
		b.wantOne(r, env.Lost)
	}
}

// punctual are nodes that fail the test if a caller would wait for longer than the node timeout.
// Background tasks wait for all replies without a limit of their own.
type punctual struct {
	env.Nodes
	t       *testing.T
	timeout time.Duration
}

func (p punctual) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	last := env.System().Now(env.Monotonic).Add(p.timeout) // the caller has worked it out earlier
	return punctualRound{p.Nodes.Send(to, c, giveUp), p.t, last}
}

type punctualRound struct {
	env.Round
	t    *testing.T
	last env.Instant
}

func (r punctualRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if until != env.Never && until > r.last {
		r.t.Errorf("a caller would wait for %v longer than the node timeout", until.Sub(r.last))
	}
	return r.Round.Next(ctx, until)
}
