package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// mostAtInstant is how many events and resumptions of coroutines one instant
// may have. In a world in which nothing takes time, clients can go on for ever
// without coming nearer to the horizon.
const mostAtInstant = 1_000_000

// limitInstant counts what is done at this instant, and ends a run in which
// time has come to a standstill.
func (w *World) limitInstant() {
	w.atInstant++
	if w.atInstant > mostAtInstant {
		w.fail(w.standstill())
	}
}

// mostNamed is how many coroutines an error names.
const mostNamed = 12

// standstill is the error of a world in which time has ceased to pass.
func (w *World) standstill() error {
	var doing []string
	for _, c := range w.clients {
		for _, co := range c.coroutines {
			doing = append(doing, co.doing())
		}
	}
	if more := len(doing) - mostNamed; more > 0 {
		doing = append(doing[:mostNamed], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("sim: time stands still at %v, after %d events and resumptions at this instant: %s",
		w.time(), mostAtInstant, strings.Join(doing, "; "))
}

// doing says what the coroutine does, as in "client 1, main: waits for a reply
// until 1.5s".
func (co *coroutine) doing() string {
	who := fmt.Sprintf("client %d, %s: ", co.client.id, co.task.name)
	switch {
	case co.client.dead:
		return who + "is dead"
	case !co.parked || co.ready:
		return who + "runs"
	case co.until == env.Never:
		return who + "waits for " + co.awaits.String()
	}
	return who + fmt.Sprintf("waits for %v until %v", co.awaits, time.Duration(co.until))
}

// awaited is what a parked coroutine waits for.
type awaited uint8

const (
	awaitsStart awaited = iota
	awaitsTime
	awaitsReply
	awaitsRegister
	awaitsTask
	awaitsResumption
)

func (a awaited) String() string {
	switch a {
	case awaitsStart:
		return "its start"
	case awaitsTime:
		return "the time to pass"
	case awaitsReply:
		return "a reply"
	case awaitsRegister:
		return "the guarded resource"
	case awaitsTask:
		return "a task"
	case awaitsResumption:
		return "the end of a pause"
	}
	return fmt.Sprintf("awaited(%d)", uint8(a))
}
