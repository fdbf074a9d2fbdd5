package runner

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: what the tag of a scenario's field lets it be called is known here.
func TestNamesOfTagsAreKnown(t *testing.T) {
	for field, known := range map[string][]string{
		"Tokens": slices.Collect(maps.Keys(tokens)),
		"Fence":  slices.Collect(maps.Keys(fenceSources)),
	} {
		f, _ := reflect.TypeFor[scenarios.Lock]().FieldByName(field)
		for _, name := range append(strings.Split(f.Tag.Get("want"), "|"), "") { // or left out
			if !slices.Contains(known, name) {
				t.Errorf("%s can be %q, and there is %q", field, name, known)
			}
		}
	}
}

// The words by which worlds and judges understand each other are the same on both
// sides: what is called otherwise would change a verdict and no test of either.
func TestHistoriesAreWrittenInTheWordsThatJudgesRead(t *testing.T) {
	for said, read := range map[string]string{
		nemesis.EverySecond.Keeps(): history.WithItsKeys,
		nemesis.Always.Keeps():      history.WithItsKeys,
		env.StepQueued.String():     history.Queued,
		env.StepWoken.String():      history.Woken,
	} {
		if said != read {
			t.Errorf("a world says %q and a judge reads %q", said, read)
		}
	}
}

// Law: to change a field of a lock changes what its kind builds if, and only if, the
// kind says that it reads that field.
func TestFieldsThatALockReads(t *testing.T) {
	for _, k := range lockKinds {
		if k.what == inTestsOnly {
			continue
		}
		read := strings.Fields(sharedFields + " " + k.fields)
		var known []string
		for path, change := range changes(reflect.TypeFor[scenarios.Lock](), "") {
			field, _, _ := strings.Cut(path, ".")
			known = append(known, field)
			base := scenarios.Lock{TTL: time.Second, NodeTimeout: 50 * time.Millisecond}
			built, moved := k.config(base), false
			for _, changed := range change(base) {
				moved = moved || !reflect.DeepEqual(k.config(changed), built)
			}
			if says := slices.Contains(read, field); moved != says && field != "kind" { // which says whose config it is
				t.Errorf("%s, %s: changes what is built: %v; is among its fields: %v", k.name, path, moved, says)
			}
		}
		for _, field := range read {
			if !slices.Contains(known, field) {
				t.Errorf("%s reads %s, which is no field of a lock", k.name, field)
			}
		}
	}
}

// changes returns, for each value in a lock by its path, what makes locks of one that
// differ from it in that value alone.
func changes(of reflect.Type, path string, index ...int) map[string]func(scenarios.Lock) []scenarios.Lock {
	all := map[string]func(scenarios.Lock) []scenarios.Lock{}
	for i := range of.NumField() {
		f, at := of.Field(i), append(slices.Clone(index), i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Type.Kind() == reflect.Struct {
			maps.Copy(all, changes(f.Type, path+name+".", at...))
			continue
		}
		all[path+name] = func(l scenarios.Lock) (list []scenarios.Lock) {
			for _, word := range strings.Split(cmp.Or(f.Tag.Get("want"), "another"), "|") { // of numbers there is one
				v := reflect.ValueOf(&l).Elem().FieldByIndex(at)
				switch {
				case v.Kind() == reflect.String:
					v.SetString(word)
				case v.Kind() == reflect.Bool:
					v.SetBool(!v.Bool())
				case v.CanFloat():
					v.SetFloat(v.Float() + 0.5)
				case v.CanInt():
					v.SetInt(v.Int() + int64(7*time.Millisecond))
				case v.Kind() == reflect.Slice:
					v.Set(reflect.Append(v.Slice(0, v.Len()), reflect.Zero(v.Type().Elem())))
				default:
					panic("teach this test to change a field of the type " + v.Type().String())
				}
				list = append(list, l)
			}
			return list
		}
	}
	return all
}

// among is a variant of Redlock with a quorum of its own.
func among(q env.Quorum) lockKind {
	return redlockKind("among", "in tests only", "", func(_ scenarios.Lock, c *redlock.Config) { c.Quorum = q })
}

func kind(t *testing.T, name string) lockKind {
	t.Helper()
	k, err := findLock(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The header of a history says whose keys hold the lock, as short as it can.
func TestHeaderSaysWhoHoldsTheLock(t *testing.T) {
	for _, c := range []struct {
		of   lockKind
		want history.Header
	}{
		{kind(t, "redlock"), history.Header{}},
		{kind(t, "single-node"), history.Header{Keepers: 1}},
		{kind(t, "etcd"), history.Header{Keepers: -1}},
		{among(env.Quorum{Voters: env.SetOf(1, 2, 3)}), history.Header{Keepers: 3}},
		{among(env.Quorum{Voters: env.SetOf(2, 5)}), history.Header{Votes: []int{0, 1, 0, 0, 1}}},
		{among(env.Quorum{Weights: []int{3, 1, 1, 1, 1}}), history.Header{Votes: []int{3, 1, 1, 1, 1}}},
	} {
		got := history.Header{Nodes: 5}
		c.of.describe(&got, scenarios.Lock{TTL: time.Second})
		c.want.Nodes, c.want.Allowance = 5, 2*time.Millisecond
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.of.name, got, c.want)
		}
	}
}

// A quorum that does not fit the nodes is refused before the run.
func TestQuorumHasToFitTheNodes(t *testing.T) {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	for want, q := range map[string]env.Quorum{
		"":                              {Weights: []int{3, 1, 1, 1, 1}},
		"node 6 is to vote, of 5 nodes": env.Majority(7),
	} {
		if _, err := among(q).configured(s); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", q, err, want)
		}
	}
}

// Law: the trials of a lock on a quorum of nodes take away what that lock needs.
func TestContendersAreTriedOnTheirQuorum(t *testing.T) {
	for _, c := range scenarios.Contenders() {
		if c.Family != scenarios.FamilyQuorum {
			continue
		}
		if needs, tried := kind(t, c.Lock.Kind).quorum(c.Lock).Among(c.Nodes), c.Quorum.Among(c.Nodes); !reflect.DeepEqual(needs, tried) {
			t.Errorf("%s: the lock has the quorum %+v, its deployment %+v", c.Name, needs, tried)
		}
	}
}

// newDreaming returns a Redlock that counts its validity on a clock which stands still
// while the machine sleeps, though it was asked for one that goes on.
func newDreaming(c redlockSetup, p ports) (Lock, error) {
	p.runtime = dreaming{p.runtime}
	return newRedlock(c, p)
}

type dreaming struct{ env.Runtime }

func (r dreaming) Now(which env.Clock) env.Instant {
	if which == env.Boottime {
		which = env.Monotonic
	}
	return r.Runtime.Now(which)
}

// newHasty returns a Redlock whose validity check uses a time that was read before the
// last reply.
func newHasty(c redlockSetup, p ports) (Lock, error) {
	r := &hasty{Runtime: p.runtime, Observer: p.observer}
	p.runtime, p.observer = r, r
	return newRedlock(c, p)
}

// hasty is a client's runtime, and its observer, for a lock that it uses from one try at a
// time.
type hasty struct {
	env.Runtime
	env.Observer
	early    env.Instant // what the clock showed before the requests were sent
	checking bool
}

func (r *hasty) Observe(e env.Event) {
	r.Observer.Observe(e)
	if r.checking = e.Step == env.StepBeforeCheck; e.Step == env.StepBeforeSend {
		r.early = r.Runtime.Now(env.Monotonic)
	}
}

func (r *hasty) Now(which env.Clock) env.Instant {
	if r.checking {
		return r.early
	}
	return r.Runtime.Now(which)
}

// The checker excuses clients of a real store by these words.
func TestErrorWithoutAnAnswer(t *testing.T) {
	if text := rivals.ErrNoAnswer.Error(); text != history.NoAnswer {
		t.Errorf("the error of a lock is %q, and the checker looks for %q", text, history.NoAnswer)
	}
}
