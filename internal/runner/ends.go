package runner

import (
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/env"
)

// ends are the ends of validity that count now of the tries and holds of one client, whose
// callers may be several. There are few at a time.
type ends struct {
	mu   sync.Mutex
	list []end
}

type end struct {
	token string
	until env.Instant
}

// move follows the end of validity through a step of the lock, and reports whether from
// now on another one is to be watched for: the one that the step names. An extension that
// asks for less than there is moves it when it is called, for it may take effect and never
// be answered.
func (l *ends) move(e *env.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.list, func(v end) bool { return v.token == e.Token })
	now := env.Never
	if i >= 0 {
		now = l.list[i].until
	}
	switch {
	case e.Step == env.StepRefused || e.Step == env.StepBeforeRelease:
		if i >= 0 {
			l.list = slices.Delete(l.list, i, i+1)
		}
		return false
	case e.Step == env.StepBeforeSend && e.Until != env.Never:
	case e.Step == env.StepGranted && e.Until != now:
	case e.Step == env.StepExtend && e.Until != 0 && e.Until < now:
	case e.Step == env.StepExtended:
	default:
		return false
	}
	if i < 0 {
		l.list = append(l.list, end{e.Token, e.Until})
	} else {
		l.list[i].until = e.Until
	}
	return true
}
