package fuzz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
)

// maxRun bounds the numbers of runs in stored entries, so that sums of them do not overflow.
const maxRun = 1 << 40

// Entry is a candidate that a hunt offers to others, and what it reaches: either how close it came
// by one measure, or the properties that it broke. Whoever reads one from elsewhere calls
// [Entry.Validate].
type Entry struct {
	Run       int       `json:"run"` // its number in the whole hunt, from 1
	Candidate Candidate `json:"candidate"`

	// Measure is the name of a measure of the hunt, and Distance what is left by it: at least 0, on
	// the scale of the measure, and less is closer. Empty: it broke something.
	Measure  string `json:"measure,omitempty"`
	Distance int64  `json:"distance,omitempty"`

	// Broken are the wanted properties that it broke, in their order. Empty: see Measure.
	Broken []checker.Property `json:"broken,omitempty"`
}

// Group names what the entry reaches, as in gap or broken/lease=section.
func (e Entry) Group() string {
	if e.Measure != "" {
		return e.Measure
	}
	return "broken/" + joinNames(e.Broken)
}

// Key is the group and the kinds of faults of the plan, as in gap/crash=pause. Of the entries with
// the same key a pool needs one. Keys have letters, hyphens, underscores, = and /.
func (e Entry) Key() string {
	return e.Group() + "/" + joinNames(e.Candidate.Scenario.Plan.Kinds())
}

func joinNames[T ~string](names []T) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, "=")
}

// Compare orders entries of one group: the closer one first; of equally close ones, and of those
// that broke something, the later run first, so that hunts move on. It is 0 only for entries of the
// same run.
func (e Entry) Compare(other Entry) int {
	return cmp.Or(cmp.Compare(e.Distance, other.Distance), cmp.Compare(other.Run, e.Run))
}

// Validate returns an error for an entry that no hunt offers.
func (e Entry) Validate() error {
	_, isMeasure := measureNamed(e.Measure)
	switch {
	case e.Run < 1 || e.Run > maxRun:
		return fmt.Errorf("run %d: want 1 to %d", e.Run, maxRun)
	case (e.Measure == "") == (len(e.Broken) == 0):
		return errors.New("want either a measure or broken properties")
	case e.Measure != "" && !isMeasure:
		return fmt.Errorf("unknown measure %q", e.Measure)
	case e.Measure == "" && e.Distance != 0:
		return fmt.Errorf("a distance of %d without a measure", e.Distance)
	case e.Distance < 0 || e.Distance == unmeasured:
		return fmt.Errorf("a distance of %d: want 0 to %d", e.Distance, unmeasured-1)
	}
	if err := ValidateProperties(e.Broken); err != nil {
		return fmt.Errorf("broken: %w", err)
	}
	return e.Candidate.Validate()
}

// measureNamed returns the measure of a name.
func measureNamed(name string) (measure, bool) {
	for m, info := range measureInfo {
		if info.name == name {
			return measure(m), true
		}
	}
	return 0, false
}

// ValidateProperties returns an error unless properties are known, in their order and each once.
func ValidateProperties(list []checker.Property) error {
	ordered := slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return !slices.Contains(list, p) })
	if !slices.Equal(list, ordered) {
		return fmt.Errorf("the properties %v: want known ones, in their order, each once", list)
	}
	return nil
}
