package checker

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Finding is the result for one property of one history. The comments of its fields, and of those of
// [Event], [Cause], [Pair], [Grant] and [Place], are the table of docs/findings.md, which documents
// the JSON of a finding.
type Finding struct {
	Property  Property `json:"property"`            // what is asked of the lock
	Verdict   Verdict  `json:"verdict"`             // `holds`, `violated`, `unknown` or `n/a`
	Count     int      `json:"count"`               // number of violations; the other fields are about the first
	Duty      Duty     `json:"duty,omitempty"`      // the part of the contract that is violated
	Events    []Event  `json:"events,omitempty"`    // the violation, or what another verdict rests on, in the order of time
	Causes    []Cause  `json:"causes,omitempty"`    // the assumptions that were broken, or one without an assumption: what is seen instead
	Faultless bool     `json:"faultless,omitempty"` // no fault took place in the whole history
	Undecided string   `json:"undecided,omitempty"` // why the verdict is unknown whatever the events say: the history is cut short
	First     *Pair    `json:"first,omitempty"`     // the two grants of the violation, if it is about two
	Where     *Place   `json:"where,omitempty"`     // the part of the history to look at
}

// Cause is an assumption of the lock that was broken, and how that shows.
type Cause struct {
	Assumption Assumption `json:"assumption,omitempty"` // its name; left out: none is seen to be broken
	Evidence   []Event    `json:"evidence"`             // what shows it
}

// UnmarshalJSON reads a finding. It returns an error if the property or the verdict is missing.
func (f *Finding) UnmarshalJSON(text []byte) error {
	type plain Finding
	var read plain
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	switch {
	case read.Property == "":
		return errors.New("a finding has no property")
	case !read.Verdict.valid():
		return fmt.Errorf("the finding of %s has no verdict", read.Property)
	}
	*f = Finding(read)
	return nil
}

// Story tells the finding in one paragraph.
func (f Finding) Story() string {
	told := f.conclusions()
	if happened := f.happened(); len(happened) > 0 {
		told = append([]string{strings.Join(happened, "; ")}, told...)
	}
	return strings.Join(told, ". ")
}

// Lines tells the finding with a line for each event and each cause.
func (f Finding) Lines() []string { return append(f.happened(), f.conclusions()...) }

// happened tells the events.
func (f Finding) happened() []string {
	told := texts(f.Events)
	if f.Undecided == "" {
		return told
	}
	if len(told) > 0 {
		told[0] = "up to there: " + told[0]
	}
	return append([]string{f.Undecided}, told...)
}

// conclusions tells the causes.
func (f Finding) conclusions() (told []string) {
	for _, c := range f.Causes {
		switch {
		case c.Assumption != "":
			told = append(told, fmt.Sprintf("Broken assumption: %s (%s)", c.Assumption.Text(), c.Shown()))
		case f.Faultless:
			told = append(told, "No fault took place: "+c.Shown())
		default:
			told = append(told, "No assumption is seen to be broken: "+c.Shown())
		}
	}
	return told
}

// Shown tells the evidence: what is seen in the history.
func (c Cause) Shown() string { return strings.Join(texts(c.Evidence), "; ") }

func texts(events []Event) []string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = e.Text
	}
	return all
}
