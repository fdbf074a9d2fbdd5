package locktest

import (
	"strconv"
	"strings"
	"testing"
)

// attrs sets attributes of a test, by pairs of a key and a value, for programs that read go test -json.
// Attributes without a value are left out. The test of Run has
//
//	locktest.summary   what was tried of the lock, and what was not
//
// and that of a storm, if it did not simply pass,
//
//	locktest.verdict   violated, failed (a run could not be made, or nobody was granted the lock) or undecided
//	locktest.reason    why, in a line
//	locktest.limit     violations that no promise covers
//	locktest.property  the codes of the violated promises, such as V1,C
//	locktest.storm, locktest.seed
//	locktest.run       the directory of the stored run, relative to the directory of the test
//	locktest.again     the command that runs it again, in that directory
//	locktest.like      the earlier storm that failed in the same way
func attrs(t *testing.T, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if value := strings.Join(strings.Fields(pairs[i+1]), " "); value != "" {
			t.Attr("locktest."+pairs[i], value)
		}
	}
}

// setAttrs sets the attributes of a storm that violated a promise.
func (f *failure) setAttrs(reason string) {
	var codes []string
	for _, b := range f.Broken {
		codes = append(codes, b.Property.Code())
	}
	again := ""
	if f.dir != "" {
		again = reproCommand(f.t.Name(), f.dir)
	}
	attrs(f.t, "verdict", "violated", "reason", reason, "property", strings.Join(codes, ","),
		"storm", f.run.Scenario.Name, "seed", strconv.FormatUint(f.run.Seed, 10), "run", f.dir, "again", again, "like", f.like)
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
