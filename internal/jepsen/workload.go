package jepsen

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
	"olympos.io/encoding/edn"

	"github.com/lockstorm/lockstorm/model"
)

// step is an operation of a model.
type step struct {
	input   any
	unknown bool // it may have taken effect at any time after its call, or never
	call    int
	ret     int
	needs   string // in which state it must find things; "" means any
	gives   string // in which it leaves them; "" means the same
	of      *operation
}

// looks reports whether the step changes nothing wherever it is legal. A write of the current value
// changes nothing either, but elsewhere it does.
func (s *step) looks() bool { return s.gives == "" || s.gives == s.needs }

// specification is a model for a workload.
type specification struct {
	name  string
	model func(Options) porcupine.Model
	// initial returns the initial state that follows from the steps, if one does; nil means none ever does.
	initial func([]step) (string, bool)
	// steps converts the operations on one key into steps, in the order of their calls. It omits
	// those that cannot make a difference.
	steps func([]operation) ([]step, error)
	// about reports whether there is anything to judge; nil means always.
	about func([]operation) bool
}

// workload is the kind of operations in a history.
type workload struct {
	name           string
	words          []string
	specifications []specification
}

// workloads lists the known workloads. The first one that knows all words of a history is used.
var workloads = []workload{
	{"lock", []string{"acquire", "release", "lock", "unlock"}, []specification{ownerless, owned, fenced}},
	{"register", []string{"read", "write"}, []specification{register}},
	{"cas-register", []string{"read", "write", "cas"}, []specification{register}},
}

// Model returns the full name of a model: "owner-aware mutex" for itself and for "owner-aware". The
// error for an unknown name lists the models.
func Model(name string) (string, error) {
	var short []string
	for _, w := range workloads {
		for _, spec := range w.specifications {
			first, _, _ := strings.Cut(spec.name, " ")
			if name == spec.name || name == first {
				return spec.name, nil
			}
			if !slices.Contains(short, first) {
				short = append(short, first)
			}
		}
	}
	return "", fmt.Errorf("unknown model %q: want %s", name, strings.Join(short, ", "))
}

// by returns the specifications of the selected models.
func (w workload) by(models []string) ([]specification, error) {
	if len(models) == 0 {
		return w.specifications, nil
	}
	var list []specification
	for _, spec := range w.specifications {
		if slices.Contains(models, spec.name) {
			list = append(list, spec)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("a history of the workload %s is not judged as %s", w.name, strings.Join(models, " or "))
	}
	return list, nil
}

// recognise finds the workload by the names of the operations.
func recognise(words []saying) (workload, error) {
	for _, w := range workloads {
		if !slices.ContainsFunc(words, func(s saying) bool { return !slices.Contains(w.words, s.f) }) {
			return w, nil
		}
	}
	var supported []string
	for _, s := range words {
		if !slices.ContainsFunc(workloads, func(w workload) bool { return slices.Contains(w.words, s.f) }) {
			for _, w := range workloads {
				supported = append(supported, fmt.Sprintf("%s (:%s)", w.name, strings.Join(w.words, ", :")))
			}
			return workload{}, wrong(s.line, "operations with :f :%.64s cannot be judged; supported are %s", s.f, strings.Join(supported, ", "))
		}
	}
	return workload{}, mixed(words)
}

// mixed is the error for a history of several workloads.
func mixed(words []saying) error {
	home := func(f string) string {
		i := slices.IndexFunc(workloads, func(w workload) bool { return slices.Contains(w.words, f) })
		return workloads[i].name
	}
	first := words[0]
	for _, s := range words[1:] {
		if (home(s.f) == "lock") != (home(first.f) == "lock") {
			return wrong(s.line, ":%s does not go with the :%s of line %d: a history must be of one workload", s.f, first.f, first.line)
		}
	}
	panic("jepsen: the words are of one workload")
}

// The three models of a lock, from the weakest to the strongest.
var (
	ownerless = specification{
		name:  "ownerless mutex",
		model: always(model.Mutex),
		steps: func(list []operation) ([]step, error) { return lockSteps(list, false) },
	}
	owned = specification{
		name:  "owner-aware mutex",
		model: always(model.OwnedMutex),
		steps: func(list []operation) ([]step, error) { return lockSteps(list, true) },
	}
	fenced = specification{
		name:  "fenced mutex",
		model: always(model.FencedMutex),
		steps: owned.steps,
		about: func(list []operation) bool { return slices.ContainsFunc(list, isFenced) },
	}
)

func always(m porcupine.Model) func(Options) porcupine.Model {
	return func(Options) porcupine.Model { return m }
}

func isFenced(o operation) bool {
	f, err := o.fence()
	return err != nil || f != 0
}

// lockSteps converts acquires and releases into steps.
func lockSteps(list []operation, aware bool) ([]step, error) {
	who := owners(list)
	steps := make([]step, 0, len(list))
	for i := range list {
		o := &list[i]
		in := model.MutexInput{Release: o.releases()}
		held := "held"
		if aware {
			in.Owner = who[o.process]
			held = "held by " + in.Owner
			fence, err := o.fence()
			if err != nil {
				return nil, err
			}
			in.Fence = fence
		}
		s := step{input: in, unknown: o.unknown(), call: o.call, ret: o.ret, needs: "free", gives: held, of: o}
		if in.Release {
			s.needs, s.gives = held, "free"
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (o *operation) releases() bool { return o.f == "release" || o.f == "unlock" }

// owners returns the owner for which each process acts: the :client of the value that it completed,
// as in Hazelcast's histories; otherwise the process.
func owners(list []operation) map[int64]string {
	who := map[int64]string{}
	for i := range list {
		o := &list[i]
		if client, named := field(o.value, "client"); named && client != nil {
			who[o.process] = "client " + show(client)
		} else if who[o.process] == "" {
			who[o.process] = fmt.Sprintf("process %d", o.process)
		}
	}
	return who
}

// fence returns the fence of a completed acquire, or 0 if it has none. Hazelcast also writes 0 for
// none.
func (o *operation) fence() (int64, error) {
	f, given := field(o.value, "fence")
	if !given || f == nil || o.releases() || o.unknown() {
		return 0, nil
	}
	n, whole := f.(int64)
	if !whole || n < 0 || n == math.MaxInt64 {
		return 0, wrong(o.end, "the fence %.64s is no whole number from 0", show(f))
	}
	return n, nil
}

// field returns a field of a value that is a map.
func field(v any, name string) (any, bool) {
	m, is := v.(map[any]any)
	if !is {
		return nil, false
	}
	f, has := m[edn.Keyword(name)]
	return f, has
}

// set is a sorted list of small numbers, possibly repeated, that can be the key of a map.
type set string

const digit = 4 // bytes a number

func (s set) len() int { return len(s) / digit }

func (s set) at(i int) int {
	return int(binary.BigEndian.Uint32([]byte(s[i*digit : (i+1)*digit])))
}

// search returns the position of n, or where it would be inserted.
func (s set) search(n int) int {
	i := s.len()
	for i > 0 && s.at(i-1) >= n {
		i--
	}
	return i
}

func (s set) has(n int) bool {
	i := s.search(n)
	return i < s.len() && s.at(i) == n
}

// count returns how often n occurs.
func (s set) count(n int) int {
	from, c := s.search(n), 0
	for from+c < s.len() && s.at(from+c) == n {
		c++
	}
	return c
}

func (s set) with(n int) set {
	i := s.search(n) * digit
	var b [digit]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	return s[:i] + set(b[:]) + s[i:]
}

// without removes every n.
func (s set) without(n int) set {
	from, c := s.search(n), s.count(n)
	return s[:from*digit] + s[(from+c)*digit:]
}

// within reports whether t contains all elements of s, with multiplicity.
func (s set) within(t set) bool { return len(s) <= len(t) && len(s.common(t)) == len(s) }

// common returns the intersection, with multiplicity.
func (s set) common(t set) set {
	if s == t {
		return s
	}
	both := s[:0]
	s.meet(t, func(i int, shared bool) {
		if shared {
			both += s[i*digit : (i+1)*digit]
		}
	})
	return both
}

// minus returns the elements of s beyond those of t.
func (s set) minus(t set) set {
	if t == "" {
		return s
	}
	left := s[:0]
	s.meet(t, func(i int, shared bool) {
		if !shared {
			left += s[i*digit : (i+1)*digit]
		}
	})
	return left
}

// meet reports, for each position of s, whether t contains that element, with multiplicity.
func (s set) meet(t set, say func(i int, shared bool)) {
	j := 0
	for i := range s.len() {
		for j < t.len() && t.at(j) < s.at(i) {
			j++
		}
		shared := j < t.len() && t.at(j) == s.at(i)
		if shared {
			j++
		}
		say(i, shared)
	}
}

var register = specification{
	name:    "register",
	model:   func(o Options) porcupine.Model { return model.Register(o.initial()) },
	initial: initialValue,
	steps:   registerSteps,
}

// initialValue returns a value that a step found although it returned before any step that gives
// that value was called: the register must have held it at first.
func initialValue(steps []step) (string, bool) {
	given := map[string]int{} // by value: when a step that gives it was first called
	for _, s := range steps {
		if at, known := given[s.gives]; !s.looks() && (!known || s.call < at) {
			given[s.gives] = s.call
		}
	}
	var first *step
	for i := range steps {
		s := &steps[i]
		at, known := given[s.needs]
		if s.needs == "" || s.unknown || known && at < s.ret || first != nil && first.ret < s.ret {
			continue
		}
		first = s
	}
	if first == nil {
		return "", false
	}
	return first.needs, first.needs != "nil"
}

// registerSteps converts reads, writes and compare-and-sets into steps. A read of nil constrains
// nothing, as in Knossos, where a client that does not know what it read writes nil; nor does a
// read that did not return.
func registerSteps(list []operation) ([]step, error) {
	steps := make([]step, 0, len(list))
	for i := range list {
		o := &list[i]
		if o.f == "read" && (o.value == nil || o.unknown()) {
			continue
		}
		s, err := o.registerStep()
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (o *operation) registerStep() (step, error) {
	s := step{unknown: o.unknown(), call: o.call, ret: o.ret, of: o}
	switch o.f {
	case "read":
		s.needs = show(o.value)
		s.input = model.RegisterInput{Step: model.Read, From: s.needs}
	case "write":
		s.gives = show(o.value)
		s.input = model.RegisterInput{Step: model.Write, To: s.gives}
	default:
		from, to, pair := tuple(o.value)
		if !pair {
			return step{}, wrong(o.line, "a :cas of %.64s: want [old new]", show(o.value))
		}
		s.needs, s.gives = show(from), show(to)
		s.input = model.RegisterInput{Step: model.CompareAndSet, From: s.needs, To: s.gives}
	}
	return s, nil
}
