//! Safe wrappers of Linux calls
