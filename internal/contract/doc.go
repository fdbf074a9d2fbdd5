// Package contract holds the simulated node to what a real Redis does: its
// test gives the same scripts of commands to both and compares the answers.
package contract
