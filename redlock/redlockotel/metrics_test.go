package redlockotel_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redlockotel"
)

// wantMeasured compares all series but those of requests.
func (c *scene) wantMeasured(want map[string]int64) {
	c.Helper()
	got := c.measured()
	maps.DeleteFunc(got, func(name string, _ int64) bool { return strings.HasPrefix(name, "redlock.node.request.duration") })
	if !maps.Equal(got, want) {
		c.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

// Histograms are compared by their counts, tries by their sum.
func TestMetricsOfHolds(t *testing.T) {
	c := play(t, nil, func(c *scene, m *redlock.Mutex) {
		h, err := c.client.Lock(context.Background(), m, "r")
		c.ok(err)
		c.ok(h.Extend(context.Background(), time.Second))
		c.ok(h.Release(context.Background()))
		_, err = c.client.Lock(context.Background(), m, "s")
		c.ok(err)
		_, err = m.TryLock(context.Background(), "s")
		c.wantError(err, redlock.ErrTaken)
	})
	c.wantMeasured(map[string]int64{
		"redlock.lock.duration{redlock.outcome=granted}":     2,
		"redlock.lock.tries{redlock.outcome=granted}":        2,
		"redlock.acquire.duration{redlock.outcome=granted}":  2,
		"redlock.acquire.duration{redlock.outcome=taken}":    1,
		"redlock.acquire.validity{}":                         2,
		"redlock.extend.duration{redlock.outcome=extended}":  1,
		"redlock.hold.duration{redlock.outcome=released}":    1,
		"redlock.hold.active{}":                              1,
		"redlock.release.duration{redlock.outcome=released}": 1,
	})
}

// A loss counts once, whichever operation finds it.
func TestMetricsOfLosses(t *testing.T) {
	c := play(t, forgetful(), func(c *scene, m *redlock.Mutex) {
		h := c.lock(m)
		c.sleep(200 * ms)
		c.wantError(h.Extend(context.Background(), time.Second), redlock.ErrLost)
		c.wantError(h.Release(context.Background()), redlock.ErrLost)
		c.ok(m.Close(context.Background()))
	})
	c.wantMeasured(map[string]int64{
		"redlock.acquire.duration{redlock.outcome=granted}": 1,
		"redlock.acquire.validity{}":                        1,
		"redlock.extend.duration{redlock.outcome=lost}":     1,
		"redlock.hold.duration{redlock.outcome=lost}":       1,
		"redlock.hold.losses{redlock.outcome=lost}":         1,
		"redlock.hold.active{}":                             0,
		"redlock.release.duration{redlock.outcome=lost}":    1,
	})
}

// Requests are counted by node, operation and reply, including replies after the outcome.
func TestMetricsOfRequests(t *testing.T) {
	c := play(t, nemesis.Plan{crash(5, 0, nil), slow(4, 10*ms)}, func(c *scene, m *redlock.Mutex) {
		c.lock(m)
		c.ok(m.Close(context.Background()))
	})
	got := c.measured()
	for name, n := range map[string]int64{
		"redlock.node.request.duration{redlock.answer=yes,redlock.node=1,redlock.op=set}":    1,
		"redlock.node.request.duration{redlock.answer=yes,redlock.node=4,redlock.op=set}":    1,
		"redlock.node.request.duration{redlock.answer=failed,redlock.node=5,redlock.op=set}": 1,
	} {
		if got[name] != n {
			t.Errorf("%s: %d, want %d", name, got[name], n)
		}
	}
}

// Measurements bear no name of a resource, but can bear its class.
func TestMetricsByClass(t *testing.T) {
	c := open(t, setting(3, nil))
	reader := metric.NewManualReader()
	telemetry, err := redlockotel.New(c.Runtime(1), redlockotel.Options{
		TracerProvider: c.provider, MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)),
		Class: func(resource string) string { kind, _, _ := strings.Cut(resource, "-"); return kind },
	})
	if err != nil {
		t.Fatal(err)
	}
	c.client = telemetry
	c.run(config(), func(m *redlock.Mutex) {
		for _, resource := range []string{"invoice-7", "invoice-8", "report-1"} {
			_, err := m.TryLock(context.Background(), resource)
			c.ok(err)
		}
	})
	got := measured(t, reader)
	if got["redlock.hold.active{redlock.resource.class=invoice}"] != 2 || got["redlock.hold.active{redlock.resource.class=report}"] != 1 {
		t.Errorf("got %v", got)
	}
	for name := range maps.Keys(got) {
		if strings.Contains(name, "invoice-") {
			t.Errorf("%s names a resource", name)
		}
	}
}
