// Package storm runs a scenario on a backend, once or many times, and has the
// run judged.
package storm
