package runner

import (
	"maps"
	"slices"
	"strings"
)

// The keys of this program in the versions of what is stored. What is compared, merged or continued
// may come from different versions of it, so comparisons leave them out ([WithoutProgram]).
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

// WithProgramsOf returns versions with the programs of others added, for results that were put
// together: "v1.2.0 and v1.2.1".
func WithProgramsOf(versions map[string]string, others ...map[string]string) map[string]string {
	all := maps.Clone(versions)
	if all == nil {
		all = map[string]string{}
	}
	for _, key := range []string{ProgramVersion, ProgramRevision} {
		var names []string
		for _, v := range append([]map[string]string{versions}, others...) {
			for name := range strings.SplitSeq(v[key], programsJoint) {
				if name != "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		if len(names) > 0 {
			all[key] = strings.Join(names, programsJoint)
		}
	}
	return all
}

const programsJoint = " and "
