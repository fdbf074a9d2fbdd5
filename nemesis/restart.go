package nemesis

import (
	"fmt"
	"time"
)

// Restart says who restarts a server that went down. At 0 the end of the fault does:
// at once, later, or never. Otherwise the node's machine does, when the node's own
// wall clock has advanced by this much; a jump of that clock shortens or lengthens
// the time. Such a fault has no end in the plan, and counts as lasting until the end
// of the run.
type Restart time.Duration

// String completes "node 3 crashes".
func (r Restart) String() string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf(" and starts again after %v of its own clock", time.Duration(r))
}

func (r Restart) ending() ending {
	if r == 0 {
		return ending{}
	}
	return ending{automatic: "restart_delay says when the server starts again, and excludes an end"}
}

// RestartDelayFeature is the feature of a fault after which a node's machine
// starts the server again by its own clock.
const RestartDelayFeature Feature = "restart_delay"

func (r Restart) features() []Feature {
	if r == 0 {
		return nil
	}
	return []Feature{RestartDelayFeature}
}
