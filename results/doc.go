// Package results keeps runs on disk, so that they can be judged again. A run
// is a directory with run.json ([Run]: the scenario, what was found, with which
// versions) and history.jsonl (package history). A [Keeper] makes them.
//
// It also keeps what many scenarios have shown, without their histories: the
// [Reference] that tables and pages are printed of, and that later runs are
// compared with.
package results
