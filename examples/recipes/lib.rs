//! An empty library: the recipes are the examples of this package.
