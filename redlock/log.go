package redlock

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/lockstorm/lockstorm/env"
)

// Logged returns an observer for [New] that writes to the logger what an
// operator wants to know of a lock, and passes every event on to next, unchanged
// and after its record has been written. next may be nil; logger may not.
//
//	level  message                          when
//	Info   lock granted, lock released      a hold begins, and ends as it should
//	Warn   lock expiring                    the holder was warned that the validity is about to end
//	Error  lock lost                        the holder was told that the lock is gone
//	Warn   lock lost                        … because the mutex was closed before the release
//	Error  lock was lost before release     too few nodes held the keys still when it was released
//	Warn   lock release not confirmed       no quorum told; keys may stay until they expire
//	Warn   lock refused, lock not extended  for a reason that is not routine, see below
//	Debug  lock refused, lock not extended  for one that is
//	Debug  lock extended                    by its holder or a watchdog
//	Debug  node replied                     to a request of any kind, until the outcome was clear
//
// Grants and releases are Info, one record each for a hold: they are what tells
// afterwards who held what, and when. Debug is what comes again and again while
// all is well: extensions, and the routine reasons of a failure, which are that
// another holds the lock ([ErrTaken]; Lock tries on), that the caller's context
// has ended, and that the hold was released meanwhile ([ErrReleased]). Any other
// reason is a Warn, at each try: nothing is lost yet, but somebody should look at
// the nodes or the network. An Error says that another may have been granted the
// lock before the work under it was done, so that the work should be checked.
//
// The attributes are resource and token and, where they say something, ttl,
// validity (what is left of it), fence, op, node and answer (of a reply), error, and nodes,
// a group with the answer of each node where no quorum was found: yes, no,
// failed, lost or, of a node that had not been heard of, unheard.
//
// Whoever knows a token can release the lock. So a record bears only the first 8
// of its 40 digits, enough to find the records of one hold, and an error that
// quotes the token is written with those in its place.
//
// The handler is called with a background context, on the goroutine that uses
// the lock or, in a watchdog's extension, on the one that warns its holder. So it
// must not block: the validity runs on, and the warning comes late. A level that
// is not enabled costs no allocation.
func Logged(logger *slog.Logger, next env.Observer) env.Observer {
	if next == nil {
		next = silent{}
	}
	return &logged{logger: logger, next: next}
}

type logged struct {
	logger *slog.Logger
	next   env.Observer
}

func (l *logged) Observe(e env.Event) {
	ctx := context.Background()
	if level, message := headline(&e); message != "" && l.logger.Enabled(ctx, level) {
		l.logger.LogAttrs(ctx, level, message, attributes(&e)...)
	}
	l.next.Observe(e)
}

// headline is the level and the message of an event. A step that is not worth a
// record has no message.
func headline(e *env.Event) (slog.Level, string) {
	switch e.Step {
	case env.StepReply:
		return slog.LevelDebug, "node replied"
	case env.StepGranted:
		return slog.LevelInfo, "lock granted"
	case env.StepRefused:
		return failureLevel(e.Err), "lock refused"
	case env.StepExtended:
		return slog.LevelDebug, "lock extended"
	case env.StepExtendFailed:
		return failureLevel(e.Err), "lock not extended"
	case env.StepExpiring:
		return slog.LevelWarn, "lock expiring"
	case env.StepLost:
		return lossLevel(e.Err), "lock lost"
	case env.StepReleased:
		return releaseHeadline(e.Answer)
	}
	return 0, ""
}

func failureLevel(err error) slog.Level {
	if Routine(err) {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// lossLevel tells a program that closes its mutex too early, but has the lock
// still, from a lock that is gone.
func lossLevel(err error) slog.Level {
	if errors.Is(err, ErrClosed) {
		return slog.LevelWarn
	}
	return slog.LevelError
}

func releaseHeadline(held env.Answer) (slog.Level, string) {
	switch held {
	case env.Yes:
		return slog.LevelInfo, "lock released"
	case env.No:
		return slog.LevelError, "lock was lost before release"
	}
	return slog.LevelWarn, "lock release not confirmed"
}

// attributes are those fields of an event that say something at its step, which
// are those that are not zero.
func attributes(e *env.Event) []slog.Attr {
	list := []slog.Attr{slog.String("resource", e.Resource), slog.String("token", ShortToken(e.Token))}
	if e.TTL != 0 {
		list = append(list, slog.Duration("ttl", e.TTL))
	}
	if e.Validity != 0 {
		list = append(list, slog.Duration("validity", e.Validity))
	}
	if e.Reply.Node != 0 {
		list = append(list, slog.String("op", e.Op.String()), slog.Int("node", e.Reply.Node), slog.String("answer", e.Reply.Answer.String()))
	}
	if e.Fence != 0 {
		list = append(list, slog.Uint64("fence", e.Fence))
	}
	for _, err := range []error{e.Reply.Err, e.Err} {
		if err != nil {
			list = append(list, errorAttr(err, e.Token))
		}
	}
	if quorum := new(QuorumError); errors.As(e.Err, &quorum) {
		list = append(list, nodesAttr(quorum.Replies))
	}
	return list
}

// errorAttr leaves the error as a value that a handler can look into, unless
// that would tell the token.
func errorAttr(err error, token string) slog.Attr {
	if text := ErrorText(err, token); text != err.Error() {
		return slog.String("error", text)
	}
	return slog.Any("error", err)
}

func nodesAttr(replies []env.Reply) slog.Attr {
	answers := make([]slog.Attr, len(replies))
	for i, r := range replies {
		answer := "unheard"
		if r.Answer != 0 {
			answer = r.Answer.String()
		}
		answers[i] = slog.String(strconv.Itoa(r.Node), answer)
	}
	return slog.GroupAttrs("nodes", answers...)
}
