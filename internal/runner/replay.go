package runner

import (
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Replay is what it takes to repeat one run of a named scenario on a backend
// whose runs are exact, and to see whether the repetition is the same run. As
// a string it is short enough to paste: at most [MaxReplay] bytes for the named
// scenarios, none of which means anything to a shell.
type Replay struct {
	Scenario string // the name of a scenario
	Seed     uint64

	// Part is the part of the scenario that was run. Only a run with choices has one.
	Part scenarios.Part

	// Generator draws further faults beside the scenario's plan. Without it the
	// scenario is run as it stands in the table.
	Generator *nemesis.Generator

	// Course is that of the run.
	Course

	// Trace is the upper half of the run's trace hash.
	Trace uint32
}

// MaxReplay is the greatest length of a replay string of a run that follows its seed.
const MaxReplay = 100

// replayFormat is the version of the string. The string has, between dots: the version; the scenario; the
// seed (see shortSeed); if there is a generator, its version, the largest number of faults and the weights;
// if there are choices, the part of the scenario and the choices; if there are branches, these; eight digits
// of the trace hash; four digits of a checksum of everything before.
const replayFormat = "v1"

// longestNames is the greatest length of weights that are written with the
// names of the kinds. Longer ones are written as a code, which is no longer than this
// with all kinds in it: so a row's name can have 31 bytes.
const longestNames = 23

// generatorMark begins the version of a generator, and noSwarm follows the number of faults of one without
// swarms.
const (
	generatorMark = "g"
	noSwarm       = "n"
)

// Replay returns the replay of a result whose scenario is one of the table, as it
// stands there or [WithGenerator].
func (r Result) Replay() Replay {
	return Replay{Scenario: r.Scenario.Name, Seed: r.Seed, Generator: r.Scenario.Generate, Course: r.Course, Trace: r.TraceHead()}
}

// TraceHead returns the upper half of the run's trace hash, which a string has room for.
func (r Result) TraceHead() uint32 { return uint32(r.TraceHash >> 32) }

// Same reports whether a result is that of the same run.
func (r Replay) Same(result Result) bool { return result.TraceHead() == r.Trace }

// Find returns the scenario that is to be run, of those of the table.
func (r Replay) Find() (scenarios.Scenario, error) {
	s, err := scenarios.Find(r.Scenario)
	if err != nil {
		return s, err
	}
	return r.In(s)
}

// In returns the scenario that is to be run, of the one that the replay names. The error says what that
// does not have.
func (r Replay) In(s scenarios.Scenario) (scenarios.Scenario, error) {
	if r.Generator != nil && !reflect.DeepEqual(s.Generate, r.Generator) { // what the scenario expects is of its own generator
		s = WithGenerator(s, *r.Generator)
	}
	if r.Choices != nil {
		s = Alone(s)
	}
	return r.Part.Of(s)
}

// Alone returns the scenario as runs with choices take place in it: each request travels by itself, so
// that its latency is a choice. Expectations and limits are of many runs.
func Alone(s scenarios.Scenario) scenarios.Scenario {
	s.Connections, s.Expect, s.Limits = nemesis.Connections{}, nil, scenarios.Limits{}
	return s
}

// String writes what [ParseReplay] reads, as in
// "v1.calm.7.g2.4.crash,partition:3.5f06eaf2.1c9e" and "v1.calm.1.n1+2+3.l2d2-17-1.5f06eaf2.1c9e".
func (r Replay) String() string {
	text := fmt.Sprintf("%s.%s.%s.", replayFormat, r.Scenario, seedText(r.Seed))
	if g := r.Generator; g != nil {
		swarm := ""
		if g.NoSwarm {
			swarm = noSwarm
		}
		weights := g.Faults.String()
		if len(weights) > longestNames {
			weights = weightCode(g.Faults)
		}
		text += fmt.Sprintf("%s%d.%d%s.%s.", generatorMark, nemesis.GeneratorVersion, g.Most, swarm, weights)
	}
	if r.Choices != nil {
		text += fmt.Sprintf("%s.%s.", r.Part, choicesText(r.Choices))
	}
	if len(r.Branches) > 0 {
		text += branchText(r.Branches) + "."
	}
	text += fmt.Sprintf("%08x.", r.Trace)
	return text + Checksum(text)
}

// shortSeed is the number of digits up to which a seed is written as people do. A longer
// one is written to base 36, behind a mark, so that there is room for more kinds of
// faults.
const (
	shortSeed = 10
	seedMark  = "x"
)

func seedText(seed uint64) string {
	if text := strconv.FormatUint(seed, 10); len(text) <= shortSeed {
		return text
	}
	return seedMark + strconv.FormatUint(seed, 36)
}

func parseSeed(text string) (uint64, error) {
	if digits, marked := strings.CutPrefix(text, seedMark); marked {
		return strconv.ParseUint(digits, 36, 64)
	}
	return strconv.ParseUint(text, 10, 64)
}

// Checksum returns four digits by which a mistyped text is known.
func Checksum(text string) string {
	return fmt.Sprintf("%04x", uint16(crc32.ChecksumIEEE([]byte(text))))
}

// ParseReplay reads a replay string. The error says what is wrong with it.
func ParseReplay(text string) (Replay, error) {
	r, err := parseReplay(text)
	if err != nil {
		return Replay{}, fmt.Errorf("the replay string %q %w", text, err)
	}
	return r, nil
}

func parseReplay(text string) (r Replay, err error) {
	last := strings.LastIndexByte(text, '.') + 1
	parts := strings.Split(text, ".")
	switch {
	case parts[0] != replayFormat:
		return r, fmt.Errorf("does not begin with %s.: it is no replay string", replayFormat)
	case text[last:] != Checksum(text[:last]):
		return r, fmt.Errorf("is cut off or mistyped: its last four characters do not fit the others")
	case len(parts) < 5:
		return r, fmt.Errorf("has %d parts: want at least 5", len(parts))
	}
	r.Scenario = parts[1]
	if r.Seed, err = parseSeed(parts[2]); err != nil {
		return r, fmt.Errorf("has the seed %q: want a number", parts[2])
	}
	head := parts[len(parts)-2]
	trace, err := strconv.ParseUint(head, 16, 32)
	if err != nil {
		return r, fmt.Errorf("has the trace %q: want eight hexadecimal digits", head)
	}
	r.Trace = uint32(trace)
	return r, r.parseOptional(parts[3 : len(parts)-2])
}

// parseOptional reads the parts of a text that not every string has.
func (r *Replay) parseOptional(parts []string) (err error) {
	if len(parts) >= 3 && strings.HasPrefix(parts[0], generatorMark) {
		if r.Generator, err = parseGenerator(parts[0], parts[1], parts[2]); err != nil {
			return err
		}
		parts = parts[3:]
	}
	if len(parts) >= 2 {
		if r.Part, err = scenarios.ParsePart(parts[0]); err != nil {
			return fmt.Errorf("has a part of a scenario that cannot be: %w", err)
		}
		if r.Choices, err = parseChoices(parts[1]); err != nil {
			return err
		}
		parts = parts[2:]
	}
	switch len(parts) {
	case 0:
		return nil
	case 1:
		r.Branches, err = parseBranches(parts[0])
		return err
	}
	return errors.New("has too many parts")
}

func parseGenerator(version, most, weights string) (*nemesis.Generator, error) {
	if own := fmt.Sprintf("%s%d", generatorMark, nemesis.GeneratorVersion); version != own {
		return nil, fmt.Errorf("is of the generator %s; this program has %s, whose plans are others", version, own)
	}
	g := new(nemesis.Generator)
	number, off := strings.CutSuffix(most, noSwarm)
	g.NoSwarm = off
	var err error
	if g.Most, err = strconv.Atoi(number); err != nil {
		return nil, fmt.Errorf("has the number of faults %q: want a number", most)
	}
	if g.Faults, err = parseWeights(weights); err != nil {
		return nil, fmt.Errorf("has weights that cannot be: %w", err)
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("has a generator that cannot be: %w", err)
	}
	return g, nil
}
