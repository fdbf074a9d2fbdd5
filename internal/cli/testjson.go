package cli

import "time"

// notRun is the verdict of a storm that was not run.
const notRun = "not run"

// stormLine is what test prints of a storm in JSON, behind its runs.
type stormLine struct {
	Storm   string        `json:"storm"`
	Verdict string        `json:"verdict"` // as expected, contradiction, undecided, or not run
	Reason  string        `json:"reason,omitempty"`
	Story   string        `json:"story,omitempty"`
	Seed    uint64        `json:"seed,omitempty"`  // of the run that violated a promise
	Dir     string        `json:"dir,omitempty"`   // where that is stored
	Again   string        `json:"again,omitempty"` // the command that repeats it
	Took    time.Duration `json:"took_ns,omitempty"`
}
