package runner

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"regexp"
	"slices"
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

	// Old says that the string is of an earlier version, whose traces were hashed in another
	// way, so that the trace of a repetition cannot be compared with it.
	Old bool
}

// MaxReplay is the greatest length of a replay string of a run that follows its seed.
const MaxReplay = 100

// replayFormat is the version of the string. The string has, between
// dots: the version; the scenario; the seed (see shortSeed); if there is a generator, its
// version, the largest number of faults and the weights; in version 3, the branches; in version 4, the
// part of the scenario, the choices and the branches; eight digits of the trace hash; four digits of a
// checksum of everything before.
//
// A run without branches has version 2, and one with choices version 4, without a generator. In
// version 1 the trace was hashed otherwise.
const (
	chosenFormat    = "v4"
	branchedFormat  = "v3"
	replayFormat    = "v2"
	oldReplayFormat = "v1"
)

// longestNames is the greatest length of weights that are written with the
// names of the kinds. Longer ones are written as a code, which is no longer than this
// with all kinds in it: so a row's name can have 31 bytes.
const longestNames = 23

// noSwarm follows the number of faults of a generator without swarms.
const noSwarm = "n"

// Replay returns the replay of a result whose scenario is one of the table, as it
// stands there or [WithGenerator].
func (r Result) Replay() Replay {
	return Replay{Scenario: r.Scenario.Name, Seed: r.Seed, Generator: r.Scenario.Generate, Course: r.Course, Trace: r.TraceHead()}
}

// TraceHead returns the upper half of the run's trace hash, which a string has room for.
func (r Result) TraceHead() uint32 { return uint32(r.TraceHash >> 32) }

// Same reports whether a result is that of the same run, as far as that can be told: see Old.
func (r Replay) Same(result Result) bool { return !r.Old && result.TraceHead() == r.Trace }

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
// "v2.calm.7.g1.4.crash,partition:3.5f06eaf2.1c9e" and "v4.calm.1.n1+2+3.l2d2-17-1.b.5f06eaf2.1c9e".
func (r Replay) String() string {
	version := replayFormat
	switch {
	case r.Choices != nil:
		version = chosenFormat
	case len(r.Branches) > 0:
		version = branchedFormat
	case r.Old:
		version = oldReplayFormat
	}
	text := fmt.Sprintf("%s.%s.%s.", version, r.Scenario, seedText(r.Seed))
	if g := r.Generator; g != nil {
		swarm := ""
		if g.NoSwarm {
			swarm = noSwarm
		}
		weights := g.Faults.String()
		if len(weights) > longestNames {
			weights = g.Faults.Code()
		}
		text += fmt.Sprintf("g%d.%d%s.%s.", nemesis.GeneratorVersion, g.Most, swarm, weights)
	}
	switch {
	case r.Choices != nil:
		text += fmt.Sprintf("%s.%s.%s.", r.Part, choicesText(r.Choices), branchText(r.Branches))
	case len(r.Branches) > 0:
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

var replayVersion = regexp.MustCompile(`^v[0-9]+\.`)

// ParseReplay reads a replay string. The error says what is wrong with it.
func ParseReplay(text string) (Replay, error) {
	r, err := parseReplay(text)
	if err != nil {
		return Replay{}, fmt.Errorf("the replay string %q %w", text, err)
	}
	return r, nil
}

func parseReplay(text string) (r Replay, err error) {
	version := strings.TrimSuffix(replayVersion.FindString(text), ".")
	switch version {
	case "":
		return r, fmt.Errorf("does not begin with %s.: it is no replay string", replayFormat)
	case chosenFormat, branchedFormat, replayFormat, oldReplayFormat:
	default:
		return r, fmt.Errorf("has the form %s; this program reads %s to %s", version, oldReplayFormat, chosenFormat)
	}
	r.Old = version == oldReplayFormat
	last := strings.LastIndexByte(text, '.') + 1
	if text[last:] != Checksum(text[:last]) {
		return r, fmt.Errorf("is cut off or mistyped: its last four characters do not fit the others")
	}
	parts := strings.Split(text, ".")
	if parts, err = r.parseCourse(version, parts); err != nil {
		return r, err
	}
	switch len(parts) {
	case 5:
	case 8:
		if r.Generator, err = parseGenerator(parts[3], parts[4], parts[5]); err != nil {
			return r, err
		}
	default:
		return r, fmt.Errorf("has %d parts: want 5, or 8 with generated faults", len(parts))
	}
	r.Scenario = parts[1]
	if r.Seed, err = parseSeed(parts[2]); err != nil {
		return r, fmt.Errorf("has the seed %q: want a number", parts[2])
	}
	trace, err := strconv.ParseUint(parts[len(parts)-2], 16, 32)
	if err != nil {
		return r, fmt.Errorf("has the trace %q: want eight hexadecimal digits", parts[len(parts)-2])
	}
	r.Trace = uint32(trace)
	return r, nil
}

// parseCourse reads the parts of a text that say how the run departs from its seed, and returns the
// others.
func (r *Replay) parseCourse(version string, parts []string) (others []string, err error) {
	n := len(parts)
	switch {
	case version == branchedFormat && n >= 6:
		r.Branches, err = parseBranches(parts[n-3])
		return slices.Delete(parts, n-3, n-2), err
	case version != chosenFormat:
		return parts, nil
	case n != 8:
		return nil, fmt.Errorf("has %d parts: want 8", n)
	}
	if r.Part, err = scenarios.ParsePart(parts[3]); err != nil {
		return nil, fmt.Errorf("has a part of a scenario that cannot be: %w", err)
	}
	if r.Choices, err = parseChoices(parts[4]); err == nil && parts[5] != branchMark {
		r.Branches, err = parseBranches(parts[5])
	}
	return slices.Delete(parts, 3, 6), err
}

func parseGenerator(version, most, weights string) (*nemesis.Generator, error) {
	if own := fmt.Sprintf("g%d", nemesis.GeneratorVersion); version != own {
		return nil, fmt.Errorf("is of the generator %s; this program has %s, whose plans are others", version, own)
	}
	g := new(nemesis.Generator)
	number, off := strings.CutSuffix(most, noSwarm)
	g.NoSwarm = off
	var err error
	if g.Most, err = strconv.Atoi(number); err != nil {
		return nil, fmt.Errorf("has the number of faults %q: want a number", most)
	}
	if g.Faults, err = nemesis.ParseWeights(weights); err != nil {
		return nil, fmt.Errorf("has weights that cannot be: %w", err)
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("has a generator that cannot be: %w", err)
	}
	return g, nil
}
