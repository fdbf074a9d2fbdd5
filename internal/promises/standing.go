package promises

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Defect is the standing of a violation of what a lock promises.
const Defect = "a defect: the lock promises this, and the run stays within its assumptions"

// Limit is the standing of a violation that has an excuse.
func Limit(excuse string) string { return "a limit: " + Reason(excuse) }

// StandingOf says whether a violation is a limit, which has an excuse, or a defect.
func StandingOf(excuse error) string {
	if excuse == nil {
		return Defect
	}
	return Limit(excuse.Error())
}

// Standing says whether a violation in a scenario, with the plan that was carried out, is a limit of
// its lock or a defect. It returns "" if nobody knows what the lock promises, as of a lock of the user.
func Standing(done scenarios.Scenario, p checker.Property) string {
	promised := Of(done)
	if promised == nil {
		return ""
	}
	excuse := promised.Excuse(p, done)
	if bound := decidedBy[p]; excuse == nil && bound != "" && !slices.Contains(Achievable(done), bound) {
		excuse = fmt.Errorf("with these settings the lock does not promise to keep the scenario's bound (%s)", bound)
	}
	return StandingOf(excuse)
}

// decidedBy names the bound in a scenario that decides a property.
var decidedBy = map[checker.Property]string{checker.DeadlockFreedom: "grant", checker.FaultTolerance: "tries", checker.Cleanup: "cleanup"}

// inPlan is the place of a fault, as an error names it.
var inPlan = regexp.MustCompile(`^plan\[(\d{1,9})\]`)

// Reason returns an excuse in which a fault has the number that it has in a trace.
func Reason(excuse string) string {
	return inPlan.ReplaceAllStringFunc(excuse, func(at string) string {
		i, _ := strconv.Atoi(inPlan.FindStringSubmatch(at)[1])
		return fmt.Sprintf("fault %d", i+1)
	})
}
