package playground

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results/cases"
)

// Linked is a run in a link.
type Linked struct {
	Scenario string `json:"scenario"` // YAML
	Seed     uint64 `json:"seed,string"`
	Trace    string `json:"trace"`  // the first half of its hash; "": unknown
	Replay   string `json:"replay"` // of a run that departs from its seed; "": it does not
}

// Fragment is the part of a link behind "#".
type Fragment struct {
	Text string `json:"text"`
}

// runPath is how the fragment of a run begins.
const runPath = "/run?"

// maxLink is the largest compressed scenario in a link. Browsers and mail programs accept so much.
const maxLink = 16 << 10

// maxLinked bounds what a link unpacks to.
const maxLinked = 1 << 20

// Link returns the link to a run: a scenario of the table by its replay string, any other compressed.
func Link(l Linked) (Fragment, error) {
	e, err := prepare(l.Scenario)
	if err != nil {
		return Fragment{}, err
	}
	values := url.Values{}
	if l.Replay != "" {
		values.Set("replay", l.Replay)
		return Fragment{runPath + values.Encode()}, nil
	}
	if name := e.Scenario().Name; inTable(name, l.Scenario) && l.Trace != "" {
		trace, err := strconv.ParseUint(l.Trace[:min(len(l.Trace), 8)], 16, 32)
		if err != nil {
			return Fragment{}, fmt.Errorf("the trace %.20q is no hash", l.Trace)
		}
		values.Set("replay", runner.Replay{Scenario: name, Seed: l.Seed, Trace: uint32(trace)}.String())
		return Fragment{runPath + values.Encode()}, nil
	}
	packed, err := pack(l.Scenario)
	if err != nil {
		return Fragment{}, err
	}
	values.Set("scenario", packed)
	values.Set("seed", strconv.FormatUint(l.Seed, 10))
	if l.Trace != "" {
		values.Set("trace", l.Trace[:min(len(l.Trace), 8)])
	}
	return Fragment{runPath + values.Encode()}, nil
}

// FollowLink returns the run of a link.
func FollowLink(f Fragment) (Linked, error) {
	l, err := followLink(f.Text)
	if err != nil {
		err = fmt.Errorf("the link is not whole: %w", err)
	}
	return l, err
}

func followLink(text string) (Linked, error) {
	query, ok := strings.CutPrefix(text, runPath)
	if !ok {
		return Linked{}, fmt.Errorf("want %s behind the #", runPath)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Linked{}, err
	}
	if replay := values.Get("replay"); replay != "" {
		return replayed(replay)
	}
	l := Linked{Trace: values.Get("trace")}
	if l.Seed, err = strconv.ParseUint(values.Get("seed"), 10, 64); err != nil {
		return l, fmt.Errorf("the seed %.20q is no number", values.Get("seed"))
	}
	if l.Scenario, err = unpack(values.Get("scenario")); err != nil {
		return l, err
	}
	_, err = prepare(l.Scenario)
	return l, err
}

// replayed is the run of a replay string.
func replayed(text string) (Linked, error) {
	r, err := runner.ParseReplay(text)
	if err != nil {
		return Linked{}, err
	}
	s, err := r.Find()
	if err != nil {
		return Linked{}, err
	}
	scenario, err := printed(s)
	l := Linked{Scenario: scenario, Seed: r.Seed, Trace: fmt.Sprintf("%08x", r.Trace)}
	if !r.Course.Straight() {
		l.Replay = text
	}
	return l, err
}

// Pasted is what a reader has of a run: a replay string, a link, or the text of a case.
type Pasted struct {
	Text string `json:"text"`
}

// OpenPasted returns the run that a reader has.
func OpenPasted(p Pasted) (Linked, error) {
	text := strings.TrimSpace(p.Text)
	text = strings.TrimPrefix(text, "lockstorm replay ")
	if _, fragment, isLink := strings.Cut(text, "#"); isLink && strings.HasPrefix(fragment, runPath) && !strings.Contains(text, "\n") {
		return FollowLink(Fragment{fragment})
	}
	if !strings.ContainsAny(text, " \n:") {
		return replayed(text)
	}
	c, err := cases.Parse([]byte(p.Text))
	if err != nil {
		return Linked{}, fmt.Errorf("this is no replay string, no link and no case: %w", err)
	}
	if !c.Course.Straight() {
		return Linked{}, errors.New("the case departs from its seed: lockstorm replay repeats it")
	}
	l := Linked{Seed: c.Seed, Trace: fmt.Sprintf("%08x", c.Trace)}
	l.Scenario, err = printed(c.Scenario)
	return l, err
}

func pack(text string) (string, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err = io.WriteString(w, text); err == nil {
		err = w.Close()
	}
	if err == nil && packed.Len() > maxLink {
		err = errors.New("the scenario is too long for a link: save it as a file")
	}
	return base64.RawURLEncoding.EncodeToString(packed.Bytes()), err
}

func unpack(text string) (string, error) {
	packed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", errors.New("the scenario is cut off, or changed")
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxLinked+1))
	switch {
	case err != nil:
		return "", errors.New("the scenario is cut off, or changed")
	case len(plain) > maxLinked:
		return "", errors.New("the scenario is longer than 1 MiB")
	}
	return string(plain), nil
}
