package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Part is a part of a scenario: some of its clients and nodes, with fewer rounds, and some faults. The
// zero value is all of it.
type Part struct {
	Clients []int  // the numbers of those that are left, at least one; nil: all
	Nodes   []int  // likewise
	Rounds  []int  // of each client that is left; nil: as many as in the scenario
	Faults  []Pick // numbered as in the part; nil: the whole plan
}

// Pick is a fault: one of a plan, or one of a kind that [nemesis.Few] lists.
type Pick struct {
	Kind   nemesis.Kind  // "": it is one of the plan
	Number int           // in the plan or in the list, from 1
	At     time.Duration // when it begins; negative: when it does there
}

// Of returns the part of a scenario. The error says what the scenario does not have.
func (p Part) Of(s Scenario) (Scenario, error) {
	if err := p.within(s); err != nil {
		return s, err
	}
	if p.Clients != nil {
		s = s.OnlyClients(p.Clients)
	}
	if p.Nodes != nil {
		s = s.OnlyNodes(p.Nodes)
	}
	if p.Rounds != nil {
		s.Clients = slices.Clone(s.Clients)
		for i, n := range p.Rounds {
			s.Clients[i].Rounds = n
		}
	}
	if p.Faults == nil {
		return s, nil
	}
	plan := nemesis.Plan{}
	for _, pick := range p.Faults {
		f, err := pick.of(s)
		if err != nil {
			return s, err
		}
		plan = append(plan, f)
	}
	s.Plan = plan
	return s, nil
}

// within returns an error if a part has more than the scenario.
func (p Part) within(s Scenario) error {
	for _, list := range []struct {
		what string
		of   []int
		most int
	}{{"client", p.Clients, len(s.Clients)}, {"node", p.Nodes, s.Nodes}} {
		for i, n := range list.of {
			if n < 1 || n > list.most || slices.Contains(list.of[:i], n) {
				return fmt.Errorf("%s %d of %d", list.what, n, list.most)
			}
		}
	}
	left := len(s.Clients)
	if p.Clients != nil {
		left = len(p.Clients)
	}
	if p.Rounds != nil && len(p.Rounds) != left {
		return fmt.Errorf("the rounds of %d clients, and there are %d", len(p.Rounds), left)
	}
	return nil
}

// of returns the fault.
func (p Pick) of(s Scenario) (f nemesis.Fault, err error) {
	list := []nemesis.Fault(s.Plan)
	if p.Kind != "" {
		if list, err = nemesis.Few(p.Kind, s.World(), s.LongestTTL()); err != nil {
			return f, err
		}
	}
	if p.Number < 1 || p.Number > len(list) {
		return f, fmt.Errorf("fault %s of %d", p, len(list))
	}
	f = list[p.Number-1]
	if p.At >= 0 {
		f.Start = nemesis.At(p.At)
	}
	return f, nil
}

// The marks of the lists of a part as text.
const (
	clientMark, nodeMark, roundMark, faultMark = "c", "n", "r", "f"
	partSeparator, listSeparator               = ",", "+"
)

// String writes what [ParsePart] reads, as in "c1+3,n1+2+3,r1+1,f2+crash4@500ms": clients 1 and 3,
// nodes 1 to 3, a round each, fault 2 of the plan, and the fourth crash, at 500 ms. It has no dot.
func (p Part) String() string {
	var parts []string
	for _, list := range []struct {
		mark    string
		numbers []int
	}{{clientMark, p.Clients}, {nodeMark, p.Nodes}, {roundMark, p.Rounds}} {
		if list.numbers == nil {
			continue
		}
		var all []string
		for _, n := range list.numbers {
			all = append(all, strconv.Itoa(n))
		}
		parts = append(parts, list.mark+strings.Join(all, listSeparator))
	}
	if p.Faults != nil {
		var all []string
		for _, f := range p.Faults {
			all = append(all, f.String())
		}
		parts = append(parts, faultMark+strings.Join(all, listSeparator))
	}
	return strings.Join(parts, partSeparator)
}

// String writes a fault of a part, as in "crash4@500ms".
func (p Pick) String() string {
	text := string(p.Kind) + strconv.Itoa(p.Number)
	if p.At >= 0 {
		text += "@" + undotted(p.At)
	}
	return text
}

// undotted writes a time with an integer, in the largest unit that has one.
func undotted(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d%u.of == 0 {
			return strconv.FormatInt(int64(d/u.of), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}

// ParsePart reads what [Part.String] writes. The error says what is wrong with the text.
func ParsePart(text string) (p Part, err error) {
	if text == "" {
		return p, nil
	}
	for list := range strings.SplitSeq(text, partSeparator) {
		mark, rest := list[:min(1, len(list))], list[min(1, len(list)):]
		switch mark {
		case clientMark:
			p.Clients, err = parseNumbers(rest)
		case nodeMark:
			p.Nodes, err = parseNumbers(rest)
		case roundMark:
			p.Rounds, err = parseNumbers(rest)
		case faultMark:
			p.Faults, err = parsePicks(rest)
		default:
			err = fmt.Errorf("%q: want lists such as c1+2, n1+2+3, r1+1 and f1+crash2@500ms", list)
		}
		if err != nil {
			return Part{}, err
		}
	}
	return p, nil
}

func parseNumbers(text string) (all []int, err error) {
	for one := range strings.SplitSeq(text, listSeparator) {
		n, err := strconv.Atoi(one)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: want a number from 1", one)
		}
		all = append(all, n)
	}
	return all, nil
}

var pickForm = regexp.MustCompile(`^([a-z-]*)([0-9]{1,9})(?:@([0-9]{1,19}(?:s|ms|us|ns)))?$`)

func parsePicks(text string) ([]Pick, error) {
	all := []Pick{}
	if text == "" {
		return all, nil
	}
	for one := range strings.SplitSeq(text, listSeparator) {
		parts := pickForm.FindStringSubmatch(one)
		if parts == nil {
			return nil, fmt.Errorf("%q: want a fault such as 2, 2@500ms or crash4@500ms", one)
		}
		p := Pick{Kind: nemesis.Kind(parts[1]), At: -1}
		var err error
		if p.Number, err = strconv.Atoi(parts[2]); err != nil {
			return nil, err
		}
		if parts[3] != "" {
			if p.At, err = time.ParseDuration(parts[3]); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	return all, nil
}
