package metrics_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/campaign/metrics"
)

func TestMetrics(t *testing.T) {
	s, err := metrics.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Progress(campaign.Progress{Shards: 10, Done: 6, Failures: 2, Aside: make([]campaign.Aside, 1)})
	s.Made(campaign.Record{Took: 3 * time.Second, Waited: time.Minute})
	r, err := http.Get("http://" + s.Addr + "/metrics") //nolint:noctx // it is on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`lockstorm_campaign_shards{state="done"} 6`, `lockstorm_campaign_shards{state="left"} 3`, `lockstorm_campaign_shards{state="set_aside"} 1`,
		"lockstorm_campaign_failed_attempts 2", "lockstorm_worker_shard_seconds_sum 3", "lockstorm_worker_queue_seconds_sum 60",
	} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestInvalidAddresses(t *testing.T) {
	for _, addr := range []string{"", "host", "127.0.0.1:"} {
		if err := metrics.ValidateAddr(addr); err == nil {
			t.Errorf("%q is accepted", addr)
		}
	}
	if err := metrics.ValidateAddr("127.0.0.1:9464"); err != nil {
		t.Error(err)
	}
	taken, err := metrics.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := metrics.Listen(t.Context(), taken.Addr); err == nil || !strings.Contains(err.Error(), taken.Addr) {
		t.Errorf("an address that is taken: %v", err)
	}
}
