//! The routers on the paths of a watch, as far as others may know them.
use fathom_run::is_local_address;
use fathom_watch_engine::LiveState;
use fathom_watch_plan::{Plan, RouterNow};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The routers that pushes and archives tell. What may leave a site is decided here, for both.
pub(super) struct Routers {
    live: Arc<LiveState>,
    hides: AtomicBool,
}

impl Routers {
    pub(super) fn new(plan: &Plan, live: Arc<LiveState>) -> Routers {
        Routers { live, hides: AtomicBool::new(plan.hides_local_addresses()) }
    }
    /// Applies a new plan.
    pub(super) fn reload(&self, plan: &Plan) {
        self.hides.store(plan.hides_local_addresses(), Ordering::Relaxed);
    }
    /// Those that are known now and may leave this host.
    pub(super) fn known(&self) -> Vec<RouterNow> {
        let hides = self.hides.load(Ordering::Relaxed);
        let mut all = self.live.routers();
        all.retain(|router| may_leave(router.address, hides));
        all
    }
}

/// Without a site, everything goes to the user's own systems. With one, local addresses stay: they
/// belong to a household, or mean another router at each provider.
fn may_leave(address: IpAddr, hides: bool) -> bool {
    !hides || !(address.is_loopback() || is_local_address(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_leave_a_site_unless_it_allows_others() {
        let plan = |site: &str| {
            let text = format!("{site}[[target]]\nname = 'far'\nhost = '192.0.2.1'\n");
            fathom_watch_plan::parse(&text, "watch.toml").unwrap()
        };
        let all = [
            "192.168.1.1",
            "10.0.0.1",
            "100.64.0.1",
            "169.254.1.1",
            "127.0.0.1",
            "fe80::1",
            "fd00::1",
            "::1",
            "192.0.2.1",
            "2001:db8::1",
        ];
        let leaving = |routers: &Routers| {
            let hides = routers.hides.load(Ordering::Relaxed);
            all.into_iter().filter(|one| may_leave(one.parse().unwrap(), hides)).collect::<Vec<_>>()
        };
        let site = plan("[site]\nname = 'a'\n");
        let routers = Routers::new(&site, Arc::default());
        assert_eq!(leaving(&routers), ["192.0.2.1", "2001:db8::1"]);
        routers.reload(&plan("[site]\nname = 'a'\nlocal_addresses = true\n"));
        assert_eq!(leaving(&routers), all);
        routers.reload(&site);
        assert_eq!(leaving(&routers), ["192.0.2.1", "2001:db8::1"]);
        assert_eq!(leaving(&Routers::new(&plan(""), Arc::default())), all, "no fleet");
    }
}
