package doctor

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checks are the checks of one server. A check without a finding was not made.
var checks = []struct {
	name string
	of   func(*reading) Finding
}{
	{"connection", (*reading).connection},
	{"replication", (*reading).replication}, {"eviction", (*reading).eviction}, {persistenceCheck, (*reading).persistence},
	{"uptime", (*reading).uptime}, {"round trips", (*reading).roundTrips}, {"commands", (*reading).version},
	{"rights", (*reading).userRights}, {"a lock's commands", (*reading).trial}, {"clocks", (*reading).readable},
}

const persistenceCheck = "persistence"

// newReport judges what was read.
func newReport(read []reading) Report {
	var r Report
	var all []Finding
	for i := range read {
		s := &read[i]
		r.Servers = append(r.Servers, s.summary())
		for _, c := range checks {
			f := c.of(s)
			if f.Severity == "" {
				continue
			}
			f.Check, f.Servers = c.name, []string{s.address}
			all = append(all, f)
			if s.err != nil || s.settings["redis_mode"] == "sentinel" {
				break // other checks would find nothing
			}
		}
	}
	all = append(all, identities(read)...)
	all = append(all, hosts(read)...)
	all = append(all, clocks(read)...)
	r.Findings = merged(all)
	r.Verdict = r.Findings[0].Severity
	if r.Verdict == Note {
		r.Verdict = Fine
	}
	r.Facts = facts(read, r.Findings)
	return r
}

func (r *reading) summary() Server {
	s := Server{Address: r.address, Version: r.settings["redis_version"], Role: r.settings["role"], RunID: r.settings["run_id"], Clock: r.clock}
	if v := r.settings["valkey_version"]; v != "" {
		s.Version = "Valkey " + v
	}
	if r.settings["redis_mode"] == "sentinel" {
		s.Role = "sentinel"
	}
	if seconds, err := strconv.ParseInt(r.settings["uptime_in_seconds"], 10, 64); err == nil {
		s.Uptime = Duration(time.Duration(seconds) * time.Second)
	}
	if n := len(r.pings); n > 0 {
		at := func(perMille int) Duration { return Duration(r.pings[(n-1)*perMille/1000]) }
		s.RoundTrip = &RoundTrip{n, at(0), at(500), at(990), at(1000)}
	}
	return s
}

func (r *reading) connection() (f Finding) {
	if r.err != nil {
		f = Finding{Severity: Unread, Text: "Not read: " + r.err.Error(), Help: "Check the address, the network and the server."}
	}
	return f
}

func (r *reading) replication() Finding {
	replicas := r.settings["connected_slaves"]
	setting := r.shown("role", "connected_slaves", "cluster_enabled")
	switch role, is := r.settings["role"]; {
	case r.settings["redis_mode"] == "sentinel":
		return trouble("sentinel", r.shown("redis_mode"))
	case r.settings["cluster_enabled"] == "1":
		return trouble("cluster", setting)
	case !is:
		return r.cannotTell("role", "INFO")
	case role != "master":
		return trouble("replica", r.shown("role", "master_host", "master_port"))
	case r.sentinel > 0:
		return trouble("watched", fmt.Sprintf("%s, %d subscribed to %s", setting, r.sentinel, sentinelChannel))
	case r.sentinel < 0:
		return r.cannotTell(setting+", Sentinels (not read)", "PUBSUB NUMSUB")
	case replicas != "0":
		return trouble("replicated", setting)
	}
	return fine(setting, "The server is a master by itself.")
}

func (r *reading) eviction() Finding {
	setting := r.shown("maxmemory", "maxmemory-policy")
	limit, limited := r.settings["maxmemory"]
	policy, is := r.settings["maxmemory-policy"]
	switch {
	case !limited || !is:
		return r.cannotTell(setting, "INFO", "CONFIG GET")
	case policy == "noeviction":
		return fine(setting, "The server evicts nothing.")
	case limit == "0":
		return trouble("would evict", setting)
	case strings.HasPrefix(policy, "allkeys-"):
		return trouble("evicts all", setting)
	}
	return trouble("evicts", setting)
}

func (r *reading) persistence() Finding {
	setting := r.shown("appendonly", "appendfsync", "no-appendfsync-on-rewrite", "save")
	save, saveRead := r.settings["save"]
	switch kept := r.kept(); {
	case kept == "":
		return r.cannotTell(setting, "INFO", "CONFIG GET")
	case kept == "aof-always":
		return fine(setting, "A restart and a power loss keep all acknowledged writes.")
	case r.settings["appendonly"] == "yes":
		return trouble("synced late", setting)
	case saveRead && save == "":
		return trouble("no persistence", setting)
	}
	return trouble("snapshots only", setting)
}

// kept returns which of the persistences the server has. While a child saves, no-appendfsync-on-rewrite stops all
// syncs, even those of "always".
func (r *reading) kept() string {
	switch aof, sync := r.settings["appendonly"], r.settings["appendfsync"]; {
	case aof == "" || aof == "yes" && sync == "":
		return ""
	case aof == "yes" && sync != "no" && r.settings["no-appendfsync-on-rewrite"] != "yes":
		return "aof-" + sync
	}
	return "none"
}

// longestTTL is the longest TTL of most locks, against which a server's age is held.
const longestTTL = 10 * time.Minute

func (r *reading) uptime() Finding {
	up := time.Duration(r.summary().Uptime)
	_, is := r.settings["uptime_in_seconds"]
	switch {
	case !is:
		return r.cannotTell("uptime_in_seconds", "INFO")
	case up < longestTTL && r.kept() != "aof-always":
		return trouble("restarted", fmt.Sprintf("uptime_in_seconds below %.0f", longestTTL.Seconds())) // that of several servers is one finding
	}
	return fine("", "No restart within 10 minutes that lost keys.")
}

func (r *reading) roundTrips() Finding {
	t := r.summary().RoundTrip
	if t == nil || r.unread["PING"] != "" {
		return r.cannotTell("PING", "PING")
	}
	return fine(fmt.Sprintf("%d PINGs", t.Samples), "Measured now and from here, so rarer delays are not covered.")
}

func (r *reading) version() Finding {
	setting := r.shown("redis_version")
	if r.commands == nil {
		return r.cannotTell(setting, "COMMAND INFO")
	}
	var lacks, offers []string
	for _, c := range lockCommands {
		if name := c[0].(string); !r.commands[name] {
			lacks = append(lacks, strings.ToUpper(name))
		}
	}
	for _, name := range compareAndDelete {
		if r.commands[name] {
			offers = append(offers, strings.ToUpper(name))
		}
	}
	if len(lacks) > 0 {
		return trouble("lacks commands", setting+", no "+strings.Join(lacks, ", "))
	}
	text := "The server has SET, EVAL and the other commands of a lock"
	if len(offers) > 0 {
		text += ", and " + strings.Join(offers, ", ") + " to release without a script"
	}
	return fine(setting, text+".")
}

func (r *reading) userRights() Finding {
	switch {
	case len(r.rights) > 0:
		return trouble("no rights", "ACL DRYRUN refuses "+strings.Join(r.rights, ", "))
	case r.unread["ACL DRYRUN"] != "":
		f := r.cannotTell("ACL DRYRUN", "ACL DRYRUN")
		f.Help += " Or try a lock's commands: --write."
		return f
	}
	return fine("", "The user may use the commands of a lock.")
}

// trial is about what was tried by writing, if it was.
func (r *reading) trial() (f Finding) {
	switch {
	case !r.wrote:
		return f
	case len(r.tried) > 0:
		return trouble("refuses", strings.Join(r.tried, "; "))
	case r.unread["SET NX PX"] != "":
		return r.cannotTell("SET NX PX", "SET NX PX")
	}
	return fine("", "SET NX PX, GET and the release script work.")
}

// readable is about a clock that could not be read. See clocks for the others.
func (r *reading) readable() (f Finding) {
	if r.unread["TIME"] != "" {
		f = r.cannotTell("TIME", "TIME")
	}
	return f
}

// identities returns the findings about servers behind several addresses.
func identities(read []reading) (all []Finding) {
	for _, same := range grouped(read, runID) {
		if id := runID(same[0]); id != "" && len(same) > 1 {
			all = append(all, troubleOf("identity", "same server", "run_id "+id, same))
		}
	}
	return all
}

// hosts returns the findings about different servers at one host, even if they did not reply.
func hosts(read []reading) (all []Finding) {
	for _, at := range grouped(read, host) {
		if at = once(at); len(at) > 1 {
			all = append(all, troubleOf("machine", "same host", "host "+host(at[0]), at))
		}
	}
	return all
}

func troubleOf(check, name, setting string, of []reading) Finding {
	f := trouble(name, setting)
	f.Check = check
	for _, r := range of {
		f.Servers = append(f.Servers, r.address)
	}
	return f
}

// grouped returns the servers in groups with the same value.
func grouped(read []reading, by func(reading) string) (groups [][]reading) {
	for _, r := range read {
		i := slices.IndexFunc(groups, func(g []reading) bool { return by(g[0]) == by(r) })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// once leaves out further addresses of a server.
func once(read []reading) (list []reading) {
	for _, r := range read {
		if !slices.ContainsFunc(list, func(other reading) bool { return runID(r) != "" && runID(r) == runID(other) }) {
			list = append(list, r)
		}
	}
	return list
}

func runID(r reading) string { return r.settings["run_id"] }

func host(r reading) string {
	name, _, _ := net.SplitHostPort(r.address) // parse has checked it
	return strings.ToLower(name)
}

// stepThreshold is the smallest difference that NTP steps instead of slewing, by default.
const stepThreshold = 128 * time.Millisecond

// clocks returns the finding about the wall clocks of the servers, if there are two.
func clocks(read []reading) []Finding {
	var list []*reading
	var addresses []string
	for i := range read {
		if r := &read[i]; r.clock != nil {
			list, addresses = append(list, r), append(addresses, r.address)
		}
	}
	if len(list) < 2 {
		return nil
	}
	apart, within := spread(list)
	setting := fmt.Sprintf("TIME: %s apart, ± %s", milliseconds(apart), milliseconds(within))
	f := fine(setting, "The wall clocks are within the 128 ms that NTP slews.")
	if time.Duration(apart-within) >= stepThreshold {
		f = trouble("clocks apart", setting)
	}
	f.Check, f.Servers = "clocks", addresses
	return []Finding{f}
}

// spread returns the difference of the clocks that are farthest apart, and its error.
func spread(list []*reading) (apart, within Duration) {
	ahead := func(a, b *reading) int { return int(a.clock.Ahead - b.clock.Ahead) }
	first, last := slices.MinFunc(list, ahead), slices.MaxFunc(list, ahead)
	return last.clock.Ahead - first.clock.Ahead, last.clock.Error + first.clock.Error
}
