//go:build parquet

package plots

import (
	"bytes"
	"math"

	"github.com/parquet-go/parquet-go"
)

func init() { writeParquet = parquetOf }

// parquetOf writes the columns in their order. An unknown number is null. The file's metadata has
// the title and what is known about the chart.
func parquetOf(columns []Column, about About) ([]byte, error) {
	group := parquet.Group{}
	for _, c := range columns {
		node := parquet.Leaf(parquet.DoubleType)
		if c.Texts != nil {
			node = parquet.String()
		}
		group[c.Name] = parquet.Optional(node)
	}
	schema := parquet.NewSchema("figure", group) // which sorts the columns by name
	place := map[string]int{}
	for i, path := range schema.Columns() {
		place[path[0]] = i
	}
	options := []parquet.WriterOption{schema, parquet.Compression(&parquet.Snappy), parquet.KeyValueMetadata("title", about.Title)}
	for _, f := range about.fields() {
		options = append(options, parquet.KeyValueMetadata(f.name, f.value))
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, options...)
	for n := range rows(columns) {
		row := make(parquet.Row, len(columns))
		for _, c := range columns {
			row[place[c.Name]] = c.parquet(n).Level(0, c.defined(n), place[c.Name])
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// parquet returns a value, null if it is unknown.
func (c Column) parquet(i int) parquet.Value {
	switch {
	case c.Texts != nil:
		return parquet.ByteArrayValue([]byte(c.Texts[i]))
	case math.IsNaN(c.Numbers[i]):
		return parquet.NullValue()
	}
	return parquet.DoubleValue(c.Numbers[i])
}

// defined is the definition level of a value: 0 of null.
func (c Column) defined(i int) int {
	if c.Texts == nil && math.IsNaN(c.Numbers[i]) {
		return 0
	}
	return 1
}
