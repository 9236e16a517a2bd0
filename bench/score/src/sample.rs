//! A fixed sample of small paths, judged in the ordinary tests.
