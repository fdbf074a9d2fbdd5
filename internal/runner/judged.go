package runner

import "github.com/lockstorm/lockstorm/checker"

// Judged is what a run shows of the promises of an external lock.
type Judged struct {
	Failed []checker.Property `json:"failed,omitempty"` // promised under the plan and violated, in the order of the report of the test
	Limits []Limit            `json:"limits,omitempty"` // violated, and not promised under the plan
}

// Limit is a violated property that is not promised under the plan.
type Limit struct {
	Property checker.Property `json:"property"`
	Why      string           `json:"why"` // it is not promised, as a clause
}
