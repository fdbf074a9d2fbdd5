package preflight

import (
	"errors"
	"slices"
	"strings"
)

// The reasons for which a server is unfit. An [UnfitError] names one of them.
var (
	ErrNobody    = errors.New("nobody answers")
	ErrSilent    = errors.New("accepts the connection and does not reply")
	ErrNotRedis  = errors.New("not a Redis server")
	ErrTLS       = errors.New("requires TLS")
	ErrPlain     = errors.New("does not support TLS")
	ErrTrust     = errors.New("its certificate is not trusted")
	ErrTrustUs   = errors.New("requires a client certificate")
	ErrPassword  = errors.New("requires a password")
	ErrWrongPass = errors.New("rejects the user or the password")
	ErrForbidden = errors.New("does not allow the user a command that a lock needs")
	ErrTooOld    = errors.New("is too old")
	ErrReplica   = errors.New("is a replica, and a node of a lock has to be a master")
	ErrCluster   = errors.New("is a node of a Redis cluster, and a node of a lock has to be a server by itself")
	ErrSentinel  = errors.New("is a Redis Sentinel, which keeps no keys")
	ErrEvicts    = errors.New("may evict a lock's keys")
	ErrRefuses   = errors.New("does not support a command that a lock needs")
	ErrSame      = errors.New("are the same server, which would vote twice")
)

// UnfitError says why a server, or several, cannot be a node of a lock.
type UnfitError struct {
	Addrs  []string
	Why    error  // one of those above
	Detail string // the server's own words, or what to do about it; may be empty
}

func (e *UnfitError) Error() string {
	last := len(e.Addrs) - 1
	text := e.Addrs[last]
	if last > 0 {
		text = strings.Join(e.Addrs[:last], ", ") + " and " + text
	}
	switch {
	case slices.Contains([]error{ErrNobody, ErrNotRedis, ErrTrust}, e.Why): // these do not continue a sentence
		text += ": "
	case last > 0 && !errors.Is(e.Why, ErrSame): // several servers with the same problem
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

// Unwrap returns the reason.
func (e *UnfitError) Unwrap() error { return e.Why }

// mergeErrors joins errors. Servers that are unfit for the same reason share one error.
func mergeErrors(errs []error) error {
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
