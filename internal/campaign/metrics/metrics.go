// Package metrics shows how a campaign and its workers are doing, in the text format of Prometheus.
package metrics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// Server serves metrics at /metrics.
type Server struct {
	// Addr is where it listens, with the port that it was given.
	Addr string

	registry *prometheus.Registry
	shards   *prometheus.GaugeVec
	failures prometheus.Gauge
	finds    prometheus.Gauge
	took     prometheus.Histogram
	waited   prometheus.Histogram
}

// Listen listens at an address, such as 127.0.0.1:9464 or :9464 for all addresses of this machine, and
// serves until ctx ends.
func Listen(ctx context.Context, addr string) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s := newServer(l.Addr().String())
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = h.Serve(l) }() // until it is closed
	context.AfterFunc(ctx, func() { _ = h.Close() })
	return s, nil
}

func newServer(addr string) *Server {
	seconds := []float64{0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600}
	s := &Server{
		Addr: addr, registry: prometheus.NewRegistry(),
		shards:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "lockstorm_campaign_shards", Help: "Shards of the campaign by their state: done, left or set_aside."}, []string{"state"}),
		failures: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lockstorm_campaign_failed_attempts", Help: "Attempts to make a shard that failed."}),
		finds:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "lockstorm_campaign_finds", Help: "Shards that found something."}),
		took:     prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lockstorm_worker_shard_seconds", Help: "How long this worker took for a shard.", Buckets: seconds}),
		waited:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lockstorm_worker_queue_seconds", Help: "How long a shard of this worker was in the queue, by the clocks of server and worker.", Buckets: seconds}),
	}
	s.registry.MustRegister(s.shards, s.failures, s.finds, s.took, s.waited)
	return s
}

// Progress shows how far a campaign has come. A nil server shows nothing.
func (s *Server) Progress(p campaign.Progress) {
	if s == nil {
		return
	}
	s.shards.WithLabelValues("done").Set(float64(p.Done))
	s.shards.WithLabelValues("left").Set(float64(p.Left()))
	s.shards.WithLabelValues("set_aside").Set(float64(len(p.Aside)))
	s.failures.Set(float64(p.Failures))
	s.finds.Set(float64(len(p.Finds)))
}

// Made counts a shard that this worker has made. A nil server counts nothing.
func (s *Server) Made(r campaign.Record) {
	if s == nil {
		return
	}
	s.took.Observe(r.Took.Seconds())
	s.waited.Observe(r.Waited.Seconds())
}

// ValidateAddr returns an error unless the address has a port.
func ValidateAddr(addr string) error {
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		return fmt.Errorf("address %q: want one such as 127.0.0.1:9464", addr)
	}
	return nil
}
