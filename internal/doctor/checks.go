package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checks are the checks of one server.
var checks = []func(*reading) Finding{
	(*reading).replication, (*reading).eviction, (*reading).persistence, (*reading).uptime, (*reading).roundTrips, (*reading).version, (*reading).userRights,
}

// newReport judges what was read.
func newReport(read []reading) Report {
	var r Report
	var all []Finding
	for i := range read {
		s := &read[i]
		r.Servers = append(r.Servers, s.summary())
		switch {
		case s.err != nil:
			all = append(all, Finding{Severity: Unread, Check: "connection", Servers: []string{s.address}, Text: "Not read: " + s.err.Error(), Help: "Check the address, the network and the server."})
		case s.settings["redis_mode"] == "sentinel":
			all = append(all, s.trouble("replication", "sentinel", s.shown("redis_mode")))
		default:
			for _, check := range checks {
				all = append(all, check(s))
			}
			if f, is := s.trial(); is {
				all = append(all, f)
			}
		}
	}
	all = append(all, identities(read)...)
	all = append(all, clocks(read)...)
	r.Findings = merged(all)
	r.Verdict = r.Findings[0].Severity
	if r.Verdict == Note {
		r.Verdict = Fine
	}
	r.Facts = facts(read)
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

func (r *reading) replication() Finding {
	const check = "replication"
	replicas := r.settings["connected_slaves"]
	setting := r.shown("role", "connected_slaves", "cluster_enabled")
	switch role, is := r.settings["role"]; {
	case r.settings["cluster_enabled"] == "1":
		return r.trouble(check, "cluster", setting)
	case !is:
		return r.cannotTell(check, "role", "INFO")
	case role != "master":
		return r.trouble(check, "replica", r.shown("role", "master_host", "master_port"))
	case r.sentinel > 0:
		return r.trouble(check, "watched", fmt.Sprintf("%s, %d subscribed to %s", setting, r.sentinel, sentinelChannel))
	case r.sentinel < 0:
		return r.cannotTell(check, setting+", Sentinels (not read)", "PUBSUB NUMSUB")
	case replicas != "0":
		return r.trouble(check, "replicated", setting)
	}
	return r.fine(check, setting, "The server is a master by itself.")
}

func (r *reading) eviction() Finding {
	const check = "eviction"
	setting := r.shown("maxmemory", "maxmemory-policy")
	limit, limited := r.settings["maxmemory"]
	policy, is := r.settings["maxmemory-policy"]
	switch {
	case !limited || !is:
		return r.cannotTell(check, setting, "INFO", "CONFIG GET")
	case policy == "noeviction":
		return r.fine(check, setting, "The server evicts nothing.")
	case limit == "0":
		return r.trouble(check, "would evict", setting)
	case strings.HasPrefix(policy, "allkeys-"):
		return r.trouble(check, "evicts all", setting)
	}
	return r.trouble(check, "evicts", setting)
}

func (r *reading) persistence() Finding {
	const check = "persistence"
	setting := r.shown("appendonly", "appendfsync", "save")
	save, saveRead := r.settings["save"]
	switch sync, is := r.settings["appendfsync"]; {
	case r.settings["appendonly"] == "":
		return r.cannotTell(check, setting, "INFO", "CONFIG GET")
	case r.settings["appendonly"] == "no" && saveRead && save == "":
		return r.trouble(check, "no persistence", setting)
	case r.settings["appendonly"] == "no":
		return r.trouble(check, "snapshots only", setting)
	case !is:
		return r.cannotTell(check, setting, "CONFIG GET")
	case sync == "always":
		return r.fine(check, setting, "A restart and a power loss keep all acknowledged writes.")
	}
	return r.trouble(check, "synced late", setting)
}

// longestTTL is the longest TTL of most locks, against which a server's age is held.
const longestTTL = 10 * time.Minute

func (r *reading) uptime() Finding {
	const check = "uptime"
	up := time.Duration(r.summary().Uptime)
	_, is := r.settings["uptime_in_seconds"]
	setting := "uptime_in_seconds " + r.settings["uptime_in_seconds"]
	switch {
	case !is:
		return r.cannotTell(check, "uptime_in_seconds", "INFO")
	case up < longestTTL && r.kept() != "aof-always":
		return r.trouble(check, "restarted", setting)
	}
	return r.fine(check, "", "No restart within 10 minutes that lost keys.")
}

// kept returns what a restart keeps, in tune's words.
func (r *reading) kept() string {
	sync := r.settings["appendfsync"]
	switch {
	case r.settings["appendonly"] == "" || r.settings["appendonly"] == "yes" && sync == "":
		return ""
	case r.settings["appendonly"] == "yes" && (sync == "always" || sync == "everysec"):
		return "aof-" + sync
	}
	return "none"
}

func (r *reading) roundTrips() Finding {
	const check = "round trips"
	t := r.summary().RoundTrip
	if t == nil || r.unread["PING"] != "" {
		return r.cannotTell(check, "PING", "PING")
	}
	return r.fine(check, fmt.Sprintf("%d PINGs", t.Samples), "Measured now and from here, so rarer delays are not covered.")
}

func (r *reading) version() Finding {
	const check = "commands"
	setting := r.shown("redis_version")
	if r.commands == nil {
		return r.cannotTell(check, setting, "COMMAND INFO")
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
		return r.trouble(check, "lacks commands", setting+", no "+strings.Join(lacks, ", "))
	}
	text := "The server has SET, EVAL and the other commands of a lock"
	if len(offers) > 0 {
		text += ", and " + strings.Join(offers, ", ") + " to release without a script"
	}
	return r.fine(check, setting, text+".")
}

func (r *reading) userRights() Finding {
	const check = "rights"
	switch {
	case len(r.rights) > 0:
		return r.trouble(check, "no rights", "ACL DRYRUN refuses "+strings.Join(r.rights, ", "))
	case r.unread["ACL DRYRUN"] != "":
		f := r.cannotTell(check, "ACL DRYRUN", "ACL DRYRUN")
		f.Help += " Or try a lock's commands: --write."
		return f
	}
	return r.fine(check, "", "The user may use the commands of a lock.")
}

// trial returns the finding of what was tried by writing, if it was.
func (r *reading) trial() (f Finding, is bool) {
	const check = "a lock's commands"
	switch {
	case !r.wrote:
		return f, false
	case len(r.tried) > 0:
		return r.trouble(check, "refuses", strings.Join(r.tried, "; ")), true
	case r.unread["SET NX PX"] != "":
		return r.cannotTell(check, "SET NX PX", "SET NX PX"), true
	}
	return r.fine(check, "", "SET NX PX, GET and the release script work."), true
}

// identities returns the findings about servers behind several addresses.
func identities(read []reading) (all []Finding) {
	seen := map[string][]string{}
	for _, r := range read {
		if id := r.settings["run_id"]; id != "" {
			seen[id] = append(seen[id], r.address)
		}
	}
	for i := range read {
		id := read[i].settings["run_id"]
		if addresses := seen[id]; len(addresses) > 1 && addresses[0] == read[i].address {
			f := read[i].trouble("identity", "same server", "run_id "+id)
			f.Servers = addresses
			all = append(all, f)
		}
	}
	return all
}

// stepThreshold is the smallest difference that NTP steps instead of slewing, by default.
const stepThreshold = 128 * time.Millisecond

// clocks returns the finding about the wall clocks of the servers.
func clocks(read []reading) []Finding {
	const check = "clocks"
	var list []*reading
	var all []Finding
	for i := range read {
		switch r := &read[i]; {
		case r.clock != nil:
			list = append(list, r)
		case r.unread["TIME"] != "":
			all = append(all, r.cannotTell(check, "TIME", "TIME"))
		}
	}
	if len(list) < 2 {
		return all
	}
	apart, within := spread(list)
	setting := fmt.Sprintf("TIME: %s apart, ± %s", milliseconds(apart), milliseconds(within))
	f := list[0].fine(check, setting, "The wall clocks are within the 128 ms that NTP slews.")
	if time.Duration(apart-within) >= stepThreshold {
		f = list[0].trouble(check, "clocks apart", setting)
	}
	f.Servers = nil
	for _, r := range list {
		f.Servers = append(f.Servers, r.address)
	}
	return append(all, f)
}

// spread returns the difference of the clocks that are farthest apart, and its error.
func spread(list []*reading) (apart, within Duration) {
	ahead := func(a, b *reading) int { return int(a.clock.Ahead - b.clock.Ahead) }
	first, last := slices.MinFunc(list, ahead), slices.MaxFunc(list, ahead)
	return last.clock.Ahead - first.clock.Ahead, last.clock.Error + first.clock.Error
}
