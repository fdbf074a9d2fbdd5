package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Version is the version of the protocol.
const Version = 1

// MaxLine is the largest length of a line in bytes, with its end.
const MaxLine = 64 << 10

// Type is the type of a message.
type Type string

// The messages to the program.
const (
	Hello   Type = "hello"   // the first line. The program connects to the nodes and answers ready
	Acquire Type = "acquire" // acquire the resource. The program answers granted or refused
	Extend  Type = "extend"  // extend the hold by ttl_ms. The program answers extended or failed
	Release Type = "release" // release the hold. The program answers released, not_held or failed
	Cancel  Type = "cancel"  // the caller waits no longer for the call of that id. The program answers the call as soon as it can, and answers nothing else. It may ignore this
	Quit    Type = "quit"    // the last line. The program exits
)

// The messages from the program.
const (
	Ready    Type = "ready"    // the answer to hello
	Granted  Type = "granted"  // the resource is acquired
	Refused  Type = "refused"  // it is not, for whatever reason
	Extended Type = "extended" // the hold is extended
	Released Type = "released" // the hold was held until now, and is released
	NotHeld  Type = "not_held" // the hold was no longer held when it was to be released
	Failed   Type = "failed"   // the hold was not extended, or nobody knows whether it was released
	Lost     Type = "lost"     // the lock reports that the hold is lost. Comes at any time between granted and the answer to release, and is answered by nothing
)

// ToProgram is a line to the program. Fields that a message does not have are left out.
type ToProgram struct {
	// Type is the type of the message.
	Type Type `json:"type"`

	// Version is the version of the protocol: 1. In hello.
	Version int `json:"version,omitempty"`

	// Client is the number of the client, from 1. In hello.
	Client int `json:"client,omitempty"`

	// Addresses is where this client finds the nodes, in order, as host:port. The program must
	// connect to no other address: these lead through proxies that cut and delay what this client
	// sends. In hello.
	Addresses []string `json:"addresses,omitempty"`

	// TTLMS is the TTL that the lock uses, in milliseconds. In hello.
	TTLMS float64 `json:"ttl_ms,omitempty"`

	// Capacity is the number of permits of each resource. Left out if holds are exclusive. In hello.
	Capacity int `json:"capacity,omitempty"`

	// Seed is a number for random draws that should repeat. It differs from run to run. In hello.
	Seed uint64 `json:"seed,omitempty"`

	// NowMS is the time when the line is written, in milliseconds of the clock in which the
	// program gives until_ms: CLOCK_MONOTONIC of the machine. In hello.
	NowMS float64 `json:"now_ms,omitempty"`

	// ID is the number of the hold: acquire begins a new one, and extend, release and cancel have
	// that of their acquire. In all but hello and quit.
	ID int64 `json:"id,omitempty"`

	// Resource is the name of what is locked. In acquire.
	Resource string `json:"resource,omitempty"`

	// Weight is how many permits the caller wants, from 1 to capacity, which is an exclusive hold. The program takes
	// no more. Left out if holds are exclusive. In acquire.
	Weight int `json:"weight,omitempty"`

	// TimeoutMS is how long the call should take at most, in milliseconds. A cancel follows when
	// that time is over. In acquire, extend and release.
	TimeoutMS float64 `json:"timeout_ms,omitempty"`
}

// FromProgram is a line of the program.
type FromProgram struct {
	// Type is the type of the message.
	Type Type `json:"type"`

	// Version is the version of the protocol that the program speaks, 1. In ready.
	Version int `json:"version,omitempty"`

	// NowMS is the time when the line is written, by the clock of until_ms. It has to lie between
	// the writing of hello and the reading of ready, which shows that both read the same clock. It can be
	// left out if until_ms always is. In ready.
	NowMS *float64 `json:"now_ms,omitempty"`

	// TellsLost is whether the lock reports losses, by lost. V2 is promised then. Default false. In ready.
	TellsLost bool `json:"tells_lost,omitempty"`

	// Extends is whether the lock can extend a hold. Storms with long work ask for extensions then.
	// Default false. In ready.
	Extends bool `json:"extends,omitempty"`

	// ID is the number of the hold. In all but ready.
	ID int64 `json:"id,omitempty"`

	// UntilMS is the end of the validity that the lock guarantees, in milliseconds of
	// CLOCK_MONOTONIC. If the lock does not return it and its keys live for the TTL, it is the time
	// when the request was sent that set the key, plus the TTL. If it is left out, only
	// a release or lost ends the hold. In granted and extended.
	UntilMS *float64 `json:"until_ms,omitempty"`

	// Fence is the number of the grant, which grows with every grant of the resource. It is left out
	// if there is none. In granted.
	Fence uint64 `json:"fence,omitempty"`

	// Weight is the number of permits that the hold takes. If it is left out, the hold takes all of them. In granted.
	Weight int `json:"weight,omitempty"`

	// Error is the reason, for people. It can be left out. In refused, failed, not_held and lost.
	Error string `json:"error,omitempty"`
}

// fields are the fields of each message from the program besides its type; true: required.
var fields = map[Type]map[string]bool{
	Ready:    {"version": true, "now_ms": false, "tells_lost": false, "extends": false},
	Granted:  {"id": true, "until_ms": false, "fence": false, "weight": false},
	Refused:  {"id": true, "error": false},
	Extended: {"id": true, "until_ms": false},
	Released: {"id": true},
	NotHeld:  {"id": true, "error": false},
	Failed:   {"id": true, "error": false},
	Lost:     {"id": true, "error": false},
}

// Types lists the messages from the program.
func Types() []Type {
	return []Type{Ready, Granted, Refused, Extended, Released, NotHeld, Failed, Lost}
}

// parse parses a line of the program.
func parse(line []byte) (m FromProgram, err error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(line, &given); err != nil || given == nil {
		return m, errors.New("want a JSON object in each line; what is for people goes to standard error")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() {
		return m, io.ErrUnexpectedEOF
	}
	known, is := fields[m.Type]
	if !is {
		return m, fmt.Errorf("unknown type %q: want one of %q", m.Type, Types())
	}
	for name, required := range known {
		if _, has := given[name]; required && !has {
			return m, fmt.Errorf("%s without %s", m.Type, name)
		}
	}
	for name := range given {
		if _, has := known[name]; !has && name != "type" {
			return m, fmt.Errorf("%s has no field %q", m.Type, name)
		}
	}
	return m, nil
}

// answers are the types that can answer a call.
var answers = map[Type][]Type{
	Acquire: {Granted, Refused},
	Extend:  {Extended, Failed},
	Release: {Released, NotHeld, Failed},
}

// answersTo reports whether a message answers a call.
func (m FromProgram) answersTo(call ToProgram) bool {
	return m.ID == call.ID && slices.Contains(answers[call.Type], m.Type)
}
