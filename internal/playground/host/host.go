// Package host serves the playground over HTTP, with the runs that are stored in some directories.
//
//	/                          the playground and its files; without them, /report
//	/report                    a page about all that is stored
//	/api/runs                  the stored runs ([Run]), the last changed one first
//	/api/runs/NAME/history     the history of one, as far as it is written
package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
)

// Host serves the playground.
type Host struct {
	// Files are those of the playground. nil: there is none.
	Files fs.FS

	// Runs are the directories of the stored runs. They need not exist. Of runs with the same name in several
	// directories the first counts.
	Runs []string

	// Report makes the page about all that is stored.
	Report func(ctx context.Context) ([]byte, error)

	// Names are the names by which browsers may address the host, besides those of the loopback
	// interface; with a wildcard (see [IsWildcard]) also by any IP address. Others are refused: a page of
	// somebody else whose name leads to this machine must not read the runs. An IP address leads to one
	// machine for everybody, so no page can have another's.
	Names []string
}

// The page finds the runs by this element. On any other host it is empty.
const (
	withoutRuns = `<meta name="stored-runs" content="">`
	withRuns    = `<meta name="stored-runs" content="api/runs">`
)

// Handler returns what answers requests. It fails if the files are not those of the playground.
func (h Host) Handler() (http.Handler, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /report", h.report)
	if h.Files == nil {
		mux.Handle("GET /{$}", http.RedirectHandler("/report", http.StatusFound))
		return h.guarded(mux), nil
	}
	index, err := fs.ReadFile(h.Files, "index.html")
	if err != nil {
		return nil, fmt.Errorf("the files of the playground: %w", err)
	}
	if !bytes.Contains(index, []byte(withoutRuns)) {
		return nil, errors.New("the files of the playground: index.html is not that of this version")
	}
	index = bytes.Replace(index, []byte(withoutRuns), []byte(withRuns), 1)
	mux.Handle("GET /", http.FileServerFS(h.Files))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(index)
	})
	mux.HandleFunc("GET /api/runs", h.list)
	mux.HandleFunc("GET /api/runs/{name}/history", h.history)
	return h.guarded(mux), nil
}

// guarded refuses requests under other names, and says what browsers may do with the answers.
func (h Host) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.named(r.Host) {
			http.Error(w, "this host is not served under that name", http.StatusForbidden)
			return
		}
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

func (h Host) named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	for _, name := range h.Names {
		if name != "" && strings.EqualFold(host, name) || ip != nil && IsWildcard(name) {
			return true
		}
	}
	return false
}

// IsWildcard reports whether a server that listens on a host listens on all interfaces.
func IsWildcard(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func (h Host) list(w http.ResponseWriter, _ *http.Request) {
	runs := []Run{}
	for _, dir := range h.Runs {
		more, err := listed(dir)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		runs = append(runs, more...)
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return b.Changed.Compare(a.Changed) })
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(runs) // whoever has gone need not be told
}

func (h Host) report(w http.ResponseWriter, r *http.Request) {
	page, err := h.Report(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page)
}

func (h Host) history(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if name != path.Base(name) || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		http.Error(w, fmt.Sprintf("%q is not the name of a run", name), http.StatusBadRequest)
		return
	}
	var file *os.File
	var live bool
	err := fs.ErrNotExist
	for _, dir := range h.Runs {
		if file, live, err = opened(dir, name); err == nil {
			break
		}
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("there is no run %q with a history", name), http.StatusNotFound)
		return
	}
	defer func() { _ = file.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Lockstorm-Live", fmt.Sprint(live))
	_, _ = io.Copy(w, file)
}
