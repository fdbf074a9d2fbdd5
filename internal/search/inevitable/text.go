package inevitable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Text says what has just happened at the point.
func (p Point) Text() string {
	if len(p.What) == 0 {
		return "nothing yet"
	}
	best := slices.MaxFunc(p.What, func(a, b history.Event) int { return weight(a.Kind) - weight(b.Kind) })
	if best.Kind == history.FaultStart {
		return fmt.Sprintf("fault %d begins: %s", best.Fault, best.Detail)
	}
	who, what := trace.Describe(&best)
	return who + " " + what
}

// weight orders events by how much they say.
func weight(k history.Kind) int {
	switch k {
	case history.FaultStart:
		return 3
	case history.Granted, history.Lapse, history.KeyGone:
		return 2
	case history.Step:
		return 0
	}
	return 1
}

// Decisive returns the points that are worth showing: the first, the last, and those of the jumps.
func (a Analysis) Decisive() (points []Point) {
	for i, p := range a.Points {
		jumps := slices.ContainsFunc(a.Jumps, func(j Jump) bool { return j.After.Event == p.Event && j.After.Text() == p.Text() })
		if i == 0 || i == len(a.Points)-1 || jumps {
			points = append(points, p)
		}
	}
	return points
}

// Sentences say where the point of no return is, and whether the checker names it too.
func (a Analysis) Sentences() []string {
	if len(a.Jumps) == 0 {
		return []string{"The probability jumps nowhere: no single event decided."}
	}
	j := a.Jumps[0]
	where := fmt.Sprintf("Point of no return: %s, at %s", j.After.Text(), textfmt.Duration(j.After.Time.Sub(0)))
	if j.Between > 0 {
		where += fmt.Sprintf(", or %s before", textfmt.Count(j.Between, "event"))
	}
	where += fmt.Sprintf(". It takes the probability from %s to %s.", j.Before.Violated.Percent(), j.After.Violated.Percent())
	return []string{where, map[Agreement]string{
		Agrees:    "The checker names the same cause.",
		Differs:   "The checker names another cause: see above. The jump says what decided in this run, the cause what the lock relied on.",
		NoneNamed: "The checker names no broken assumption.",
	}[a.Agreement]}
}

// MessagesSentence says how many messages make a difference.
func (a Analysis) MessagesSentence() string {
	if len(a.Messages) == 0 {
		return "none makes a difference"
	}
	return fmt.Sprintf("%d make no difference, and these do", a.Others)
}

// Bar draws a probability as a bar of some characters.
func Bar(share float64, wide int) string {
	full := int(share*float64(wide) + 0.5)
	return strings.Repeat("█", full) + strings.Repeat("░", wide-full)
}
