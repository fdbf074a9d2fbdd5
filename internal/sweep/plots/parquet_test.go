//go:build parquet

package plots

import (
	"bytes"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Law: a Parquet file has the values of the chart's table, null where they are unknown, and says
// how they were made.
func TestParquet(t *testing.T) {
	for name, c := range map[string]Chart{"delays": samples["delays"], "drift": samples["drift"], "choices": samples["choices"]} {
		about := made
		made, err := Encode(c, Parquet, Screen, about)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parquet.OpenFile(bytes.NewReader(made), int64(len(made)))
		if err != nil {
			t.Fatal(err)
		}
		if value, ok := file.Lookup("Command"); !ok || value != "lockstorm sweep delay --runs 400" {
			t.Errorf("%s: the command is %q", name, value)
		}
		if value, ok := file.Lookup("Program"); !ok || value != "Lockstorm v1.2.0, revision 3f2a" {
			t.Errorf("%s: the program is %q", name, value)
		}
		columns := withProgram(c.table(), about)
		if file.NumRows() != int64(rows(columns)) {
			t.Fatalf("%s: %d rows, want %d", name, file.NumRows(), rows(columns))
		}
		values := map[string][]parquet.Value{}
		for _, group := range file.RowGroups() {
			for i, chunk := range group.ColumnChunks() {
				column := file.Schema().Columns()[i][0]
				pages := chunk.Pages()
				for {
					page, err := pages.ReadPage()
					if err != nil {
						break
					}
					some := make([]parquet.Value, page.NumValues())
					n, _ := page.Values().ReadValues(some)
					for _, v := range some[:n] {
						values[column] = append(values[column], v.Clone())
					}
				}
				_ = pages.Close()
			}
		}
		for _, column := range columns {
			same(t, name, column, values[column.Name])
		}
	}
}

func same(t *testing.T, name string, c Column, got []parquet.Value) {
	t.Helper()
	if len(got) != max(len(c.Texts), len(c.Numbers)) {
		t.Fatalf("%s: %d values of %q", name, len(got), c.Name)
	}
	for i, v := range got {
		switch {
		case c.Texts != nil && v.String() != c.Texts[i]:
			t.Errorf("%s: %q is %q, want %q", name, c.Name, v, c.Texts[i])
		case c.Texts == nil && v.IsNull() != math.IsNaN(c.Numbers[i]):
			t.Errorf("%s: %q is %v, want %v", name, c.Name, v, c.Numbers[i])
		case c.Texts == nil && !v.IsNull() && v.Double() != c.Numbers[i]:
			t.Errorf("%s: %q is %v, want %v", name, c.Name, v, c.Numbers[i])
		}
	}
}
