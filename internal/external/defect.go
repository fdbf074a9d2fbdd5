package external

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
)

// Defects are the failures of a lock that were reported in full, by what was violated and how. The
// value names the storm.
type Defects map[string]string

// Add records the violations of a storm. If some storm before has shown each of them, it returns the
// storm that has shown the first one, and otherwise the first property whose violation is new.
func (d Defects) Add(storm string, broken []checker.Finding) (news checker.Property, like string) {
	for _, f := range broken {
		defect := defectOf(f)
		if _, known := d[defect]; known {
			continue
		}
		if d[defect] = storm; news == "" {
			news = f.Property
		}
	}
	if news == "" {
		like = d[defectOf(broken[0])]
	}
	return news, like
}

// defectOf returns what a violation is recognized by in other storms: the property, or which part of
// it, what happened, and why. Who did it, when, and the faults of the storm do not count.
func defectOf(f checker.Finding) string {
	var what []string
	add := func(kind string, list []checker.Event) {
		for _, e := range list {
			if e.Role != checker.RoleFault {
				what = append(what, fmt.Sprintf("%s %s", kind, e.Role))
			}
		}
	}
	add("event", f.Events)
	for _, c := range f.Causes {
		what = append(what, fmt.Sprintf("cause %s", c.Assumption))
		add("evidence", c.Evidence)
	}
	slices.Sort(what)
	return fmt.Sprintf("%v, %s: %s", f.Property, f.Duty, strings.Join(slices.Compact(what), ", "))
}
