package promises

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Defect is the standing of a violation of what a lock promises.
const Defect = "a defect: the lock promises this, and the run stays within its assumptions"

// Limit is the standing of a violation for which there is a [Reason].
func Limit(reason string) string { return "a limit: " + reason }

// StandingOf says whether a violation is a limit, which has an excuse, or a defect.
func StandingOf(excuse error) string {
	if excuse == nil {
		return Defect
	}
	return Limit(Reason(excuse))
}

// Standing says whether a violation in a scenario, with the plan that was carried out, is a limit of
// its lock or a defect. It returns "" if nobody knows what the lock promises, as of a lock of the user.
func Standing(done scenarios.Scenario, p checker.Property) string {
	promised := Of(done)
	if promised == nil {
		return ""
	}
	excuse := promised.Excuse(p, done)
	if bound := p.Bound(); excuse == nil && bound != "" && !slices.Contains(Achievable(done), bound) {
		excuse = fmt.Errorf("with these settings the lock does not promise to keep the scenario's bound (%s)", bound)
	}
	return StandingOf(excuse)
}

// Told returns a finding of a run as it has to be told, with its standing. A lock promises to withstand
// what causes a defect, so that no assumption of the lock is broken.
func Told(done scenarios.Scenario, f checker.Finding) (told checker.Finding, standing string) {
	standing = Standing(done, f.Property)
	return As(standing, f), standing
}

// As returns a finding as it has to be told with its standing.
func As(standing string, f checker.Finding) checker.Finding {
	if standing == Defect {
		return f.Within()
	}
	return f
}

// Reason returns the text of an excuse. A fault has the number that it has in a trace.
func Reason(excuse error) string {
	var field *nemesis.FieldError
	if errors.As(excuse, &field) {
		var at int
		if n, _ := fmt.Sscanf(field.Path, "plan[%d]", &at); n == 1 {
			return fmt.Sprintf("fault %d: %v", at+1, field.Err)
		}
	}
	return excuse.Error()
}
