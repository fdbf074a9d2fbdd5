package shard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// subject is what the work of these tests is.
type subject struct {
	Seed int    `json:"seed"`
	Text string `json:"text"`
}

func work(seed int) shard.Work {
	return shard.Work{Kind: "count", Build: "b1", Of: subject{seed, "a < b"}}
}

// made makes a shard of ten units in a directory, in the given order, and returns its path.
func made(t *testing.T, dir string, w shard.Work, s shard.Shard, units ...int) string {
	t.Helper()
	log, err := shard.Open(dir, w, s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	for _, unit := range units {
		if log.Has(unit) {
			continue
		}
		if err := log.Add(unit, fmt.Sprintf("<%d>", unit)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Finish(); err != nil {
		t.Fatal(err)
	}
	return log.Path()
}

var read, write = testkit.Read, testkit.Write

// Law: a shard that is cut off anywhere, or has a line that is no record, is continued from the last whole record
// before to the same bytes, in whatever order records are added.
func TestContinue(t *testing.T) {
	whole := read(t, made(t, t.TempDir(), work(1), shard.Whole, 0, 1, 2, 3))
	for n := range len(whole) {
		dir := t.TempDir()
		path := filepath.Join(dir, shard.FileName(shard.Whole))
		write(t, path, whole[:n])
		made(t, dir, work(1), shard.Whole, 3, 1, 2, 0)
		if got := read(t, path); got != whole {
			t.Fatalf("continued after %d bytes:\n%s\nand not\n%s", n, got, whole)
		}
	}
	lines := strings.SplitAfter(whole, "\n")
	dir := t.TempDir()
	path := filepath.Join(dir, shard.FileName(shard.Whole))
	write(t, path, lines[0]+lines[1]+strings.Replace(lines[2], "unit", "\x00", 1)+lines[3])
	made(t, dir, work(1), shard.Whole, 1, 2, 3)
	if got := read(t, path); got != whole {
		t.Errorf("continued after a damaged line:\n%s", got)
	}
}

// A finished shard whose records were changed is neither continued nor joined.
func TestSeal(t *testing.T) {
	dir := t.TempDir()
	path := made(t, dir, work(1), shard.Whole, 0, 1)
	changed := strings.Replace(read(t, path), `"unit":1`, `"unit":2`, 1)
	write(t, path, changed)
	const want = "line 4: the lines before it were changed since the file was finished"
	if _, err := shard.Open(dir, work(1), shard.Whole); err == nil || !strings.Contains(err.Error(), want) || read(t, path) != changed {
		t.Error(err)
	}
	if _, err := shard.Join([]string{path}, work(1)); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// Only one process writes to a file, and only for the work that it is of.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	path := made(t, dir, work(1), shard.Shard{I: 1, N: 2}, 0)
	was := read(t, path)
	other := func(change func(*shard.Work)) shard.Work {
		w := work(1)
		change(&w)
		return w
	}
	for want, w := range map[string]shard.Work{
		"it is of another count: seed 1, and not 2": work(2),
		"it is of the command count, and not hunt":  other(func(w *shard.Work) { w.Kind = "hunt" }),
		"it was made by another build of lockstorm": other(func(w *shard.Work) { w.Build = "b2" }),
		"text differs": other(func(w *shard.Work) { w.Of = subject{1, strings.Repeat("long ", 20)} }),
		`seed 1, and not none; text a < b, and not no`: other(func(w *shard.Work) { w.Of = struct{}{} }),
	} {
		if _, err := shard.Open(dir, w, shard.Shard{I: 1, N: 2}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got := read(t, path); got != was {
		t.Errorf("the file was changed to\n%s", got)
	}
	log, err := shard.Open(dir, work(1), shard.Shard{I: 2, N: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shard.Open(dir, work(1), shard.Shard{I: 2, N: 2}); err == nil || !strings.Contains(err.Error(), "another process is writing to it") {
		t.Error(err)
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	foreign := filepath.Join(dir, shard.FileName(shard.Whole))
	write(t, foreign, "mine\n")
	if _, err := shard.Open(dir, work(1), shard.Whole); err == nil || !strings.Contains(err.Error(), "it is no file of a shard") || read(t, foreign) != "mine\n" {
		t.Error(err)
	}
}

// Joined shards have the records of all, wherever their files are, and no others.
func TestJoin(t *testing.T) {
	dir, apart := t.TempDir(), t.TempDir()
	made(t, dir, work(1), shard.Shard{I: 1, N: 3}, 0, 3)
	made(t, dir, work(1), shard.Shard{I: 3, N: 3}, 2)
	two := made(t, apart, work(1), shard.Shard{I: 2, N: 3}, 1)
	log, err := shard.Join([]string{two, dir}, work(1))
	if err != nil {
		t.Fatal(err)
	}
	for unit := range 4 {
		var text string
		if known, err := log.Get(unit, &text); !known || err != nil || text != fmt.Sprintf("<%d>", unit) {
			t.Errorf("unit %d: %t, %v, %q", unit, known, err, text)
		}
	}
	if _, err := log.Get(4, new(string)); err == nil || err.Error() != "no shard has the record of unit 4" {
		t.Error(err)
	}
}

// Shards that do not make a whole are named.
func TestJoinRefuses(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	one := made(t, in("one"), work(1), shard.Shard{I: 1, N: 2}, 0, 2)
	two := made(t, in("two"), work(1), shard.Shard{I: 2, N: 2}, 1)
	same := made(t, in("same"), work(1), shard.Shard{I: 2, N: 2}, 2)
	third := made(t, in("third"), work(1), shard.Shard{I: 3, N: 3}, 2)
	other := made(t, in("other"), work(2), shard.Shard{I: 2, N: 2}, 1)
	lines := strings.SplitAfter(read(t, two), "\n")
	variant := func(name, text string) string {
		write(t, in(name), text)
		return in(name)
	}
	for want, paths := range map[string][]string{
		"no file has shard 2/2":                                     {one},
		"no file has shards 1/3, 2/3":                               {third},
		one + " and " + one + " are both shard 1/2":                 {one, two, one},
		one + " is shard 1/2, and " + third + " is 3/3":             {one, third},
		other + ": it is of another count: seed 2, and not 1":       {one, other},
		same + ": another shard has unit 2, too":                    {one, same},
		"begun: shard 2/2 is not finished: run it to its end":       {one, variant("begun", lines[0]+lines[1])},
		"cut: line 2 is cut off":                                    {one, variant("cut", lines[0]+lines[1][:9])},
		"blank: line 2: it is no record":                            {one, variant("blank", lines[0]+"{}\n"+lines[2])},
		"fewer: line 2: it ends after 1 record, and has 0":          {one, variant("fewer", lines[0]+lines[2])},
		"twice: line 3: unit 1 comes twice":                         {one, variant("twice", lines[0]+lines[1]+lines[1]+lines[2])},
		"new: it has version 2; this program reads version 1":       {one, variant("new", strings.Replace(read(t, two), `"version":1`, `"version":2`, 1))},
		"text: it is no file of a shard":                            {one, variant("text", "hello\n")},
		"none does not exist":                                       {in("none")},
		"empty has no shard: want files such as shard-1-of-1.jsonl": {t.TempDir() + "/../empty"},
		"first: line 1 is cut off\nsecond: line 3 is cut off":       {variant("first", strings.TrimSuffix(lines[0], "\n")), variant("second", lines[0]+lines[1]+"{")},
	} {
		if strings.HasPrefix(want, "empty") {
			if err := os.MkdirAll(paths[0], 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_, err := shard.Join(paths, work(1))
		if got := fmt.Sprint(err); !strings.Contains(strings.ReplaceAll(got, dir+"/", ""), strings.ReplaceAll(want, dir+"/", "")) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
