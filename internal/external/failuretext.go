package external

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A failure fits a screen, also if go test indents it.
const (
	ScreenWidth = 106 // of a line
	storyLines  = 6   // of the story of a failure
	noteLines   = 2   // of anything else that is said
)

// KnownCauses leads to what usually causes a failure, and which change helps.
const KnownCauses = "Known causes: https://github.com/lockstorm/lockstorm/blob/main/docs/test-your-lock.md#known-causes"

// FailureFile is the file of a stored run with all that is known of its failure.
const FailureFile = "failure.txt"

// Title says which promise is violated by whom, and how often.
func (j Judgment) Title(by string) string {
	first := j.Broken[0]
	title := fmt.Sprintf("%s is violated%s", Named(first.Property), by)
	if first.Count > 1 {
		title += fmt.Sprintf(", %d times", first.Count)
	}
	return title + "."
}

// InShort is a failure in a line, without a full stop: what the lock did wrong, and its title; or the title and the
// earlier storm that failed in the same way.
func (j Judgment) InShort(title, like string) string {
	title = strings.TrimSuffix(title, ".")
	if like == "" {
		return j.Reason() + ": " + title
	}
	return title + ", as in storm " + like
}

// Reason says in a line, without a full stop, what the lock did wrong.
func (j Judgment) Reason() string {
	f := j.Broken[0]
	if f.Duty == checker.GrantsFreeLock || f.Duty == checker.GrantsEachClient {
		return waits(f)
	}
	text, is := dutyBroken[f.Duty]
	if !is {
		text = f.Property.Broken()
	}
	if f.Duty == checker.TellsTheTruth {
		for _, e := range f.Events {
			if e.Role == checker.RoleLoss {
				return fmt.Sprintf("A release of client %d deletes another holder's key", e.Client)
			}
		}
	}
	if len(f.Causes) > 0 && len(f.Causes[0].Evidence) > 0 && f.Property != checker.Cleanup {
		text += ": " + f.Causes[0].Evidence[0].Text
	}
	return text
}

// waits says who waits for the lock in vain, and how others fare.
func waits(f checker.Finding) string {
	e := f.Events[0]
	if f.Duty == checker.GrantsEachClient {
		return fmt.Sprintf("Client %d waits for the lock while others are granted it again and again", e.Client)
	}
	return fmt.Sprintf("Nobody is granted a free lock for %s, although client %d waits for it", textfmt.FourDigits(e.To.Sub(e.From)), e.Client)
}

// dutyBroken says of a part of the contract what a lock does that breaks it.
var dutyBroken = map[checker.Duty]string{
	checker.ReturnsInTime:    "A call does not return in time",
	checker.EndsWithContext:  "A call goes on after its context has ended",
	checker.GrantsValidity:   "The lock grants a hold that is over already",
	checker.RefusesShortTTL:  "The lock grants a TTL that it cannot keep",
	checker.EndsWithRelease:  "A hold that was released is extended",
	checker.TellsTheTruth:    "What an extension or a release reports is not true",
	checker.SeparatesNames:   "The lock confuses two resources",
	checker.KeepsHeldKeys:    "A hold's key is deleted or extended, and not by its holder",
	checker.RenewsHolds:      "A hold is not renewed in time by the lock that renews it",
	checker.NotifiesOfTheEnd: "A holder learns too late that its hold is over",
}

// Brief returns what a failure shows on a screen: what happened, what that breaks, and the notes that
// are not empty.
func (j Judgment) Brief(notes ...string) []string {
	lines := clipped(happened(j.Broken[0]), storyLines)
	for _, said := range append([]string{j.brokenText(), j.remedies(), j.others()}, notes...) {
		if said != "" {
			lines = append(lines, clipped(textfmt.Sentence(said), noteLines)...)
		}
	}
	return lines
}

// happened tells the first violation of a property, which faults went on, and what is seen instead of
// a broken assumption. The violation comes last: if there is no room for the earliest faults, they are
// left out.
func happened(f checker.Finding) string {
	f.Causes = slices.DeleteFunc(slices.Clone(f.Causes), func(c checker.Cause) bool { return c.Assumption != "" })
	text := textfmt.Sentence(f.Story()) + "."
	for left := 1; len(textfmt.Lines(text, ScreenWidth)) > storyLines; left++ {
		first := slices.IndexFunc(f.Events, func(e checker.Event) bool { return e.Role == checker.RoleFault })
		if first < 0 {
			break
		}
		f.Events = slices.Delete(slices.Clone(f.Events), first, first+1)
		text = fmt.Sprintf("%s. Left out here: %s.", textfmt.Sentence(f.Story()), textfmt.Count(left, "earlier fault"))
	}
	return text
}

// remedies says what helps against the broken assumptions.
func (j Judgment) remedies() string {
	if all := j.Broken[0].Remedies(); len(all) > 0 {
		return "What helps: " + strings.Join(all, " ")
	}
	return ""
}

// brokenText names the assumption that is broken, with the evidence, or, if none is seen to be, the promise.
func (j Judgment) brokenText() string {
	var texts []string
	for _, c := range j.Broken[0].Causes {
		if c.Assumption != "" {
			texts = append(texts, fmt.Sprintf("%s (%s)", c.Assumption.Text(), c.Shown()))
		}
	}
	if len(texts) == 1 && j.Broken[0].Causes[0].Assumption == checker.OnlyHolder { // a fault deletes and sets no key for another client
		return "Broken by the lock's own requests: " + texts[0] + "."
	}
	if len(texts) > 0 {
		return "Broken assumption: " + strings.Join(texts, "; ") + "."
	}
	return "Broken promise: " + j.Broken[0].Property.Promise() + "."
}

// others names the other promises that the run violates.
func (j Judgment) others() string {
	var names []string
	for _, b := range j.Broken[1:] {
		names = append(names, Named(b.Property))
	}
	if len(names) == 0 {
		return ""
	}
	return "Violated, too: " + textfmt.List(names) + "."
}

// Story tells all that the run violates, in paragraphs that end with a line break.
func (j Judgment) Story() string {
	var b strings.Builder
	first := j.Broken[0]
	fmt.Fprintf(&b, "%s\n\n%s promises: %s.\n", textfmt.Sentence(first.Story()), first.Property.Code(), first.Property.Promise())
	for _, more := range j.Broken[1:] {
		fmt.Fprintf(&b, "\n%s is violated, too: %s\n", Named(more.Property), textfmt.Sentence(more.Story()))
	}
	if helps := j.remedies(); helps != "" {
		fmt.Fprintf(&b, "\n%s\n", helps)
	}
	return b.String()
}

// PlanText returns a plan as a storm that can be loaded.
func PlanText(name string, p nemesis.Plan) string {
	return "The plan:\n\n" + Indented(scenarios.Storm{Name: name, Plan: p}.Text())
}

// Indented indents a text as a block.
func Indented(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t") + "\n"
}

// clipped breaks a text into lines for a screen, at most so many.
func clipped(text string, most int) []string {
	lines := textfmt.Lines(text, ScreenWidth)
	if len(lines) > most {
		lines = append(lines[:most-1], lines[most-1]+" …")
	}
	return lines
}
