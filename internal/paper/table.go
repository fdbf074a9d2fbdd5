package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// markdownTable is a table of a Markdown page.
type markdownTable struct {
	head []string
	rows [][]string
}

// tables returns the tables of a page.
func tables(page string) (all []markdownTable) {
	var t *markdownTable
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			t = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case t == nil:
			all = append(all, markdownTable{head: cells})
			t = &all[len(all)-1]
		case strings.Trim(cells[0], "-:") == "" && cells[0] != "":
		default:
			t.rows = append(t.rows, cells)
		}
	}
	return all
}

// cell returns the cell of a row in a column.
func (t markdownTable) cell(row []string, column string) string {
	if i := slices.Index(t.head, column); i >= 0 && i < len(row) {
		return row[i]
	}
	return ""
}

// key identifies a row.
func (t markdownTable) key(row []string, columns []string) string {
	var list []string
	for _, c := range columns {
		list = append(list, t.cell(row, c))
	}
	return strings.Join(list, ", ")
}

// find returns the first table that has all columns of the comparison.
func (t Table) find(page string) (markdownTable, error) {
	columns := slices.Concat(t.Key, t.Equal)
	for _, c := range []string{t.Share, t.Of} {
		if c != "" {
			columns = append(columns, c)
		}
	}
	for _, one := range tables(page) {
		if !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(one.head, c) }) {
			return one, nil
		}
	}
	return markdownTable{}, fmt.Errorf("no table with the columns %q", columns)
}

// compare compares the committed table with that of a command.
func (t Table) compare(root string, o output) ([]comparison, error) {
	page, err := os.ReadFile(filepath.Join(root, t.In))
	if err != nil {
		return nil, err
	}
	text := []byte(o.text)
	if made, err := os.ReadFile(o.file()); err == nil {
		text = made
	}
	was, err := t.find(string(page))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.In, err)
	}
	is, err := t.find(string(text))
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	committed := map[string][]string{}
	for _, row := range was.rows {
		committed[was.key(row, t.Key)] = row
	}
	var list []comparison
	for _, row := range is.rows {
		key := is.key(row, t.Key)
		before, ok := committed[key]
		if !ok {
			return nil, fmt.Errorf("%s has no row %q", t.In, key)
		}
		cells, err := t.cells(key, was, before, is, row)
		if err != nil {
			return nil, fmt.Errorf("%s: row %q: %w", t.In, key, err)
		}
		list = append(list, cells...)
	}
	if len(list) == 0 {
		return nil, errNothing
	}
	return list, nil
}

// cells compares the cells of two rows. A heading within a table has no figures.
func (t Table) cells(key string, was markdownTable, before []string, is markdownTable, row []string) (list []comparison, err error) {
	for _, c := range t.Equal {
		a, b := was.cell(before, c), is.cell(row, c)
		if a != "" || b != "" {
			list = append(list, exactly(key+": "+c, a, b, a == b))
		}
	}
	if t.Share == "" || was.cell(before, t.Share) == "" {
		return list, nil
	}
	a, err := t.rate(was, before)
	if err != nil {
		return nil, err
	}
	b, err := t.rate(is, row)
	if err != nil {
		return nil, err
	}
	return append(list, rates(key+": "+t.Share, a, b)), nil
}

// rate reads the share of a row.
func (t Table) rate(of markdownTable, row []string) (r runner.Rate, err error) {
	k, n, found := strings.Cut(of.cell(row, t.Share), " of ")
	if !found {
		n = of.cell(row, t.Of)
	}
	if r.K, err = strconv.Atoi(k); err == nil {
		r.N, err = strconv.Atoi(n)
	}
	if err == nil && (r.K < 0 || r.K > r.N) {
		err = fmt.Errorf("%d of %d", r.K, r.N)
	}
	return r, err
}
