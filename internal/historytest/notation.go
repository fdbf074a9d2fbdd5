package historytest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Parse reads a history in the notation of tests, with one event per line:
//
//	TIME KIND [cN] [nN] [TOKEN] [key=value ...]
//
// TIME is in milliseconds, cN and nN are a client and a node, and a word without "=" is a
// token. Keys are r (resource; the default is "r"), until, ttl, left (validity), now, ends,
// value, weight, fence, sent, since, outcome, name, k, reason, fault and detail. Times among them
// are in milliseconds. The defaults of outcome, ttl and left are ok, 10 and 5. A # starts a
// comment.
//
// A line "header key=value ..." sets nodes, ttl, allowance, quarantine, capacity, clock (of until: file, client or nothing;
// the default is client), keys, keepers, votes (by node: 3,1,1), and each bound by its name in history
// files.
func Parse(text string) (history.Header, []history.Event, error) {
	h := history.Header{Nodes: 5, Clients: 3, LongestTTL: 10 * time.Millisecond, UntilClock: history.ClientClock}
	var events []history.Event
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var err error
		if words[0] == "header" {
			err = parseHeader(&h, words[1:])
		} else {
			var e history.Event
			e, err = parseEvent(words)
			events = append(events, e)
		}
		if err != nil {
			return h, nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return h, events, nil
}

func parseHeader(h *history.Header, words []string) error {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		number, err := strconv.ParseFloat(value, 64)
		switch {
		case key == "keys":
			h.Keys = true
		case key == "entries":
			h.Entries = true
		case key == "watched":
			h.Watched = true
		case key == "votes":
			if err := json.Unmarshal([]byte("["+value+"]"), &h.Votes); err != nil {
				return err
			}
		case key == "clock":
			h.UntilClock = history.UntilClock(value)
		case err != nil:
			return err
		case key == "keepers":
			h.Keepers = int(number)
		case key == "capacity":
			h.Capacity = int(number)
		case key == "nodes":
			h.Nodes = int(number)
		case key == "ttl":
			h.LongestTTL = milliseconds(number)
		case key == "allowance":
			h.Allowance = milliseconds(number)
		case key == "quarantine":
			h.Quarantine = milliseconds(number)
		case !setBound(&h.Bounds, key, number):
			return fmt.Errorf("unknown key %q", key)
		}
	}
	return nil
}

// setBound sets the bound of a name, a duration in milliseconds. It reports whether there
// is one.
func setBound(b *history.Bounds, name string, number float64) bool {
	v := reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		if is, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); is != name {
			continue
		}
		if v.Field(i).Type() == reflect.TypeFor[time.Duration]() {
			number = float64(milliseconds(number))
		}
		v.Field(i).SetInt(int64(number))
		return true
	}
	return false
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func parseEvent(words []string) (history.Event, error) {
	var e history.Event
	ms, err := strconv.ParseFloat(words[0], 64)
	if err != nil || len(words) < 2 {
		return e, fmt.Errorf("want a time and a kind: %w", err)
	}
	e.Time = history.Time(milliseconds(ms))
	if err := e.Kind.UnmarshalText([]byte(words[1])); err != nil {
		return e, err
	}
	setDefaults(&e)
	for _, w := range words[2:] {
		if err := parseWord(&e, w); err != nil {
			return e, err
		}
	}
	return e, nil
}

func setDefaults(e *history.Event) {
	switch e.Kind {
	case history.Acquire, history.Extend:
		e.TTL = 10 * time.Millisecond
	case history.Granted, history.Extended:
		e.Validity = 5 * time.Millisecond
	case history.Released, history.ReadDone, history.WriteDone, history.Checked:
		e.Outcome = history.OK
	}
	if e.Kind <= history.Apply || e.Kind == history.Check || e.Kind == history.Checked || e.Kind == history.Step || e.Kind == history.KeySet || e.Kind == history.KeyExtended || e.Kind == history.KeyGone ||
		e.Kind == history.EntrySet || e.Kind == history.EntryDeleted {
		e.Resource = "r"
	}
}

func parseWord(e *history.Event, w string) error {
	if number, err := strconv.Atoi(w[1:]); err == nil && w[0] == 'c' {
		e.Client = number
		return nil
	} else if err == nil && w[0] == 'n' {
		e.Node = number
		return nil
	}
	key, value, found := strings.Cut(w, "=")
	if !found {
		e.Token = w
		return nil
	}
	number, _ := strconv.ParseFloat(value, 64)
	switch key {
	case "r":
		e.Resource = value
	case "name":
		e.Name = value
	case "k":
		e.K = int(number)
	case "until":
		e.Until = int64(milliseconds(number))
	case "ttl":
		e.TTL = milliseconds(number)
	case "left":
		e.Validity = milliseconds(number)
	case "now":
		e.Now = int64(milliseconds(number))
	case "ends":
		e.Ends = history.Time(milliseconds(number))
	case "value":
		e.Value = int64(number)
	case "weight":
		e.Weight = int(number)
	case "sent":
		e.Sent = history.Time(milliseconds(number))
	case "since":
		e.Since = history.Time(milliseconds(number))
	case "fence":
		e.Fence = uint64(number)
	case "fault":
		e.Fault = int(number)
	case "reason":
		e.Reason = strings.ReplaceAll(value, "_", " ")
	case "detail":
		e.Detail = strings.ReplaceAll(value, "_", " ")
	case "outcome":
		return e.Outcome.UnmarshalText([]byte(value))
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}
