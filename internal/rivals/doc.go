// Package locks is the locks that Redlock is compared with, from the naive
// schemes of tutorials to those on consensus, each as short as the article that
// it comes from. They are here to be put into the storm, defects and all: for
// production there is package redlock.
//
// They share a [Mutex], which tries, waits and tells its observer, and a
// [Hold], which knows its end; what tells one lock from another is a scheme, one
// file each. Like redlock they run on env alone.
package rivals
