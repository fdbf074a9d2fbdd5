package checker

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Story puts a finding into words that a person can follow, in one paragraph.
func (f Finding) Story() string { return strings.Join(f.Lines(), " ") }

// Lines is the story with a line for each thing that happened, and by itself what is
// concluded from it. Nothing is broken within a line.
func (f Finding) Lines() []string {
	if f.told != "" {
		return []string{f.told}
	}
	var t text
	if f.Undecided != "" {
		t.sentence(f.Undecided)
		if len(f.Events) > 0 {
			t.clause("up to there: ")
		}
	}
	t.list(f.Events)
	if m := f.Meanwhile; len(m) > 0 {
		t.sentence("")
		if m[0].Kind != NoFault && m[0].Kind != NoFaultThen {
			t.add("Meanwhile: ")
		}
		t.list(m)
	}
	for i, c := range f.Causes {
		if i == 0 {
			t.sentence(c.heading())
		} else {
			t.clause("and ")
		}
		if c.Assumption == "" {
			t.list(c.Evidence)
			continue
		}
		t.add(fmt.Sprintf("%s (%s)", c.Assumption.Text(), c.Shown()))
	}
	return t.lines
}

// Shown is the evidence of the cause as a clause: what is seen in the history.
func (c Cause) Shown() string {
	var t text
	t.list(c.Evidence)
	return strings.Join(t.lines, " ")
}

// heading says whether an assumption was broken.
func (c Cause) heading() string {
	switch {
	case c.Assumption != "":
		return "Broken assumption: "
	case c.Faultless:
		return "No fault took place: "
	}
	return "No assumption is seen to be broken: "
}

// text is lines that are being written.
type text struct{ lines []string }

// add writes on in the last line.
func (t *text) add(words string) {
	if len(t.lines) == 0 {
		t.lines = []string{""}
	}
	t.lines[len(t.lines)-1] += words
}

// clause begins a line that goes on with the sentence, and sentence one that does not.
func (t *text) clause(words string)   { t.begin(";", words) }
func (t *text) sentence(words string) { t.begin(".", words) }

func (t *text) begin(end, words string) {
	if last := len(t.lines) - 1; last >= 0 {
		t.lines[last] += end
	}
	t.lines = append(t.lines, words)
}

// list writes statements one after another.
func (t *text) list(list []Statement) {
	for i := range list {
		if i > 0 {
			if between := list[i-1].before(&list[i]); between != "" {
				t.add(between)
			} else {
				t.clause("")
			}
		}
		t.add(list[i].String())
	}
}

// before is what stands between a statement and the next, which goes on in its line; "": the
// next begins a line.
func (s *Statement) before(next *Statement) string {
	switch next.Kind {
	case HoldEnded:
		return " "
	case Overlap, NobodyGranted, ValidityOver, ValidityLess:
		return ", "
	case ClocksAhead, LeaderAhead, ClockBehind:
		if s.isClock() {
			return ", and "
		}
		return ": "
	}
	switch s.Kind {
	case LostUpdate, NoOrder:
		return ": "
	case StaleRead:
		return ", "
	}
	if s.Kind == Accessed && s.Detail == "stale" {
		return ": "
	}
	return ""
}

func (s *Statement) isClock() bool {
	return s.Kind == ClocksAhead || s.Kind == LeaderAhead || s.Kind == ClockBehind
}

// String puts a statement into words.
func (s Statement) String() string {
	for _, render := range []func(*Statement) string{(*Statement).event, (*Statement).breach, (*Statement).evidence, (*Statement).obstacle, (*Statement).basis} {
		if text := render(&s); text != "" {
			return text
		}
	}
	return string(s.Kind)
}

// resource is as much of the resource's name as a line has room for.
func (s *Statement) resource() string { return textfmt.Name(s.Resource) }

// lock names the resource and the token.
func (s *Statement) lock() string { return fmt.Sprintf("%q (token %s)", s.resource(), short(s.Token)) }

// event renders what happened to holds, sections and fences.
func (s *Statement) event() string {
	switch s.Kind {
	case FaultInjected:
		return s.fault()
	case NoFault:
		return "No fault took place"
	case NoFaultThen:
		return "No fault went on meanwhile"
	case HoldBegan:
		return s.holdBegan()
	case HoldEnded:
		switch {
		case s.Detail == "empty":
			return "with nothing left of it"
		case s.Detail == "beyond":
			return "and held it beyond that"
		}
		return "and held it " + s.End.until("it", "its validity")
	case Overlap:
		if s.For == 0 && s.End.By == history.End.String() {
			return fmt.Sprintf("while client %d still held it: their %ss begin to overlap, and the history ends", s.Client, s.Detail)
		}
		who := fmt.Sprintf("client %d", s.End.Client)
		return fmt.Sprintf("while client %d still held it: their %ss overlap by %s, %s", s.Client, s.Detail, textfmt.FourDigits(s.For), s.End.until(who, "the validity of "+who))
	case NeverFree:
		return fmt.Sprintf("at no point from %s on was the lock free, client %d held it", at(s.At), s.Client)
	case LateExtension:
		when := "only then, at " + at(s.At)
		if s.More {
			when = "at " + at(s.At)
		}
		return fmt.Sprintf("%s, client %d was granted more time, as if it had held it all along", when, s.Client)
	case FencedGrant:
		return fmt.Sprintf("client %d was granted %s at %s with the fence %d", s.Client, s.lock(), at(s.At), s.Fence)
	case FencedAfter:
		when := "which called acquire after that"
		switch s.Detail {
		case "ended":
			when = fmt.Sprintf("which came after client %d had ceased to hold it", s.Other)
		case "over":
			when = "whose hold ended after that and before its grant returned"
		}
		return fmt.Sprintf("client %d, %s, was granted it (token %s) at %s with the fence %d", s.Client, when, short(s.Token), at(s.At), s.Fence)
	case LostUpdate:
		return fmt.Sprintf("lost update on %q", s.resource())
	case StaleRead:
		return fmt.Sprintf("on %q", s.resource())
	case Accessed:
		return s.accessed()
	case ValueBefore:
		if s.Detail == "first" {
			return fmt.Sprintf("a guarded resource is %d at first", s.Read)
		}
		return fmt.Sprintf("it was %d before", s.Read)
	case NoOrder:
		return fmt.Sprintf("no order of these sections of %q, from the value %d on, explains what they read", s.resource(), s.Read)
	case MoreSections:
		return fmt.Sprintf("and %d more", s.Count)
	}
	return ""
}

func (s *Statement) fault() string {
	text, back := fmt.Sprintf("%s at %s", s.Detail, at(s.At)), ""
	if s.Left != "" {
		back = " and is back " + s.Left
	}
	switch {
	case !s.More:
		return text
	case s.To == s.At:
		return text + back + " at once"
	case back != "":
		return text + back + " at " + at(s.To)
	}
	return text + ", until " + at(s.To)
}

func (s *Statement) holdBegan() string {
	how := map[string]string{
		"granted": "was granted", "extended": "was granted more time for",
		"acted": "acted, its acquire not having returned, as the holder of",
	}[s.Detail]
	text := fmt.Sprintf("client %d %s %s at %s", s.Client, how, s.lock(), at(s.At))
	switch {
	case s.More:
		text += ", without an end"
	case s.Validity > 0:
		text += fmt.Sprintf(" with %s of validity left", textfmt.FourDigits(s.Validity))
	}
	if s.To > s.At {
		text += fmt.Sprintf(" and was last granted more time at %s", at(s.To))
	}
	return text
}

// until says what ended a hold.
func (e *End) until(who, validity string) string {
	what := validity + " ended"
	switch e.By {
	case history.End.String():
		return "until the history ended"
	case history.Release.String():
		what = who + " called release"
	case history.Lost.String():
		what = who + " was told of the loss"
	case history.Expiring.String():
		what = who + " was warned"
	case history.Kill.String():
		what = who + " died"
	}
	return "until " + what + " at " + at(e.At)
}

func (s *Statement) accessed() string {
	text := fmt.Sprintf("client %d (token %s) ", s.Client, short(s.Token))
	if !s.More {
		text += fmt.Sprintf("read %d at %s and ", s.Read, at(s.From))
	}
	text += fmt.Sprintf("wrote %d at %s", s.Wrote, at(s.At))
	if s.To.Sub(s.At) > noticeable {
		text += fmt.Sprintf(", which arrived at %s", at(s.To))
	}
	switch s.Detail {
	case "stale":
		text += fmt.Sprintf(", but %d was not the value at any time then", s.Read)
	case "before":
		text += " before it"
	}
	return text
}

// breach renders waits, calls and keys that broke a promise.
func (s *Statement) breach() string {
	switch s.Kind {
	case WaitedLong:
		switch s.Detail {
		case "refused":
			return fmt.Sprintf("at %s client %d was refused %q once more", at(s.At), s.Client, s.resource())
		case "granted":
			return fmt.Sprintf("client %d was granted %q only at %s, having called acquire at %s", s.Client, s.resource(), at(s.At), at(s.Call))
		}
		return fmt.Sprintf("at %s client %d still waited for %q, having called acquire at %s", at(s.At), s.Client, s.resource(), at(s.Call))
	case NobodyGranted:
		return fmt.Sprintf("and nobody had been granted it since %s, though nobody held it, no fault that can hold up a grant began or ended, and the longest TTL, %v, and the bound, %v, had passed",
			at(s.At), s.TTL, s.Bound)
	case RefusedInRow:
		return fmt.Sprintf("client %d was refused %q at %s in a row, from %s to %s, though it reached %v and nobody competed",
			s.Client, s.resource(), counted(s.Count, "try"), at(s.From), at(s.At), s.Share)
	case KeyLeft:
		if s.Node == 0 {
			return fmt.Sprintf("the store still kept the entry of %s at %s, %v after client %d had given it up, though nothing was in its way all that time",
				s.lock(), at(s.At), s.For, s.Client)
		}
		return fmt.Sprintf("node %d still kept the key of %s at %s, %v after client %d had given it up, though it was in reach all that time",
			s.Node, s.lock(), at(s.At), s.For, s.Client)
	case CallSlow:
		return fmt.Sprintf("client %d called %s of %s at %s and it took %s to return, more than %s", s.Client, s.Detail, s.lock(), at(s.Call), textfmt.FourDigits(s.For), s.Bound)
	case CallOpen:
		return fmt.Sprintf("client %d called %s of %s at %s and it had not returned %s later, when the history ended; the bound is %s",
			s.Client, s.Detail, s.lock(), at(s.Call), textfmt.FourDigits(s.For), s.Bound)
	case TTLImpossible:
		what := map[string]string{"grant": "granted", "extension": "granted an extension of"}[s.Detail]
		return fmt.Sprintf("client %d was %s %s at %s for a TTL of %s, which cannot be kept and has to be refused", s.Client, what, s.lock(), at(s.At), s.TTL)
	case ExtendedReleased:
		return fmt.Sprintf("client %d called extend of %s at %s and was told at %s that it was extended, but had released it at %s",
			s.Client, s.lock(), at(s.Call), at(s.At), at(s.To))
	case NoValidity:
		what := map[string]string{"grant": "a grant", "extension": "an extension"}[s.Detail]
		return fmt.Sprintf("client %d got %s of %s at %s with %s of validity left", s.Client, what, s.lock(), at(s.At), textfmt.FourDigits(s.Validity))
	case ValidityOver:
		return fmt.Sprintf("as the lock says; by its clock the validity had ended %s before the check of it", textfmt.FourDigits(s.For))
	case ValidityLess:
		return fmt.Sprintf("as the lock says; by its clock it was no more than %s at the check of it", textfmt.FourDigits(s.For))
	case KeyDeleted:
		if s.Node == 0 {
			return fmt.Sprintf("the entry of %s was deleted by %s at %s, while client %d held the lock since %s and had not called release",
				s.lock(), clientOrSome(s.Other), at(s.At), s.Client, at(s.From))
		}
		return fmt.Sprintf("node %d deleted the key of %s at %s for %s, while client %d held the lock since %s and had not called release",
			s.Node, s.lock(), at(s.At), clientOrSome(s.Other), s.Client, at(s.From))
	case ReleaseDenied:
		if s.Share == nil {
			return fmt.Sprintf("client %d called release of %s at %s and was told at %s that it was held no more, but its request deleted the entry in between",
				s.Client, s.lock(), at(s.Call), at(s.At))
		}
		return fmt.Sprintf("client %d called release of %s at %s and was told at %s that it was held no more, but %v deleted the key in between",
			s.Client, s.lock(), at(s.Call), at(s.At), s.Share)
	case Unbacked:
		if s.Share == nil {
			return fmt.Sprintf("client %d called release of %s at %s and was told at %s that it was still held, but no client deleted the entry in between",
				s.Client, s.lock(), at(s.Call), at(s.At))
		}
		told, done := "that it was still held", "deleted"
		if s.Detail == "extend" {
			told, done = "that it was extended", "extended"
		}
		few := fmt.Sprintf("only %v", s.Share)
		if s.Share.Nodes == 0 {
			few = "no node"
		}
		return fmt.Sprintf("client %d called %s of %s at %s and was told at %s %s, but %s %s the key in between",
			s.Client, s.Detail, s.lock(), at(s.Call), at(s.At), told, few, done)
	case DeletedInstead:
		return fmt.Sprintf("instead, a request of client %d deleted client %d's key (token %s) on node %d at %s", s.Client, s.Other, short(s.Token), s.Node, at(s.At))
	case HeldBeyond:
		return fmt.Sprintf("client %d held %s since %s for a time to live that was over at %s", s.Client, s.lock(), at(s.From), at(s.To))
	case RanOn:
		return fmt.Sprintf("it ran on until %s, for %s, more than %s, and its context had not ended", at(s.At), textfmt.FourDigits(s.For), s.Bound)
	case ToldLate:
		return fmt.Sprintf("the end of validity that it was told came at %s, %s too late, more than %s", at(s.At), textfmt.FourDigits(s.For), s.Bound)
	case ToldHeld:
		return fmt.Sprintf("it asked at %s whether it held the lock, and was told that it did", at(s.At))
	}
	return ""
}

// evidence renders how it shows that an assumption was broken, or that none was.
func (s *Statement) evidence() string {
	switch s.Kind {
	case ValidityEnded:
		return fmt.Sprintf("client %d's was over at %s", s.Client, at(s.At))
	case WriteLate:
		how := fmt.Sprintf("the validity of client %d was over at %s", s.Client, at(s.To))
		switch {
		case s.Detail == "died":
			how = fmt.Sprintf("client %d died at %s", s.Client, at(s.To))
		case s.More:
			how = fmt.Sprintf("client %d was told at %s that it had lost the lock", s.Client, at(s.To))
		}
		return fmt.Sprintf("%s, and its write, called at %s, was accepted", how, at(s.At))
	case WriteOpen:
		if s.To != 0 {
			return fmt.Sprintf("client %d's, called at %s, arrived at %s, after it had called release", s.Client, at(s.At), at(s.To))
		}
		return fmt.Sprintf("client %d's, called at %s, had not returned when it released", s.Client, at(s.At))
	case StoodStill:
		if s.To == forever {
			return "it stood still from " + at(s.From) + " on"
		}
		return fmt.Sprintf("it stood still from %s to %s", at(s.From), at(s.To))
	case StoodBefore:
		return fmt.Sprintf("client %d had stood still from %s to %s, before the grant", s.Client, at(s.From), at(s.To))
	case KeyLost:
		return s.keyLost()
	case ClocksAhead:
		return fmt.Sprintf("%s of %v got ahead by %s or more", textfmt.Plural(len(s.Nodes), "the clock"), setOf(s.Nodes), textfmt.FourDigits(s.For))
	case LeaderAhead:
		return fmt.Sprintf("the clock of node %d, which led, got ahead by %s or more", s.Node, textfmt.FourDigits(s.For))
	case ClockBehind:
		return fmt.Sprintf("the clock of client %d fell behind by %s or more", s.Client, textfmt.FourDigits(s.For))
	case KeyEarly:
		return fmt.Sprintf("client %d's key was gone %s before its TTL was over, and no fault made a clock wrong", s.Client, textfmt.FourDigits(s.For))
	case KeyLived:
		counted := "the lock counted on it for longer"
		if s.More {
			counted = laterThanTTL
		}
		return fmt.Sprintf("client %d's key lived for its whole TTL, and %s", s.Client, counted)
	case NotRenewed:
		return fmt.Sprintf("the TTL of client %d's key on %v was over %s, nobody renewed it, and client %d's key was set there after that",
			s.Client, setOf(s.Nodes), times(s.Nodes), s.Other)
	case ExtendedInstead:
		return fmt.Sprintf("a request of client %d extended client %d's key (token %s) on node %d at %s", s.Client, s.Other, short(s.Token), s.Node, at(s.At))
	case DeadlineLate:
		return laterThanTTL
	case ClockReached:
		return "the clock that the lock reads had come to the end of validity at " + at(s.At)
	case CameBackEmpty:
		how := "the history does not record keys"
		if s.More {
			how = "the history records keys too late to tell more"
		}
		return fmt.Sprintf("node %d came back %s at %s; %s", s.Node, s.Detail, at(s.At), how)
	case CameBackWithout:
		return fmt.Sprintf("node %d came back %s at %s, and without the counter that it had", s.Node, s.Detail, at(s.At))
	case EntryGone:
		return s.entryGone()
	case LeadsWithout:
		return fmt.Sprintf("node %d leads it since %s without client %d's entry", s.Node, at(s.At), s.Client)
	case Leads:
		return fmt.Sprintf("node %d leads it since %s %s", s.Node, at(s.At), s.Detail)
	case SentTwice:
		return fmt.Sprintf("node %d has set client %d's key twice, by the request that was sent at %s", s.Node, s.Client, at(s.At))
	case Unreached:
		return fmt.Sprintf("it did not reach %v", setOf(s.Nodes))
	case DiedHolding:
		return fmt.Sprintf("client %d, which was granted it at %s without an end, died at %s", s.Client, at(s.From), at(s.At))
	case OldKeys:
		return fmt.Sprintf("%v still kept one from before", setOf(s.Nodes))
	}
	return s.lockItself()
}

// obstacle renders what stood in the way of those who wait.
func (s *Statement) obstacle() string {
	switch s.Kind {
	case KeyInTheWay:
		return s.keyInTheWay()
	case NoKeyInTheWay:
		return fmt.Sprintf("no recorded key of %q stood in the way", s.resource())
	case TriesEnded:
		text := "1 try was refused"
		if s.Count != 1 {
			text = fmt.Sprintf("%d tries in a row were refused", s.Count)
		}
		if s.Detail != "" {
			text += ": " + s.Detail
		}
		return text
	case StillWaits:
		return fmt.Sprintf("client %d (token %s) still waited, having called acquire at %s", s.Client, short(s.Token), at(s.Call))
	case LockGrantedNone:
		return "the lock itself granted it to nobody"
	}
	return ""
}

func (s *Statement) keyInTheWay() string {
	text := fmt.Sprintf("%v kept client %d's key (token %s), set %s", setOf(s.Nodes), s.Client, short(s.Token), times(s.Nodes))
	if s.Client == 0 {
		text = fmt.Sprintf("%v kept a key (token %s), set %s", setOf(s.Nodes), short(s.Token), times(s.Nodes))
	}
	if s.More {
		text += " with no try for it under way"
	}
	switch s.Detail {
	case withoutExpiry:
		text += ", which had no expiry"
	case extendedKey:
		text += fmt.Sprintf(", which %s went on to extend, last at %s", clientOrSome(s.Other), at(s.To))
	case outlivedTTL:
		text += fmt.Sprintf(", for %s, longer than the longest TTL, %v, and no fault made a clock slow there", textfmt.FourDigits(s.For), s.TTL)
	}
	if s.End == nil {
		return text
	}
	how := "had called release"
	switch s.End.By {
	case history.Refused.String():
		how = "had been refused"
		if s.Left != "" {
			return text + fmt.Sprintf("; client %d had been refused at %s (%s)", s.End.Client, at(s.End.At), s.Left)
		}
	case history.Lost.String():
		how = "had been told of its loss"
	case history.Lapse.String():
		return text + fmt.Sprintf("; its validity had ended at %s", at(s.End.At))
	case history.Kill.String():
		how = "had died"
	}
	return text + fmt.Sprintf("; client %d %s at %s", s.End.Client, how, at(s.End.At))
}

// lockItself renders what no fault explains.
func (s *Statement) lockItself() string {
	switch s.Kind {
	case FewVotes:
		few := fmt.Sprintf("client %d was granted the lock with its key on %v", s.Other, s.Share)
		if s.More || s.Client == s.Other {
			return few
		}
		return fmt.Sprintf("no node had lost client %d's key, and client %d was granted the lock with its own on %v", s.Client, s.Other, s.Share)
	case TwoKeys:
		return fmt.Sprintf("%v kept client %d's key and client %d's at a time", setOf(s.Nodes), s.Client, s.Other)
	case GrantedBoth:
		switch {
		case s.Client != 0:
			return fmt.Sprintf("no node had lost client %d's key, and the lock granted it to both", s.Client)
		case s.Detail == recordedLate:
			return "the lock itself granted it to both, as far as can be told from a history that records the nodes' keys late"
		case s.More:
			return "the lock itself granted it to both, as far as can be told from a history that does not record the nodes' keys"
		}
		return "the lock itself granted it to both"
	case TryOutlived:
		took, gone := "took", "expired before it returned"
		if s.More {
			took, gone = "has taken", "expired already"
		}
		return fmt.Sprintf("client %d's try, called at %s, %s %s, longer than its TTL, %v: %s on %v %s",
			s.Client, at(s.Call), took, textfmt.FourDigits(s.For), s.TTL, textfmt.Plural(len(s.Nodes), "its key"), setOf(s.Nodes), gone)
	case LockRefused:
		return "the lock itself refused"
	case LockLeftKey:
		return "the lock itself did not see to it"
	case NeverExpires:
		return fmt.Sprintf("client %d's key on node %d (token %s) never got an expiry", s.Client, s.Node, short(s.Token))
	case LockDrewFences:
		return "no node is seen to have lost its state in between; the lock itself drew both fences"
	case NobodyLate:
		return "nobody came late, and no two of them are seen to have held it at once"
	}
	return ""
}

func (s *Statement) keyLost() string {
	lost, when := setOf(s.Nodes), times(s.Nodes)
	by := "somebody else"
	if s.Other != 0 {
		by = fmt.Sprintf("client %d", s.Other)
	}
	switch s.Detail {
	case "forgotten":
		return fmt.Sprintf("%v forgot client %d's key %s", lost, s.Client, when)
	case "evicted":
		return fmt.Sprintf("%v evicted client %d's key %s", lost, s.Client, when)
	case "rolled-back":
		return fmt.Sprintf("%v went back to a state without client %d's key %s", lost, s.Client, when)
	case "earlier-expiry":
		return fmt.Sprintf("%v came back with an earlier expiry of client %d's key, which was over %s", lost, s.Client, when)
	case "deleted":
		return fmt.Sprintf("%v deleted client %d's key %s for %s", lost, s.Client, when, by)
	case "overwritten":
		return fmt.Sprintf("%v overwrote client %d's key %s for %s", lost, s.Client, when, by)
	case "by-itself":
		return fmt.Sprintf("client %d's own request took its key away on %v %s, and it went on holding the lock", s.Client, lost, when)
	case "expired-for":
		return fmt.Sprintf("on %v client %d's key had expired %s, as %s had asked", lost, s.Client, when, by)
	}
	return fmt.Sprintf("on %v client %d's key had expired %s, and it went on holding the lock", lost, s.Client, when)
}

func (s *Statement) entryGone() string {
	how := fmt.Sprintf("%s at %s", s.Detail, at(s.At))
	switch s.Detail {
	case history.SessionOver:
		how = fmt.Sprintf("gone since %s, its session being over", at(s.At))
	case history.Expired:
		how = fmt.Sprintf("gone since %s, its time to live being over", at(s.At))
	case history.Forgotten:
		how = fmt.Sprintf("forgotten by the store at %s", at(s.At))
	}
	switch {
	case s.More:
		return fmt.Sprintf("client %d's entry was %s, and it went on holding the lock", s.Client, how)
	case s.Other != 0:
		return fmt.Sprintf("client %d's entry was %s; the lock granted it to client %d all the same", s.Client, how, s.Other)
	}
	return fmt.Sprintf("client %d's entry was %s; the lock granted it all the same", s.Client, how)
}

// times tells when something befell nodes: of two nodes the time of each, in the order in
// which they are named, of more the first and the last. Times that are hardly apart are one.
func times(list []NodeTime) string {
	first, last := list[0].At, list[0].At
	for _, n := range list {
		first, last = min(first, n.At), max(last, n.At)
	}
	switch {
	case last.Sub(first) <= noticeable:
		return "at " + at(last)
	case len(list) == 2:
		return fmt.Sprintf("at %s and %s", at(list[0].At), at(list[1].At))
	}
	return fmt.Sprintf("between %s and %s", at(first), at(last))
}

// setOf is the set of some nodes.
func setOf(list []NodeTime) (s nodes) {
	for _, n := range list {
		s = s.with(n.Node)
	}
	return s
}

// listed lists a set of nodes, with when something befell them.
func (s nodes) listed(when func(node int) history.Time) (list []NodeTime) {
	for rest := s; rest != 0; rest = rest.without(rest.first()) {
		n := NodeTime{Node: rest.first()}
		if when != nil {
			n.At = when(n.Node)
		}
		list = append(list, n)
	}
	return list
}

// String tells a share, as in "3 of 5 nodes" or "3 of 7 nodes (5 of 9 votes)".
func (s *Share) String() string {
	text := fmt.Sprintf("%d of %d nodes", s.Nodes, s.OfNodes)
	if s.OfVotes == 0 {
		return text
	}
	return fmt.Sprintf("%s (%d of %d votes)", text, s.Votes, s.OfVotes)
}

// endUnknown says which events are missing.
func (s *Statement) endUnknown() string {
	began := Statement{Kind: HoldBegan, Client: s.Client, Resource: s.Resource, Token: s.Token, Detail: "granted", At: s.At, Validity: s.Validity}
	why, remedy := "without an until", "write until on the clock of t"
	if s.More {
		why = "with an until that is not on the clock of t"
		remedy = `write a lapse event when the validity of a hold ends, with "until_clock":"client" in the header, or write until on the clock of t`
	}
	return fmt.Sprintf("%s, %s; client %d was granted it at %s, and whether client %d still held it then is not known: %s",
		began.holdBegan(), why, s.Other, at(s.To), s.Client, remedy)
}

// basis renders what a verdict other than violated rests on.
func (s *Statement) basis() string {
	switch s.Kind {
	case NoOverlap:
		text := fmt.Sprintf("%s, and no two overlap", counted(s.Count, s.Detail))
		if s.Of > 0 {
			text += fmt.Sprintf("; over before the grant returned: %d", s.Of)
		}
		return text
	case UndecidedOverlap:
		return fmt.Sprintf("client %d acted at %s as the holder of %s, its acquire not having returned, but that the act (%s) came to something was told only at %s, with more than %d begins and ends of other %ss in between: whether it overlapped one of those is not known",
			s.Client, at(s.At), s.lock(), s.Left, at(s.To), maxWaiting, s.Detail)
	case EndUnknown:
		return s.endUnknown()
	case UndecidedOrder:
		return fmt.Sprintf("%q is undecided from %s on: a search for an order of the next %s %s; decided are the %d accepted ones before",
			s.resource(), at(s.At), counted(s.Count, "section"), s.Detail, s.Of)
	case InOrder:
		if s.More {
			return fmt.Sprintf("in all %d of %s are as if one after another", s.Count, counted(s.Of, "accepted section"))
		}
		return fmt.Sprintf("%s as if one after another", counted(s.Count, "accepted section"))
	case FencesGrow:
		return fmt.Sprintf("%s, each above those before it", counted(s.Count, "fence"))
	case TooSoon, OutOfReach:
		why := fmt.Sprintf("the history ends at %s, too soon to tell", at(s.At))
		if s.Kind == OutOfReach {
			why = "nobody who waits for it reaches a majority of the nodes"
			if len(s.Nodes) > 0 {
				why += fmt.Sprintf(": %v last answered their watch %s", setOf(s.Nodes), times(s.Nodes))
			}
		}
		return fmt.Sprintf("nobody was granted %q after faults had last done something, at %s, and %s", s.resource(), at(s.From), why)
	case WaitsBounded:
		return fmt.Sprintf("%s, and none was waited for longer than %v when nothing stood in the way", counted(s.Count, "grant"), s.Bound)
	case FairTriesFailed:
		return fmt.Sprintf("%s reached a quiet majority with nobody competing, and not one was granted, but never %d in a row", counted(s.Count, "try"), s.Of)
	case FairTriesWon:
		return fmt.Sprintf("with nodes out of reach %d of %s succeeded that reached a quiet majority with nobody competing", s.Count, counted(s.Of, "try"))
	case KeysGone:
		return fmt.Sprintf("%s given up, and no key of them was left for longer than %v on a node in reach", counted(s.Count, "token"), s.Bound)
	case CallsKept:
		return fmt.Sprintf("%s returned as promised", counted(s.Count, "call"))
	case TruthNotJudged:
		if s.Detail == string(KeepsNothing) {
			return "whether extend and release told the truth was not judged: the lock keeps nothing on the nodes"
		}
		if s.Detail == string(EntriesUnseen) {
			return "whether release told the truth was not judged: " + plain[EntriesUnseen]
		}
		if s.Detail == string(KeysUnseen) {
			return "whether extend and release told the truth was not judged: " + plain[KeysUnseen]
		}
		return "whether extend and release told the truth was not judged, for want of the nodes' keys"
	}
	return plain[s.Kind]
}

func clientOrSome(number int) string {
	if number == 0 {
		return "a client"
	}
	return fmt.Sprintf("client %d", number)
}

// plain are the kinds without fields.
var plain = map[StatementKind]string{
	NoGrant:          "nobody was granted the lock",
	NoWrite:          "nobody wrote to a guarded resource",
	NoFence:          "no grant bears a fence",
	NoBound:          "no bound is stated",
	NobodyWaited:     "nobody waited for the lock",
	NobodyGrantedYet: "nobody was granted the lock, and nobody waited for long enough with a majority of the nodes in reach",
	NoTries:          "no number of tries is promised",
	AllReached:       "every client reached every node at all times",
	NoFairTry:        "nodes were out of reach, but no try reached a quiet majority with nobody competing",
	KeepsNothing:     "the lock keeps nothing on the nodes",
	NoKeys:           "the history does not record the nodes' keys",
	EntriesUnseen:    "the watch of the store's entries has not reported enough",
	KeysUnseen:       "the watch of the nodes' keys has not reported enough",
	NothingGivenUp:   "nothing was given up",
	NoKeyTested:      "no key that was left was on a node that stayed in reach for long enough",
	NoReturn:         "no call returned",
	NotJudged:        "it was not judged",
}

// at prints an instant for a person, to four digits or so.
func at(t history.Time) string { return textfmt.Instant(t) }

// short is as much of a token as a person compares.
func short(token string) string { return textfmt.Token(token) }

// counted prints a number of things.
func counted(n int, thing string) string {
	if n == 0 {
		return "no " + thing
	}
	return textfmt.Count(n, thing)
}
