package external

import "time"

// NotRun is the verdict of a storm that was not run.
const NotRun = "not run"

// Record is what programs read of a storm: lockstorm test prints it in JSON, and the storm's subtest in
// go test -json has it as the attribute "locktest". The test of [locktest.Run] has one as well, with a
// Summary and no Storm.
type Record struct {
	Storm   string        `json:"storm,omitempty"`
	Verdict string        `json:"verdict,omitempty"` // as expected, contradiction, undecided, or not run
	Reason  string        `json:"reason,omitempty"`  // in a line; with "as expected" the violations that no promise covers
	Story   string        `json:"story,omitempty"`
	Seed    uint64        `json:"seed,omitempty"`    // of the run that violated a promise
	Dir     string        `json:"dir,omitempty"`     // where that is stored
	Again   string        `json:"again,omitempty"`   // the command that repeats it
	File    string        `json:"file,omitempty"`    // the name of the test's file
	Summary string        `json:"summary,omitempty"` // what was tried of the lock, and what was not
	Warning []string      `json:"warning,omitempty"` // beside a summary: who waited in vain
	Took    time.Duration `json:"took_ns,omitempty"`
}
