package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Join returns the records of all shards of some work. paths are their files, or directories with them.
// It returns an error that names each file that is damaged, not finished, of other work or there twice,
// and the shards that are missing.
func Join(paths []string, w Work) (*Log, error) {
	h, err := newHead(w, Whole)
	if err != nil {
		return nil, err
	}
	names, err := filesIn(paths)
	if err != nil {
		return nil, err
	}
	all := &Log{head: h, records: map[int]json.RawMessage{}, finished: true, joined: true}
	at := map[int]string{} // by the number of the shard
	var first contents
	var wrong []error
	for _, name := range names {
		c, err := load(name, h)
		if err == nil && first.Shard.N == 0 {
			first = c
		}
		other, twice := at[c.Shard.I]
		switch {
		case err != nil:
		case c.Shard.N != first.Shard.N:
			err = fmt.Errorf("%s is shard %v, and %s is %v", at[first.Shard.I], first.Shard, name, c.Shard)
		case twice:
			err = fmt.Errorf("%s and %s are both shard %v", other, name, c.Shard)
		default:
			at[c.Shard.I] = name
			err = all.include(name, c)
		}
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	var missing []string
	for i := 1; i <= first.Shard.N; i++ {
		if _, there := at[i]; !there {
			missing = append(missing, Shard{i, first.Shard.N}.String())
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("no file has %s %s", textfmt.Plural(len(missing), "shard"), strings.Join(missing, ", "))
	}
	return all, nil
}

// filesIn returns the paths of files, with those of shards in directories.
func filesIn(paths []string) (names []string, err error) {
	for _, p := range paths {
		info, err := files.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			names = append(names, p)
			continue
		}
		in, err := filepath.Glob(filepath.Join(escaped.Replace(p), "shard-*-of-*.jsonl"))
		if err != nil {
			return nil, err
		}
		if len(in) == 0 {
			return nil, fmt.Errorf("%s has no shard: want files such as %s", p, FileName(Whole))
		}
		names = append(names, in...)
	}
	return names, nil
}

// escaped writes a path as a pattern that matches it alone.
var escaped = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// load reads the file of a finished shard of the work.
func load(name string, h head) (contents, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return contents{}, err
	}
	c, err := read(text)
	if c.whole > 0 { // a file of other work is that, also where it is damaged
		if differ := h.same(c.head); differ != nil {
			err = differ
		}
	}
	if err == nil && !c.finished {
		err = fmt.Errorf("shard %v is not finished: run it to its end", c.Shard)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// include adds the records of a file.
func (l *Log) include(name string, c contents) error {
	for unit, record := range c.records {
		if _, twice := l.records[unit]; twice {
			return fmt.Errorf("%s: another shard has unit %d, too", name, unit)
		}
		l.records[unit] = record
	}
	return nil
}
