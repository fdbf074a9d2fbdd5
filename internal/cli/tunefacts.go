package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"go.yaml.in/yaml/v3"
)

// fact is a fact or a goal that tune accepts as NAME=VALUE: a field of a question.
type fact struct {
	name, field, what string
	values            []string // if there are few
}

// facts lists them.
var facts = []fact{
	{name: "nodes", field: "nodes", what: "number of nodes (default 5)"},
	{name: "round-trip", field: "round_trip", what: "distribution of a node's round trip"},
	{name: "clock-ppm", field: "clocks.rate_ppm", what: "largest clock rate error, in ppm"},
	{name: "largest-step", field: "clocks.largest_step", what: "largest step of a node's wall clock"},
	{name: "pause-every", field: "pauses.every", what: "mean time between two pauses of a client"},
	{name: "pause-length", field: "pauses.length", what: "distribution of the length of a pause"},
	{name: "pause-bound", field: "pauses.bound", what: "largest total time of all pauses during one hold"},
	{name: "pauses-unbounded", field: "pauses.unbounded", what: "true: pauses have no known bound", values: trueFalse},
	{name: "node-crash-every", field: "crashes.node_every", what: "mean time between two crashes of a node"},
	{name: "client-crash-every", field: "crashes.client_every", what: "mean time between two crashes of a client"},
	{name: "restart-delay", field: "crashes.restart_delay", what: "fixed time until a crashed node restarts, if you cannot choose it"},
	{name: "persistence", field: "crashes.persistence", what: "persistence of the nodes: none, aof-everysec or aof-always", values: texts(nemesis.Persistences)},
	{name: "hold", field: "hold", what: "distribution of the time for which a client holds the lock"},
	{name: "clients", field: "contention.clients", what: "number of clients that want the same lock (default 1)"},
	{name: "think", field: "contention.think", what: "distribution of the time between two holds of a client"},
	{name: "fence", field: "fence_checked", what: "true: the resource checks fences on reads and writes", values: trueFalse},
	{name: "ttl", field: "ttl", what: "the only TTL to weigh, if you cannot choose it"},
	{name: "longest-ttl", field: "longest_ttl", what: "longest acceptable TTL (default 10m)"},
	{name: "no-extension", field: "no_extension", what: "true: holds cannot be extended", values: trueFalse},
	{name: "availability", field: "want.availability", what: "goal: share of the time in which the lock is available, such as 0.999"},
	{name: "acquire-p99", field: "want.acquire_p99", what: "goal: 99th percentile of the time to acquire a free lock"},
	{name: "violations", field: "want.violations_per_billion", what: "goal: largest number of violations per 10⁹ grants"},
}

var trueFalse = []string{"true", "false"}

// distributions are the fields for which 500us and 1ms..5ms are short forms.
var distributions = []string{"round_trip", "pauses.length", "hold", "contention.think"}

// set adds the fact to a file of facts, by its field.
func (f fact) set(file map[string]any, text string) error {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil || value == nil {
		return fmt.Errorf("%s: want %s", f.name, f.what)
	}
	if low, is := value.(string); is && slices.Contains(distributions, f.field) {
		low, high, isRange := strings.Cut(low, "..")
		if !isRange {
			high = low
		}
		_, bad := time.ParseDuration(low)
		if _, err := time.ParseDuration(high); bad != nil || err != nil {
			return fmt.Errorf("%s: %q is no distribution: want 500us, 1ms..5ms or {max: 5ms, log_normal: {median: 500us, sigma: 0.4}}", f.name, text)
		}
		value = map[string]string{"min": low, "max": high}
	}
	if group, field, is := strings.Cut(f.field, "."); is {
		fields, _ := file[group].(map[string]any)
		if fields == nil {
			fields = map[string]any{}
		}
		fields[field] = value
		file[group] = fields
	} else {
		file[f.field] = value
	}
	return nil
}

// factWord is an argument that is a fact; ./a=b is a file.
var factWord = regexp.MustCompile(`^([a-z][a-z0-9_-]*)=(.*)$`)

// question returns the question that files and facts ask, in any order; of two equal names the later counts.
// The facts are like a last file.
func question(args []string) (tune.Question, error) {
	var files []string
	given := map[string]string{}
	for _, arg := range args {
		word := factWord.FindStringSubmatch(arg)
		switch {
		case word == nil && slices.Contains(factNames(), arg):
			return tune.Question{}, fmt.Errorf("%s: want %s=VALUE", arg, arg)
		case word == nil:
			files = append(files, arg)
		case !slices.Contains(factNames(), word[1]):
			return tune.Question{}, &textfmt.UnknownError{What: "fact", Name: word[1], Known: factNames()}
		default:
			given[word[1]] = word[2]
		}
	}
	q, err := tune.Load(files...)
	if err != nil || len(given) == 0 {
		return q, err
	}
	all := map[string]any{}
	for _, f := range facts {
		text, is := given[f.name]
		if !is {
			continue
		}
		alone, scratch := map[string]any{}, tune.Usual()
		if err := cmp.Or(f.set(alone, text), f.set(all, text)); err != nil {
			return q, err
		}
		if err := add(&scratch, alone); err != nil {
			return q, fmt.Errorf("%s: %s", f.name, strings.TrimPrefix(strings.TrimPrefix(err.Error(), "line 1: "), f.field+": "))
		}
	}
	return q, add(&q, all)
}

func add(q *tune.Question, file map[string]any) error {
	text, err := json.Marshal(file)
	if err == nil {
		err = q.Add(text, ".")
	}
	return err
}

func factNames() (names []string) {
	for _, f := range facts {
		names = append(names, f.name)
	}
	return names
}

// factsHelp lists the facts for the help of the command.
func factsHelp() string {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "  %-19s %s\n", f.name, f.what)
	}
	return b.String()
}
