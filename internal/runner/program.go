package runner

import (
	"maps"
	"strings"
)

// The keys of this program in the versions of what is stored. What is compared may come from different
// versions of it, so comparisons leave them out ([WithoutProgram]).
const (
	ProgramVersion  = "lockstorm"
	ProgramRevision = "lockstorm revision"
)

// unversioned is the version of a program that was built without one.
const unversioned = "(devel)"

// Program names the program that made what has these versions: "v1.2.0, revision 3f2a…"; "" if they
// do not say.
func Program(versions map[string]string) string {
	var parts []string
	if v := versions[ProgramVersion]; v != "" && v != unversioned {
		parts = append(parts, v)
	}
	if r := versions[ProgramRevision]; r != "" {
		parts = append(parts, "revision "+r)
	}
	return strings.Join(parts, ", ")
}

// WithoutProgram returns the versions of everything else.
func WithoutProgram(versions map[string]string) map[string]string {
	rest := maps.Clone(versions)
	delete(rest, ProgramVersion)
	delete(rest, ProgramRevision)
	return rest
}
