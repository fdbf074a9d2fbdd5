package jepsen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
)

// line is one map of a history that is made up.
type line struct {
	kind, f, value string
	process        int
}

func (l line) String() string {
	return fmt.Sprintf("{:type :%s, :f :%s, :process %d, :value %s}", l.kind, l.f, l.process, l.value)
}

func text(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// words draws what a client asks for, and what it can be answered.
type words func(t *rapid.T) (f, asked, answered string)

func lockWords(t *rapid.T) (f, asked, answered string) {
	f = rapid.SampledFrom([]string{"acquire", "release"}).Draw(t, "f")
	answered = "nil"
	if f == "acquire" {
		answered = fmt.Sprintf("{:fence %d}", rapid.IntRange(0, 4).Draw(t, "fence"))
	}
	return f, "nil", answered
}

func registerWords(t *rapid.T) (f, asked, answered string) {
	value := rapid.SampledFrom([]string{"nil", "0", "1", "2"})
	switch rapid.IntRange(0, 4).Draw(t, "f") {
	case 0, 1:
		return "read", "nil", value.Draw(t, "value")
	case 2, 3:
		v := value.Draw(t, "value")
		return "write", v, v
	}
	v := fmt.Sprintf("[%s %s]", value.Draw(t, "old"), value.Draw(t, "new"))
	return "cas", v, v
}

// drawHistory draws a history of some operations, most of which succeed. A few
// clients have a few operations in progress at a time.
func drawHistory(t *rapid.T, say words, operations int) []line {
	return drawUncertain(t, say, operations, 2)
}

// drawUncertain draws one in which so many of ten operations have no known
// outcome.
func drawUncertain(t *rapid.T, say words, operations, infos int) []line {
	var lines []line
	open := map[int]line{} // what the process answers if all goes well
	client := []int{0, 1, 2}
	for invoked := 0; invoked < operations || len(open) > 0; {
		i := rapid.IntRange(0, len(client)-1).Draw(t, "client")
		p := client[i]
		answer, busy := open[p]
		if !busy {
			if invoked == operations {
				if rapid.Bool().Draw(t, "stop") {
					break // what is open is never completed
				}
				continue
			}
			f, asked, answered := say(t)
			lines = append(lines, line{"invoke", f, asked, p})
			open[p] = line{"ok", f, answered, p}
			invoked++
			continue
		}
		delete(open, p)
		switch outcome := rapid.IntRange(0, 9).Draw(t, "outcome"); {
		case outcome == 0:
			answer.kind, answer.value = "fail", "nil"
		case outcome <= infos:
			answer.kind, answer.value = "info", "nil"
			client[i] += 10
		}
		lines = append(lines, answer)
	}
	return lines
}

// judgeAll returns the verdict of each model.
func judgeAll(t rapid.TB, history string) []string {
	report, err := Judge(context.Background(), strings.NewReader(history), Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, history)
	}
	var verdicts []string
	for _, f := range report.Findings {
		verdicts = append(verdicts, fmt.Sprintf("%s %s", f.Model, f.Verdict))
	}
	return verdicts
}

// manyTimes checks more histories than rapid would by itself.
func manyTimes(t *testing.T, law func(*rapid.T)) {
	for range 30 {
		rapid.Check(t, law)
	}
}

var clients = map[string]words{"lock": lockWords, "lock of owners": ownerWords, "register": registerWords, "cas-register": casWords}

// ownerWords has two owners, each of whom acts by many processes.
func ownerWords(t *rapid.T) (f, asked, answered string) {
	f, _, _ = lockWords(t)
	owner := fmt.Sprintf("{:client %d}", rapid.IntRange(0, 1).Draw(t, "owner"))
	return f, owner, owner
}

// casWords makes long ways from value to value.
func casWords(t *rapid.T) (f, asked, answered string) {
	value := rapid.SampledFrom([]string{"nil", "0", "1", "2", "3"})
	switch rapid.IntRange(0, 5).Draw(t, "f") {
	case 0, 1:
		return "read", "nil", value.Draw(t, "value")
	case 2:
		v := value.Draw(t, "value")
		return "write", v, v
	}
	v := fmt.Sprintf("[%s %s]", value.Draw(t, "old"), value.Draw(t, "new"))
	return "cas", v, v
}

// Law: the judge says what trying all orders says.
func TestLawAllOrders(t *testing.T) {
	for name, say := range clients {
		if name == "lock of owners" {
			continue // of whom the trial knows nothing
		}
		t.Run(name, func(t *testing.T) {
			legal, illegal := 0, 0
			manyTimes(t, func(t *rapid.T) {
				lines := drawHistory(t, say, rapid.IntRange(1, 6).Draw(t, "operations"))
				for _, got := range judgeAll(t, text(lines)) {
					if strings.HasSuffix(got, "n/a") {
						continue
					}
					name, _, _ := strings.Cut(got, " "+got[strings.LastIndex(got, " ")+1:])
					want := "violated"
					if tryAll(name, acts(lines)) {
						want = "holds"
						legal++
					} else {
						illegal++
					}
					if got != name+" "+want {
						t.Fatalf("the judge says %s, and trying all orders says it %s\n%s", got, want, text(lines))
					}
				}
			})
			if sum := legal + illegal; legal*10 < sum || illegal*10 < sum {
				t.Errorf("%d legal and %d illegal histories: too few of one kind to show anything", legal, illegal)
			}
		})
	}
}

// doing is an operation as the brute force takes it.
type doing struct {
	f, value  string
	process   int
	call, ret int // never: it may have happened or not
}

func acts(lines []line) []doing {
	var list []doing
	open := map[int]int{}
	for i, l := range lines {
		if l.kind == "invoke" {
			open[l.process] = len(list)
			list = append(list, doing{l.f, l.value, l.process, i, never})
			continue
		}
		d := &list[open[l.process]]
		switch l.kind {
		case "ok":
			d.value, d.ret = l.value, i
		case "fail":
			d.f = "nothing"
		}
	}
	return slices.DeleteFunc(list, func(d doing) bool { return d.f == "nothing" })
}

// firstValue returns what a register holds at first: nil, unless an operation found another value when
// no other operation that gives this value had been invoked.
func firstValue(list []doing) string {
	found, returned := "nil", never
	for _, d := range list {
		value, _, _ := strings.Cut(strings.Trim(d.value, "[]"), " ")
		written := slices.ContainsFunc(list, func(e doing) bool {
			return e.f != "read" && e.call < d.ret && strings.HasSuffix(" "+strings.Trim(e.value, "[]"), " "+value) && (e.f != "cas" || e.value != "["+value+" "+value+"]")
		})
		if (d.f == "cas" || d.f == "read" && value != "nil") && d.ret < returned && !written {
			found, returned = value, d.ret
		}
	}
	return found
}

// tryAll tries all orders of operations. It shares nothing with the judge but
// the names of the models.
func tryAll(name string, list []doing) bool {
	return extend(name, list, map[string]string{"value": firstValue(list)})
}

func extend(name string, left []doing, state map[string]string) bool {
	if !slices.ContainsFunc(left, func(d doing) bool { return d.ret != never }) {
		return true
	}
	for i, d := range left {
		late := slices.ContainsFunc(left, func(e doing) bool { return e.ret < d.call })
		if late {
			continue
		}
		if next, can := does(name, d, state); can && extend(name, slices.Delete(slices.Clone(left), i, i+1), next) {
			return true
		}
	}
	return false
}

// does returns the state after an operation, if it can happen.
func does(name string, d doing, state map[string]string) (map[string]string, bool) {
	me := fmt.Sprint(d.process)
	if name == "ownerless mutex" {
		me = "somebody"
	}
	var from, to string
	switch d.f {
	case "acquire":
		fence := strings.Trim(d.value, "{:fenc }")
		if name == "fenced mutex" && d.ret != never && fence != "0" {
			if fence <= state["fence"] { // one digit
				return nil, false
			}
			return map[string]string{"owner": me, "fence": fence}, state["owner"] == ""
		}
		return map[string]string{"owner": me, "fence": state["fence"]}, state["owner"] == ""
	case "release":
		return map[string]string{"owner": "", "fence": state["fence"]}, state["owner"] == me
	case "read":
		return state, d.value == "nil" || d.value == state["value"] || d.ret == never
	case "write":
		return map[string]string{"value": d.value}, true
	}
	_, _ = fmt.Sscanf(strings.Trim(d.value, "[]"), "%s %s", &from, &to)
	return map[string]string{"value": to}, state["value"] == from
}

// Law: the judge says what porcupine says of the history as a whole, whether few
// outcomes are unknown or most; and of the window around a violation porcupine
// says that it has no order, whatever came before, and has one without what
// violates it; and what the story takes to have happened is all that it takes.
func TestLawPorcupine(t *testing.T) {
	for name, say := range clients {
		for _, infos := range []int{2, 6} {
			t.Run(fmt.Sprintf("%s, %d of 10 unknown", name, infos), func(t *testing.T) {
				manyTimes(t, func(t *rapid.T) {
					lines := drawUncertain(t, say, rapid.IntRange(6, 16).Draw(t, "operations"), infos)
					rec, err := load(strings.NewReader(text(lines)))
					if err != nil {
						t.Fatal(err)
					}
					w, err := recognise(rec.words)
					if err != nil {
						t.Fatal(err)
					}
					for _, spec := range w.specifications {
						compare(t, spec, rec)
					}
				})
			})
		}
	}
}

func compare(t *rapid.T, spec specification, rec *recording) {
	steps, err := spec.steps(rec.operations)
	if err != nil {
		t.Fatal(err)
	}
	w, got, stuck := decide(context.Background(), spec.model(Options{}), steps, 1)
	if want := porcupine.CheckOperations(w.model, forPorcupine(steps)); want != (got == checker.Holds) {
		t.Fatalf("%s: the judge says it %s, porcupine says %v", spec.name, got, want)
	}
	if got != checker.Violated {
		return
	}
	win := around(w, "", stuck, rec)
	for _, win.from = range w.marks {
		possible := false
		for _, c := range win.from.configs {
			m, ops := win.excerpt(c)
			if porcupine.CheckOperations(m, ops) {
				t.Fatalf("%s: the window before the violation has an order from %v", spec.name, c)
			}
			rest := slices.DeleteFunc(ops, func(op porcupine.Operation) bool { return op.Metadata == stuck })
			if slices.ContainsFunc(rest, func(op porcupine.Operation) bool { return op.Call > op.Return }) {
				t.Fatalf("%s: the window has an operation that returned before it began", spec.name)
			}
			possible = possible || porcupine.CheckOperations(m, rest)
		}
		if !possible && !w.lenient {
			t.Fatalf("%s: the window has no order without what violates it either", spec.name)
		}
	}
	if w.lenient {
		return // it has given away what it cannot give
	}
	win = around(w, "", stuck, rec)
	m, ops := win.excerpt(win.start())
	told := slices.DeleteFunc(ops, func(op porcupine.Operation) bool {
		i := op.Metadata.(int)
		_, taken := win.taken[i]
		return i == stuck || steps[i].unknown && !taken
	})
	if !porcupine.CheckOperations(m, told) {
		t.Fatalf("%s: the picture begins with a state from which it accuses something else, or not by the story", spec.name)
	}
	if !porcupine.CheckOperations(w.model, win.story()) {
		t.Fatalf("%s: the story leaves out what must have happened", spec.name)
	}
}

// story returns the operations before the accused step, with only those unknown ones that the story
// assumes to have happened.
func (w *window) story() []porcupine.Operation {
	end := w.steps[w.stuck].ret
	var told []step
	for i, s := range w.steps {
		if _, taken := w.taken[i]; i == w.stuck || s.call > end || s.unknown && !taken {
			continue
		}
		if s.ret > end {
			s.ret, s.unknown = never, true
		}
		told = append(told, s)
	}
	return forPorcupine(told)
}

// Law: what is done to other keys makes no difference.
func TestLawKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []line
		violated := false
		for key := range rapid.IntRange(1, 3).Draw(t, "keys") {
			lines := drawHistory(t, registerWords, rapid.IntRange(1, 5).Draw(t, "operations"))
			violated = violated || judgeAll(t, text(lines))[0] == "register violated"
			for i := range lines {
				lines[i].process += 100 * key
				lines[i].value = fmt.Sprintf("[%d %s]", key, lines[i].value)
			}
			all = interleave(t, all, lines)
		}
		if got := judgeAll(t, text(all))[0]; (got == "register violated") != violated {
			t.Fatalf("together: %s; one by one: violated %v\n%s", got, violated, text(all))
		}
	})
}

func interleave(t *rapid.T, a, b []line) []line {
	var both []line
	for len(a)+len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && rapid.Bool().Draw(t, "which") {
			from = &b
		}
		both = append(both, (*from)[0])
		*from = (*from)[1:]
	}
	return both
}

// Law: how a history is written makes no difference.
func TestLawForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := drawHistory(t, registerWords, 4)
		want := judgeAll(t, text(lines))
		for name, form := range forms {
			if got := judgeAll(t, form(lines)); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, and plainly %v", name, got, want)
			}
		}
	})
}

var forms = map[string]func([]line) string{
	"a vector": func(l []line) string {
		return "; a comment\n[" + strings.ReplaceAll(text(l), "\n", "\n;;; ] \n ") + "]"
	},
	"a list": func(l []line) string {
		return "#_ [discarded \"{\" \\(] #_ #_ {} a ( " + strings.ReplaceAll(text(l), "\n", ",,") + " ) ; end"
	},
	"records": func(l []line) string {
		return "#jepsen.history.Op" + strings.Join(strings.SplitAfter(strings.TrimSpace(text(l)), "}\n"), "#jepsen.history.Op ")
	},
	"namespaces": func(l []line) string {
		return strings.ReplaceAll(strings.ReplaceAll(text(l), ":type :", ":op/type :kind/"), ":f :", ":jepsen.history/f :")
	},
	"more fields": func(l []line) string {
		var b strings.Builder
		for i, l := range l {
			fmt.Fprintf(&b, `{:index %d, :time %d %s, :error #error {:cause "a \" } quote", :via [#object[java.lang.Object 0x1f "x"] \} #_ {:not "this"}]}}`, i, i*1000, strings.TrimPrefix(l.String(), "{"))
			b.WriteString("\n")
		}
		return strings.ReplaceAll(b.String(), "}, :error", ", :error")
	},
}

func TestSet(t *testing.T) {
	s := set("").with(3).with(1).with(300).with(3)
	if s.len() != 4 || s.count(3) != 2 || !s.has(300) || s.has(2) || s.without(3) != set("").with(300).with(1) {
		t.Errorf("%q", s)
	}
	if !set("").with(3).with(1).within(s) || set("").with(2).within(s) || set("").with(1).with(1).within(s) || s.within(s.without(1)) {
		t.Error("within")
	}
	a, b := set("").with(1).with(1).with(2), set("").with(1).with(2).with(2)
	if a.common(b) != set("").with(1).with(2) || a.minus(b) != set("").with(1) || b.minus(a) != set("").with(2) {
		t.Errorf("common %q, minus %q and %q", a.common(b), a.minus(b), b.minus(a))
	}
}
