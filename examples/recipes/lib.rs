//! Nothing: the recipes are the examples of this package.
