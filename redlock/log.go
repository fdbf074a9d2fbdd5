package redlock

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/env"
)

// Logged returns an observer for [New] that logs what an operator wants to know about a lock. It
// passes every event on to next, after its record has been written. next may be nil; logger may
// not.
//
//	level  message                          when
//	Info   lock granted, lock released      a hold begins and ends normally
//	Warn   lock expiring                    the holder was warned that the validity is about to end
//	Error  lock lost                        the holder was informed that the lock is lost
//	Warn   lock lost                        … because the mutex was closed before the release
//	Error  lock was lost before release     at the release too few nodes still held the keys
//	Warn   lock release not confirmed       no quorum replied; keys may stay until they expire
//	Warn   lock refused, lock not extended  for a reason that is not routine, see below
//	Debug  lock refused, lock not extended  for a routine reason
//	Debug  lock extended                    by its holder or a watchdog
//	Debug  node replied                     to any request, until the outcome was certain
//
// Grants and releases have level Info, one record each per hold: they show who held what, and
// when. Debug is for what happens all the time: extensions, and failures for a routine reason
// ([Routine]). Any other failure is a Warn at each try: nothing is lost yet, but somebody should
// check the nodes or the network. An Error means that somebody else may have been granted the
// lock before the work under it was done, so the work should be checked.
//
// The attributes are resource and token and, where they apply, ttl, validity (the remaining one),
// fence, op, node and answer (of a reply), error, and nodes: a group with the answer of each node
// if no quorum was found, which is yes, no, failed, lost or, without a reply, unheard.
//
// Whoever knows a token can release the lock. So a record has only the first 8 of its 40 digits,
// enough to find the records of one hold, also where an error quotes the token.
//
// The handler is called with a background context, on the goroutine that uses the lock or, for a
// watchdog's extension, on the one that warns its holder. It must not block: the validity is
// running, and the warning would be late. A level that is not enabled allocates nothing.
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

// headline returns the level and the message of an event. A step without a record has no message.
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

// lossLevel separates a lock that is lost from one whose program closed its mutex too early and
// still has the lock.
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

// attributes returns the fields of an event that are not zero.
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

// errorAttr returns the error as a value, which a handler can inspect, or as a text if the value
// would reveal the token.
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

// The following functions keep tokens out of logs and traces, and separate routine errors from
// others.

// routine lists the errors of daily work. An error that is not listed is trouble, so that an
// unexpected one is seen.
var routine = [...]error{ErrTaken, ErrReleased, context.Canceled, context.DeadlineExceeded}

// Routine reports whether an acquisition or an extension has failed for a reason of daily work:
// somebody else holds the lock ([ErrTaken]), the caller's context has ended, or the hold was
// released meanwhile ([ErrReleased]). Any other failure is a reason to check the nodes or the
// network.
func Routine(err error) bool {
	for _, known := range routine {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// shownDigits is the number of digits of a token that are shown: enough to tell holds apart, and
// far too few to act as their holder.
const shownDigits = 8

// ShortToken returns the part of a token that may be shown, which identifies the records of one
// hold: the first 8 of 40 digits, or a fifth of a shorter token.
func ShortToken(token string) string { return token[:min(shownDigits, len(token)/5)] }

// ErrorText returns the text of an error with the token replaced by its [ShortToken]. Redis quotes
// the arguments of a command that it does not know.
func ErrorText(err error, token string) string {
	return strings.ReplaceAll(err.Error(), token, ShortToken(token))
}
