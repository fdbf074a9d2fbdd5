package preflight

import (
	"errors"
	"slices"
	"strings"
)

// What can be wrong with a server. Each stands in an [UnfitError], with its address.
var (
	ErrNobody    = errors.New("nobody answers")
	ErrSilent    = errors.New("takes the connection and then says nothing")
	ErrNotRedis  = errors.New("what answers is not Redis")
	ErrTLS       = errors.New("speaks TLS, and was spoken to without")
	ErrPlain     = errors.New("does not speak TLS")
	ErrTrust     = errors.New("its certificate is not to be trusted")
	ErrTrustUs   = errors.New("wants a certificate of its client")
	ErrPassword  = errors.New("wants a password")
	ErrWrongPass = errors.New("does not accept the user and the password")
	ErrForbidden = errors.New("does not let the user do what a lock needs")
	ErrTooOld    = errors.New("is too old")
	ErrReplica   = errors.New("is a replica, and a node of a lock has to be a master")
	ErrCluster   = errors.New("is a node of a Redis cluster, and a node of a lock has to be a server by itself")
	ErrSentinel  = errors.New("is a Redis Sentinel, which keeps no keys")
	ErrEvicts    = errors.New("may evict the keys of a lock")
	ErrRefuses   = errors.New("does not do what a lock needs")
	ErrSame      = errors.New("are the same server, and would vote twice")
)

// UnfitError says why a server cannot be a node of a lock, or several for the same reason.
type UnfitError struct {
	Addrs  []string
	Why    error  // one of those above
	Detail string // in the server's own words, or what to do about it; may be empty
}

func (e *UnfitError) Error() string {
	last := len(e.Addrs) - 1
	text := e.Addrs[last]
	if last > 0 {
		text = strings.Join(e.Addrs[:last], ", ") + " and " + text
	}
	switch {
	case slices.Contains([]error{ErrNobody, ErrNotRedis, ErrTrust}, e.Why): // which are no predicates
		text += ": "
	case last > 0 && !errors.Is(e.Why, ErrSame): // which is one of several
		text += " each "
	default:
		text += " "
	}
	text += e.Why.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns what is wrong.
func (e *UnfitError) Unwrap() error { return e.Why }

// summary joins errors, of which those that say the same of several servers are one.
func summary(errs []error) error {
	var unfit []*UnfitError
	var others []error
	for _, err := range errs {
		var one *UnfitError
		if !errors.As(err, &one) {
			if !slices.Contains(others, err) {
				others = append(others, err)
			}
			continue
		}
		like := slices.IndexFunc(unfit, func(other *UnfitError) bool {
			return errors.Is(other.Why, one.Why) && other.Detail == one.Detail
		})
		if like < 0 {
			unfit = append(unfit, &UnfitError{slices.Clone(one.Addrs), one.Why, one.Detail})
			continue
		}
		unfit[like].Addrs = append(unfit[like].Addrs, one.Addrs...)
	}
	for _, one := range unfit {
		others = append(others, one)
	}
	return errors.Join(others...)
}
