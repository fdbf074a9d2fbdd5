package nemesis

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const reference = "../docs/faults.md"

const preface = `# Faults

Made by ` + "`make bless`" + ` from the table of kinds. What each backend can carry out, ` + "`lockstorm list`" + ` says.

A plan is a list of faults. Each has one kind with its fields, a ` + "`start`" + `, and an ` + "`end`" + ` where the kind can end.

` + "```yaml" + `
plan:
  - crash: {node: 3}
    start: {client: 1, step: granted, plus: 20ms}   # when client 1 is granted the lock for the first time, and 20 ms later
    end: {after: 0s}                                # at once
  - partition: {clients: [2], nodes: [4, 5], way: replies}
    start: {at: 1s}                                 # since the run began
    end: {client: 2, step: reply, k: 3, count: 2}   # at the third reply of a round, the second time that there is one
` + "```" + `

Nodes and clients are numbered from 1. An empty or missing list of ` + "`clients`" + ` or ` + "`nodes`" + ` means all of them; a missing ` + "`way`" + ` means both. ` + "`node: all`" + ` means a fault on each node, however many there are. Traces number these faults separately, so a later fault has a higher number there than in the plan. Two faults cannot hold the same target (a server, a link, the rate of a clock, …) at the same time. An example of each kind, drawn at random:
`

// Law: the page on faults in docs says of each kind what it is.
func TestPageOfFaultsIsCurrent(t *testing.T) {
	got := preface
	for i, k := range kinds {
		got += fmt.Sprintf("\n## %s\n\n%s. Fields: %s.\n\n```yaml\n%s```\n",
			k.zero.Kind(), upper(k.zero.about()), strings.Join(fields(reflect.TypeOf(k.zero).Elem()), ", "), example(t, k.zero, uint64(i)))
	}
	testkit.GoldenFile(t, reference, got, "A kind of fault, one of its fields or the example that is drawn of it is now another.")
}

// example draws a fault of a kind and prints it.
func example(t *testing.T, kind Action, seed uint64) string {
	s := Setting{Nodes: 5, Clients: 3, Persistence: EverySecond, Replication: &Distribution{}, Horizon: 10 * time.Second}
	if unmetRequirement(kind, s) != nil {
		s.Store = &Store{}
	}
	d := newParamGenerator(s, time.Second, rand.NewPCG(seed, 0))
	action := kind.random(d)
	f := Fault{Action: action, Start: At(round(d.upTo(d.scale)))}
	if e := action.ending(); e.forbidden == "" && e.automatic == "" {
		f.End = After(round(d.length()))
	}
	s.Plan = Plan{f}
	if err := s.Validate(); err != nil {
		t.Errorf("%s: %v", kind.Kind(), err)
	}
	text, err := yaml.Marshal(Plan{f})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fields describes what a kind can say.
func fields(of reflect.Type) (list []string) {
	for i := range of.NumField() {
		name, options, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
		if strings.Contains(options, "inline") {
			list = append(list, fields(of.Field(i).Type)...)
			continue
		}
		word := words[of.Field(i).Type]
		if word == "" {
			word = "a " + of.Field(i).Type.Kind().String()
		}
		if strings.HasSuffix(of.Field(i).Tag.Get("want"), " or all") {
			word += " or `all`"
		}
		text := fmt.Sprintf("`%s` (%s", name, word)
		if strings.Contains(options, "omitempty") {
			text += ", optional"
		}
		list = append(list, text+")")
	}
	return list
}

// Law: a kind on a node may be on all nodes, and says where the number of the node is.
func TestKindsOnANodeMayBeOnAll(t *testing.T) {
	for _, k := range kinds {
		of := reflect.New(reflect.TypeOf(k.zero).Elem())
		on, is := of.Interface().(onNode)
		at := slices.IndexFunc(form.Fields(of.Elem().Type()), func(f *form.Field) bool { return f.Name == "node" })
		if at < 0 {
			if is {
				t.Errorf("%s has no node", k.zero.Kind())
			}
			continue
		}
		f := form.Fields(of.Elem().Type())[at]
		of.Elem().FieldByIndex(f.Index).SetInt(AllNodes)
		if !is || *on.node() != AllNodes || f.Limit.Word != "all" {
			t.Errorf("%s: node cannot be all", k.zero.Kind())
		}
	}
}

// words say what a value is.
var words = map[reflect.Type]string{
	reflect.TypeFor[int]():           "a number",
	reflect.TypeFor[int64]():         "a number",
	reflect.TypeFor[[]int]():         "a list of numbers",
	reflect.TypeFor[[]Group]():       "a list of groups of clients and nodes",
	reflect.TypeFor[time.Duration](): "a duration",
	reflect.TypeFor[Distribution]():  "a distribution",
	reflect.TypeFor[Direction]():     "requests or replies",
	reflect.TypeFor[Heal]():          "step, slew or none",
	reflect.TypeFor[First]():         "replies or timers",
	reflect.TypeFor[ErrorName]():     "loading, oom or readonly",
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
