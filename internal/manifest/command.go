package manifest

import (
	"encoding/csv"
	"fmt"
	"path"
	"slices"
	"strings"
)

// work returns the command of a worker. at says where it finds a file.
func (m Manifest) work(at func(file) string) []string {
	words := []string{m.Binary, "work", "--nats", m.Servers.URL}
	for _, f := range m.Files() {
		words = append(words, f.Flag, at(f))
	}
	if m.Campaign != "" {
		words = append(words, "--campaign", m.Campaign)
	}
	return append(words, "--workers", fmt.Sprint(m.Workers), "--once")
}

// partName returns the name, in the directory of all parts, of the part with a number. A number can
// also be a variable.
func (m Manifest) partName(number string) string {
	if m.Command[0] == "explore" {
		return "part-" + number + ".json"
	}
	return "part-" + number
}

// part returns the command that makes a part, up to the name of what it writes.
func (m Manifest) part() []string {
	abreast, out := "--parallel", "--out"
	if m.Command[0] == "explore" {
		abreast, out = "--workers", "--state"
	}
	shard := fmt.Sprintf("auto/%d", m.Machines)
	return append(append([]string{m.Binary}, m.Command...), abreast, fmt.Sprint(m.Workers), "--shard", shard, out)
}

// parts lists the parts in a directory, whose numbers begin with first.
func (m Manifest) parts(dir string, first int) (list []string) {
	for i := range m.Machines {
		list = append(list, path.Join(dir, m.partName(fmt.Sprint(first+i))))
	}
	return list
}

// merge returns the command that puts the parts in a directory together.
func (m Manifest) merge(dir string, first int) []string {
	parts := m.parts(dir, first)
	if m.Command[0] == "explore" {
		return slices.Concat([]string{m.Binary, "explore", "--merge", commaSeparated(parts)}, m.Command[1:])
	}
	return slices.Concat([]string{m.Binary, "merge", "--out", path.Join(dir, "merged")}, parts)
}

// commaSeparated returns a list as flags with lists have it: one line of CSV.
func commaSeparated(list []string) string {
	var line strings.Builder
	w := csv.NewWriter(&line)
	_ = w.Write(list) // to memory
	w.Flush()
	return strings.TrimSuffix(line.String(), "\n")
}
