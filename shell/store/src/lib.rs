//! Result files and exports on disk
