package explore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Path is what it takes to repeat a run of an exploration: the faults that it has, and the points at
// which it takes another way than the first.
type Path struct {
	latencies, draws int
	faults           []picked
	turns            []turn // in the order of their points
	trace            uint32 // the upper half of the run's trace hash
}

// turn is a point, from 0, and the way that is taken there.
type turn struct{ point, way int }

// Path returns the path of the find in an exploration with these bounds.
func (f *Find) Path(b Bounds) Path {
	p := f.path
	p.latencies, p.draws, p.trace = b.Latencies, b.Draws, f.Result.TraceHead()
	return p
}

// Run repeats the run of a scenario. same says that it is the same run as before.
func (p Path) Run(ctx context.Context, s scenarios.Scenario, keep history.Sink) (r runner.Result, same bool, err error) {
	e, c, err := Bounds{Latencies: p.latencies, Draws: p.draws}.prepare(s, p.faults)
	if err != nil {
		return r, false, err
	}
	c.Chooser = &follower{turns: p.turns}
	r, err = opening(e, c).Run(ctx, seed, keep)
	return r, r.TraceHead() == p.trace, err
}

// follower is a chooser that follows a path.
type follower struct {
	turns []turn
	point int // the next
}

// Choose implements [sim.Chooser].
func (f *follower) Choose(_ sim.Point, ways int) int {
	point := f.point
	f.point++
	if len(f.turns) == 0 || f.turns[0].point != point {
		return 0
	}
	way := min(f.turns[0].way, ways-1)
	f.turns = f.turns[1:]
	return way
}

// GoOn implements [sim.Chooser].
func (f *follower) GoOn(*sim.World) bool { return true }

// pathFormat is the version of the string of a path. Its parts stand between dots: the version; the
// numbers of latencies and draws; the faults by their numbers from 1, with their starts if these are
// not the scenario's; the turns, as points from 0 and ways; eight digits of the trace; four digits
// of a checksum of everything before.
const pathFormat = "e1"

// String writes what [ParsePath] reads, as in "e1.l2d2.1+2@500ms.17-1+40-1.5f06eaf2.1c9e".
func (p Path) String() string {
	var faults, turns []string
	for _, f := range p.faults {
		text := strconv.Itoa(f.number + 1)
		if f.at >= 0 {
			text += "@" + strconv.FormatInt(int64(f.at), 10)
		}
		faults = append(faults, text)
	}
	for _, t := range p.turns {
		turns = append(turns, fmt.Sprintf("%d-%d", t.point, t.way))
	}
	text := fmt.Sprintf("%s.l%dd%d.%s.%s.%08x.", pathFormat, p.latencies, p.draws, strings.Join(faults, "+"), strings.Join(turns, "+"), p.trace)
	return text + runner.Checksum(text)
}

// ParsePath reads the string of a path. The error says what is wrong with it.
func ParsePath(text string) (Path, error) {
	p, err := parsePath(text)
	if err != nil {
		return Path{}, fmt.Errorf("the path %q %w", text, err)
	}
	return p, nil
}

func parsePath(text string) (p Path, err error) {
	parts := strings.Split(text, ".")
	switch last := strings.LastIndexByte(text, '.') + 1; {
	case parts[0] != pathFormat:
		return p, fmt.Errorf("does not begin with %s.: it is not what lockstorm explore prints", pathFormat)
	case len(parts) != 6 || text[last:] != runner.Checksum(text[:last]):
		return p, fmt.Errorf("is cut off or mistyped: its last four characters do not fit the others")
	}
	if _, err := fmt.Sscanf(parts[1], "l%dd%d", &p.latencies, &p.draws); err != nil {
		return p, fmt.Errorf("has the bounds %q: want those such as l2d2", parts[1])
	}
	if p.faults, err = parseList(parts[2], parsePicked); err != nil {
		return p, fmt.Errorf("has the faults %q: %w", parts[2], err)
	}
	if p.turns, err = parseList(parts[3], parseTurn); err != nil {
		return p, fmt.Errorf("has the turns %q: %w", parts[3], err)
	}
	trace, err := strconv.ParseUint(parts[4], 16, 32)
	p.trace = uint32(trace)
	return p, err
}

func parseList[T any](text string, parse func(string) (T, error)) (list []T, err error) {
	if text == "" {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, "+") {
		v, err := parse(one)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func parsePicked(text string) (picked, error) {
	number, start, timed := strings.Cut(text, "@")
	f := picked{at: -1}
	n, err := strconv.Atoi(number)
	if err == nil && timed {
		var at int64
		at, err = strconv.ParseInt(start, 10, 64)
		f.at = time.Duration(at)
	}
	f.number = n - 1
	return f, err
}

func parseTurn(text string) (t turn, err error) {
	point, way, _ := strings.Cut(text, "-")
	if t.point, err = strconv.Atoi(point); err == nil {
		t.way, err = strconv.Atoi(way)
	}
	if err == nil && (t.point < 0 || t.way < 0) {
		err = fmt.Errorf("a negative number")
	}
	return t, err
}
