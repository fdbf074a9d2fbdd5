package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Work identifies what is divided.
type Work struct {
	Kind  string // of the work, as in "sweep"
	Build string // of the program: another one may run other code

	// Of has everything else that the records depend on. It is stored as a JSON object, and errors name
	// the fields in which two differ.
	Of any
}

// Log is the records of a shard. Its methods may be called by several goroutines at a time. A nil log is
// that of the whole, and keeps nothing.
type Log struct {
	mu       sync.Mutex
	path     string
	file     *os.File // to which records are appended; nil: the log is joined
	lock     *os.File
	head     head
	records  map[int]json.RawMessage
	finished bool
	joined   bool // of shards: nothing can be added
}

// FileName returns the name of a shard's file.
func FileName(s Shard) string { return fmt.Sprintf("shard-%d-of-%d.jsonl", s.I, s.N) }

// Open opens the log of a shard in a directory, which it creates if necessary, or begins it. It continues
// behind the last record that is whole. It returns an error if the file is of other work, or another
// process is writing to it.
func Open(dir string, w Work, s Shard) (*Log, error) {
	h, err := newHead(w, s)
	if err != nil {
		return nil, err
	}
	l := &Log{path: filepath.Join(dir, FileName(s)), head: h, records: map[int]json.RawMessage{}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := l.open(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Log) open() (err error) {
	if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return err
	}
	switch l.lock, err = files.Hold(l.path); {
	case errors.Is(err, files.ErrHeld):
		return fmt.Errorf("%s: another process is writing to it", l.path)
	case err != nil && !errors.Is(err, errors.ErrUnsupported):
		return err
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		return err
	}
	first, err := files.Line(l.head)
	if err != nil {
		return err
	}
	whole := 0 // bytes to keep
	if !bytes.HasPrefix(first, text) {
		was, err := read(text)
		if errors.Is(err, errChanged) || err != nil && was.whole == 0 {
			return fmt.Errorf("%s: %w", l.path, err)
		}
		if err := l.head.same(was.head); err != nil {
			return fmt.Errorf("%s: %w", l.path, err)
		}
		if was.Shard != l.head.Shard {
			return fmt.Errorf("%s: it is of shard %v", l.path, was.Shard)
		}
		l.records, l.finished, whole = was.records, was.finished, was.whole
	}
	if err := l.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := l.file.Seek(int64(whole), 0); err != nil || whole > 0 {
		return err
	}
	_, err = l.file.Write(first)
	return err
}

// Shard returns the shard of which the log has the records.
func (l *Log) Shard() Shard {
	if l == nil {
		return Whole
	}
	return l.head.Shard
}

// Path returns the path of the file; empty: there is none.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.path
}

// Finished reports whether all records of the shard are there.
func (l *Log) Finished() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished
}

// Has reports whether the log has the record of a unit.
func (l *Log) Has(unit int) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.records[unit]
	return known
}

// Get decodes the record of a unit, and reports whether there is one. That there is none is an error of a
// log that was joined.
func (l *Log) Get(unit int, record any) (bool, error) {
	if l == nil {
		return false, nil
	}
	l.mu.Lock()
	text, known := l.records[unit]
	l.mu.Unlock()
	if !known && l.joined {
		return false, fmt.Errorf("no shard has the record of unit %d", unit)
	}
	if !known {
		return false, nil
	}
	if err := files.Strictly(text, record); err != nil {
		return false, fmt.Errorf("the record of unit %d: %w", unit, err)
	}
	return true, nil
}

// Add appends the record of a unit.
func (l *Log) Add(unit int, record any) error {
	if l == nil {
		return nil
	}
	text, err := files.Line(record)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.finished {
		return fmt.Errorf("unit %d is none of the shard, which is finished", unit)
	}
	_, err = l.file.Write(recordLine(unit, text))
	l.records[unit] = text
	return err
}

// Finish marks the log as complete. A shard that is made again has the same bytes then, in whatever order
// records were added.
func (l *Log) Finish() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.finished {
		return nil
	}
	text, err := files.Line(l.head)
	if err != nil {
		return err
	}
	for _, unit := range slices.Sorted(maps.Keys(l.records)) {
		text = append(text, recordLine(unit, l.records[unit])...)
	}
	l.finished = true
	return files.WriteWhole(l.path, fmt.Appendf(text, "{\"end\":%d,\"seal\":%q}\n", len(l.records), sealOf(text)))
}

// Close closes the file, and unlocks it.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	var errs []error
	for _, f := range []*os.File{l.file, l.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

var errChanged = errors.New("the lines before it were changed since the file was finished")

// sealOf returns the hash by which a finished file is known to be whole and as it was written.
func sealOf(lines []byte) string {
	sum := sha256.Sum256(lines)
	return hex.EncodeToString(sum[:])
}

func recordLine(unit int, record json.RawMessage) []byte {
	return fmt.Appendf(nil, "{\"unit\":%d,\"record\":%s}\n", unit, bytes.TrimSpace(record))
}

// The format of the files, and its version.
const (
	format  = "lockstorm-shard"
	version = 1
)

// head is the first line of a file.
type head struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Kind    string          `json:"kind"`
	Shard   Shard           `json:"shard"`
	Build   string          `json:"build"`
	Work    json.RawMessage `json:"work"`
}

func newHead(w Work, s Shard) (head, error) {
	of, err := files.Line(w.Of)
	return head{format, version, w.Kind, s, w.Build, of}, err
}

// same returns an error that says how the head of a file differs from this one.
func (h head) same(was head) error {
	switch differ := Differences(was.Work, h.Work); {
	case was.Kind != h.Kind:
		return fmt.Errorf("it is of the command %s, and not %s", was.Kind, h.Kind)
	case len(differ) > 0:
		return fmt.Errorf("it is of another %s: %s", h.Kind, strings.Join(differ, "; "))
	case was.Build != h.Build:
		return errors.New("it was made by another build of lockstorm, which may run other code")
	}
	return nil
}

// longest is how many bytes of a value are shown.
const longest = 80

// Differences describes the fields in which two JSON objects differ, as in "runs 6, and not 7". Fields with
// long values, such as hashes, are only named, and only if no other field differs.
func Differences(was, is json.RawMessage) (list []string) {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return []string{"it does not say what it is of"}
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	var long []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		x, y := a[name], b[name]
		text := strings.ReplaceAll(name, "_", " ")
		switch {
		case bytes.Equal(x, y):
		case len(x)+len(y) > longest:
			long = append(long, text+" differs")
		default:
			list = append(list, fmt.Sprintf("%s %s, and not %s", text, shown(x), shown(y)))
		}
	}
	if len(list) == 0 {
		return long
	}
	return list
}

// shown returns a value as errors show it.
func shown(value json.RawMessage) string {
	if value == nil {
		return "none"
	}
	return strings.Trim(string(value), `"`)
}

// contents is what a file has.
type contents struct {
	head
	records  map[int]json.RawMessage
	finished bool
	whole    int // bytes of the lines that are neither cut off nor damaged, from the first on
}

// read reads a file up to its first line that is cut off or damaged. The error names that line.
func read(text []byte) (c contents, err error) {
	c.records = map[int]json.RawMessage{}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if json.Unmarshal(first, &c.head) != nil || c.Format != format {
		return c, errors.New("it is no file of a shard")
	}
	if c.Version != version {
		return c, fmt.Errorf("it has version %d; this program reads version %d", c.Version, version)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if line[len(line)-1] != '\n' {
			return c, fmt.Errorf("line %d is cut off", number)
		}
		if number > 1 {
			if err := c.add(line, text[:c.whole]); err != nil {
				return c, fmt.Errorf("line %d: %w", number, err)
			}
		}
		c.whole += len(line)
	}
	return c, nil
}

// add adds a line with a record, or the last one, which seals those before it.
func (c *contents) add(line, before []byte) error {
	var l struct {
		Unit   int             `json:"unit"`
		Record json.RawMessage `json:"record"`
		End    *int            `json:"end"`
		Seal   string          `json:"seal"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	_, twice := c.records[l.Unit]
	switch {
	case c.finished:
		return errors.New("it comes after the end")
	case l.End != nil && *l.End != len(c.records):
		return fmt.Errorf("it ends after %s, and has %d", textfmt.Count(*l.End, "record"), len(c.records))
	case l.End != nil && l.Seal != sealOf(before):
		return errChanged
	case l.End != nil:
		c.finished = true
		return nil
	case twice:
		return fmt.Errorf("unit %d comes twice", l.Unit)
	case l.Record == nil:
		return errors.New("it is no record")
	}
	c.records[l.Unit] = l.Record
	return nil
}
