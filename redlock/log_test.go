package redlock_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// logger writes records of the level and above as lines of text, without the
// time.
func logger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// playLogged runs work with a mutex that logs, and returns the records, with T
// for the digits of a token that may be seen.
func playLogged(t *testing.T, c redlock.Config, level slog.Level, plan nemesis.Plan, work func(*bench, *redlock.Mutex)) []string {
	t.Helper()
	var text bytes.Buffer
	playWith(t, c, 5, plan, func(b *bench, _ *redlock.Mutex) {
		m, err := redlock.New(c, b.Runtime(1), b.Nodes(1), redlock.Logged(logger(&text, level), nil))
		b.wantError("new", err, nil)
		work(b, m)
	})
	shown := regexp.MustCompile(`token=[0-9a-f]{8}( |\n)`).ReplaceAllString(text.String(), "token=T$1")
	return strings.FieldsFunc(shown, func(r rune) bool { return r == '\n' })
}

func wantRecords(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func extendAndRelease(b *bench, m *redlock.Mutex) {
	h := lock(b, m)
	b.wantError("extend", h.Extend(context.Background(), time.Second), nil)
	b.wantError("release", h.Release(context.Background()), nil)
}

const (
	granted  = `level=INFO msg="lock granted" resource=r token=T ttl=1s validity=986ms`
	released = `level=INFO msg="lock released" resource=r token=T`
)

func TestLogOfAHold(t *testing.T) {
	round := func(op env.Op) (quorum []string) { // of replies
		for node := 1; node <= 3; node++ {
			quorum = append(quorum, fmt.Sprintf(`level=DEBUG msg="node replied" resource=r token=T op=%v node=%d answer=yes`, op, node))
		}
		return quorum
	}
	extended := `level=DEBUG msg="lock extended" resource=r token=T ttl=1s validity=986ms`
	wantRecords(t, playLogged(t, config(), slog.LevelDebug, nil, extendAndRelease),
		slices.Concat(round(env.OpSet), []string{granted}, round(env.OpExtend), []string{extended}, round(env.OpDelete), []string{released})...)
	wantRecords(t, playLogged(t, config(), slog.LevelInfo, nil, extendAndRelease), granted, released)
	wantRecords(t, playLogged(t, config(), slog.LevelWarn, nil, extendAndRelease))
}

// outcomes runs work and returns its records except those of single replies, with errors cut before
// the numbers of nodes, which are attributes.
func outcomes(t *testing.T, plan nemesis.Plan, work func(*bench, *redlock.Mutex)) []string {
	t.Helper()
	var list []string
	for _, record := range playLogged(t, config(), slog.LevelDebug, plan, work) {
		if !strings.Contains(record, `msg="node replied"`) {
			list = append(list, regexp.MustCompile(`: of 5 nodes [^"]*`).ReplaceAllString(record, ""))
		}
	}
	return list
}

// unwell cuts off two nodes, after another has crashed: no quorum is left.
func unwell(start time.Duration) nemesis.Plan {
	return nemesis.Plan{crash(1, nemesis.At(start), nil), partition([]int{2, 3}, nemesis.At(start), nil)}
}

func TestLogOfRoutineFailures(t *testing.T) {
	wantRecords(t, outcomes(t, nil, func(b *bench, m *redlock.Mutex) {
		lock(b, m)
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("taken", err, redlock.ErrTaken)
	}), granted,
		`level=DEBUG msg="lock refused" resource=r token=T error="redlock: taken by another holder" nodes.1=no nodes.2=no nodes.3=no nodes.4=unheard nodes.5=unheard`)

	wantRecords(t, outcomes(t, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		extension := b.Runtime(1).Go("extension", func() {
			b.wantError("overtaken", h.Extend(context.Background(), time.Second), redlock.ErrReleased)
		})
		b.sleep(1, ms)
		b.wantError("release", h.Release(context.Background()), nil)
		_ = extension.Wait(context.Background())
	}), granted, `level=DEBUG msg="lock not extended" resource=r token=T ttl=1s error="redlock: the lock has been released"`, released)
}

// Nodes that cannot be asked are worth a warning at each step.
func TestLogWithoutQuorum(t *testing.T) {
	wantRecords(t, outcomes(t, unwell(0), func(b *bench, m *redlock.Mutex) {
		b.sleep(1, ms)
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("lock", err, redlock.ErrNoQuorum)
	}), `level=WARN msg="lock refused" resource=r token=T error="redlock: no quorum of nodes answered" nodes.1=failed nodes.2=unheard nodes.3=unheard nodes.4=yes nodes.5=yes`)

	wantRecords(t, outcomes(t, unwell(100*ms), func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 200*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrNoQuorum)
		_ = b.Runtime(1).Sleep(h.Context(), env.Never)
		b.wantError("release", h.Release(context.Background()), redlock.ErrNoQuorum)
	}), granted,
		`level=WARN msg="lock not extended" resource=r token=T ttl=1s error="redlock: no quorum of nodes answered" nodes.1=failed nodes.2=lost nodes.3=lost nodes.4=yes nodes.5=yes`,
		`level=WARN msg="lock expiring" resource=r token=T error="redlock: the validity is about to end"`,
		`level=WARN msg="lock release not confirmed" resource=r token=T error="redlock: no quorum of nodes answered" nodes.1=failed nodes.2=lost nodes.3=lost nodes.4=yes nodes.5=yes`)
}

// A lock that is gone is an error, and one that the program itself lets go of
// is not.
func TestLogOfALoss(t *testing.T) {
	var forget nemesis.Plan
	for node := 1; node <= 3; node++ {
		forget = append(forget, crash(node, nemesis.At(100*ms), nemesis.After(10*ms)))
	}
	const why = `error="redlock: the lock is lost" nodes.1=no nodes.2=no nodes.3=no nodes.4=yes nodes.5=yes`
	wantRecords(t, outcomes(t, forget, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 200*ms)
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrLost)
		b.wantError("release", h.Release(context.Background()), redlock.ErrLost)
	}), granted,
		`level=ERROR msg="lock lost" resource=r token=T `+why,
		`level=WARN msg="lock not extended" resource=r token=T ttl=1s `+why,
		`level=ERROR msg="lock was lost before release" resource=r token=T `+why)

	wantRecords(t, outcomes(t, nil, func(b *bench, m *redlock.Mutex) {
		lock(b, m)
		b.wantError("close", m.Close(context.Background()), nil)
	}), granted, `level=WARN msg="lock lost" resource=r token=T error="redlock: mutex is closed"`)
}

// listener keeps the events that it gets.
type listener []env.Event

func (l *listener) Observe(e env.Event) { *l = append(*l, e) }

// The next observer receives every event, unchanged.
func TestLogThenNext(t *testing.T) {
	e := env.Event{
		Resource: "r", Token: "0123456789", TTL: time.Second, Until: 7, Validity: 900 * ms,
		Reply: env.Reply{Node: 3, Answer: env.Failed, Err: errors.New("oh")}, K: 2, Answer: env.Yes, Err: redlock.ErrLost,
	}
	for _, e.Step = range env.Steps() {
		var heard listener
		redlock.Logged(slog.New(slog.DiscardHandler), &heard).Observe(e)
		if len(heard) != 1 || heard[0] != e {
			t.Errorf("%v: %+v", e.Step, heard)
		}
	}
}

// Records never contain a token, not even from an error that quotes it.
func TestLogTellsNoToken(t *testing.T) {
	var text bytes.Buffer
	o := redlock.Logged(logger(&text, slog.LevelDebug), nil)
	for _, token := range []string{"0123456789abcdef0123456789abcdef01234567", "0123456789", "0123", ""} {
		quotes := fmt.Errorf("ERR unknown command 'EVALSHA', with args beginning with: '%s'", token)
		for _, step := range env.Steps() {
			o.Observe(env.Event{Step: step, Resource: "r", Token: token, Err: quotes})
			o.Observe(env.Event{Step: step, Resource: "r", Token: token, Reply: env.Reply{Node: 1, Answer: env.Failed, Err: quotes}})
		}
	}
	for _, secret := range []string{"012345678", "0123 ", "'0123'"} {
		if strings.Contains(text.String(), secret) {
			t.Errorf("%q is told:\n%s", secret, text.String())
		}
	}
	for _, told := range []string{"token=01234567 ", "token=01 ", `token="" `, "beginning with: '01234567'"} {
		if !strings.Contains(text.String(), told) {
			t.Errorf("%q is not told:\n%s", told, text.String())
		}
	}
}
