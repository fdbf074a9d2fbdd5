package playground

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// call answers a question: argument and answer are JSON.
type call struct {
	name             string
	argument, result reflect.Type
	answer           func(argument, payload []byte) (any, error)
}

// asked is a call with an argument.
func asked[Q, A any](name string, answer func(Q) (A, error)) call {
	return withPayload(name, func(q Q, _ []byte) (A, error) { return answer(q) })
}

// withPayload is a call with an argument, and with bytes beside it that are too many for JSON.
func withPayload[Q, A any](name string, answer func(Q, []byte) (A, error)) call {
	return call{name, reflect.TypeFor[Q](), reflect.TypeFor[A](), func(argument, payload []byte) (any, error) {
		var q Q
		if err := json.Unmarshal(argument, &q); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return answer(q, payload)
	}}
}

// None is the argument of calls that need none.
type None struct{}

// plain is a call without an argument.
func plain[A any](name string, answer func() (A, error)) call {
	return asked(name, func(None) (A, error) { return answer() })
}

// calls lists all calls.
var calls = []call{
	plain("debate", Debate),
	plain("properties", Properties),
	plain("compared", Compared),
	plain("curves", Curves),
	asked("points", Points),
	asked("enter", Enter),
	asked("check", Check),
	asked("knobs", Knobs),
	asked("turn", Turn),
	asked("runs", Runs),
	asked("conclude", Conclude),
	asked("shares", Shares),
	asked("show", Show),
	withPayload("judge", Judge),
	asked("export", Export),
	asked("link", Link),
	asked("followLink", FollowLink),
	asked("openPasted", OpenPasted),
}

// Call answers a question by its name. argument is JSON, and so is the answer.
func Call(name string, argument, payload []byte) ([]byte, error) {
	i := slices.IndexFunc(calls, func(c call) bool { return c.name == name })
	if i < 0 {
		var names []string
		for _, c := range calls {
			names = append(names, c.name)
		}
		return nil, fmt.Errorf("unknown call %q: want %s", name, strings.Join(names, ", "))
	}
	answer, err := calls[i].answer(argument, payload)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}
