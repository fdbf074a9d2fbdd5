// Package languages tries locks of other languages than Go: programs that speak the protocol of
// docs/other-languages.md. This measures some of them alone, by their names in subjects.go, and writes the page:
//
//	go -C evidence test ./languages -count=1 -timeout 1h -run '^TestScoreboard$' -args -write -only redlock-universal,redis-semaphore
//	go -C evidence run . -stored scoreboard-languages
package languages
