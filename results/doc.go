// Package results keeps runs on disk, so that they can be judged again. A run
// is a directory with run.json ([Run]: the scenario, what was found, with which
// versions) and history.jsonl (package history).
package results
