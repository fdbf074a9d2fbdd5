package timeline_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/lockstorm/lockstorm/report/timeline"
	"github.com/lockstorm/lockstorm/results"
)

func TestDump(t *testing.T) {
	dir := os.Getenv("DUMP")
	run, err := results.Load(dir)
	if err != nil {
		t.Skip(err)
	}
	m, err := timeline.Read(timeline.Run{Open: func() (io.ReadCloser, error) { return os.Open(dir + "/history.jsonl") }, Report: run.Report, Scenario: &run.Scenario.Scenario})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.MarshalIndent(m, "", " ")
	fmt.Println(string(b))
	_ = m.Text(os.Stderr)
}
