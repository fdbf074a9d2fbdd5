package shards

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// The formats of what is stored, and their version.
const (
	ResultFormat = "lockstorm-hunt-shard"
	EntryFormat  = "lockstorm-hunt-entry"
	Version      = 1
)

// Result is the result of a shard.
type Result struct {
	Hunt    string  `json:"hunt"`  // the sum of the division
	Shard   int     `json:"shard"` // from 0
	Summary Summary `json:"summary"`

	// Offers are the entries that the shard offers to others.
	Offers []fuzz.Entry `json:"offers,omitempty"`

	// Drawn is the log of the entries of others with which the shard began, in their order.
	Drawn []Drawn `json:"drawn,omitempty"`
}

// Drawn is an entry that a shard has drawn.
type Drawn struct {
	Entry string `json:"entry"` // its SHA-256, in hexadecimal digits
	Shard int    `json:"shard"` // that has offered it
}

// find returns the entry, of those that its shard has offered.
func (d Drawn) find(offered []fuzz.Entry) (fuzz.Entry, error) {
	for _, e := range offered {
		hash, err := parts.Hash(e)
		if err != nil {
			return e, err
		}
		if hash == d.Entry {
			return e, nil
		}
	}
	return fuzz.Entry{}, fmt.Errorf("shard %d has offered no entry with the hash %s", d.Shard, d.Entry)
}

// Seal stores the result. Equal results have equal bytes.
func (r Result) Seal() ([]byte, error) { return parts.Seal(ResultFormat, Version, r) }

// Unseal reads the stored result of a shard. It returns an error that names what is wrong with a
// text that is cut off or changed, of another hunt or shard, or has what no shard can have.
func (d Division) Unseal(shard int, text []byte) (r Result, err error) {
	if err := unseal(text, ResultFormat, &r); err != nil {
		return r, err
	}
	switch {
	case r.Hunt != d.Sum:
		return r, errors.New("it is of another hunt")
	case r.Shard != shard:
		return r, fmt.Errorf("it is of shard %d, and not of %d", r.Shard, shard)
	}
	first, most := d.before(shard)+1, d.runs(shard)
	if err := r.Summary.validate(first, most); err != nil {
		return r, err
	}
	for i, e := range r.Offers {
		err := e.Validate()
		if err == nil && (e.Run < first || e.Run >= first+r.Summary.Runs) {
			err = fmt.Errorf("run %d is none of the shard", e.Run)
		}
		if err != nil {
			return r, fmt.Errorf("offered entry %d: %w", i+1, err)
		}
	}
	return r, d.validateDrawn(r)
}

// MaxEntry is the largest size of a stored entry in bytes. Most have one to five kilobytes; one with
// samples of a distribution has more.
const MaxEntry = 1 << 20

// SealEntry stores an entry by itself.
func SealEntry(e fuzz.Entry) ([]byte, error) {
	text, err := parts.Seal(EntryFormat, Version, e)
	if err == nil && len(text) > MaxEntry {
		err = fmt.Errorf("the entry of run %d has %d bytes: want at most %d", e.Run, len(text), MaxEntry)
	}
	return text, err
}

// UnsealEntry reads what [SealEntry] has stored. It returns an error for anything else.
func UnsealEntry(text []byte) (e fuzz.Entry, err error) {
	if len(text) > MaxEntry {
		return e, fmt.Errorf("it has %d bytes: want at most %d", len(text), MaxEntry)
	}
	if err := unseal(text, EntryFormat, &e); err != nil {
		return e, err
	}
	return e, e.Validate()
}

// storable returns the entries that are not too large to be stored: the others are no loss.
func storable(entries []fuzz.Entry) (list []fuzz.Entry, err error) {
	for _, e := range entries {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		if len(text) <= MaxEntry-512 { // less the first line
			list = append(list, e)
		}
	}
	return list, nil
}

// unseal reads a stored value. It accepts only the bytes that are made of the value, so that equal
// values have equal hashes and nothing is hidden in them.
func unseal(text []byte, format string, v any) error {
	if err := parts.Unseal(text, format, Version, v); err != nil {
		return err
	}
	again, err := parts.Seal(format, Version, v)
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("it is not written as this program writes it")
	}
	return err
}

var hashes = regexp.MustCompile(`^[0-9a-f]{64}$`)

// validateDrawn returns an error for a log that the shard cannot have.
func (d Division) validateDrawn(r Result) error {
	if n := len(r.Drawn); n > fuzz.MaxGiven {
		return fmt.Errorf("%s: want at most %d", textfmt.Count(n, "drawn entry"), fuzz.MaxGiven)
	}
	seen := map[string]bool{}
	for i, one := range r.Drawn {
		switch {
		case !hashes.MatchString(one.Entry):
			return fmt.Errorf("drawn entry %d: the hash %q: want 64 hexadecimal digits", i+1, one.Entry)
		case seen[one.Entry]:
			return fmt.Errorf("drawn entry %d: it is drawn twice", i+1)
		case one.Shard < 0 || one.Shard >= d.Shards():
			return fmt.Errorf("drawn entry %d: it is of shard %d of %d", i+1, one.Shard, d.Shards())
		case one.Shard == r.Shard:
			return fmt.Errorf("drawn entry %d: the shard has offered it itself", i+1)
		}
		seen[one.Entry] = true
	}
	return nil
}
