//! Capture points along a line.
use fathom_link::LinePosition;
use fathom_units::Direction;

/// A position along the path.
///
/// ```text
/// client |queue up| near == link == far |queue down| router
///        |queue up| near == ...  far |queue down| server
/// ```
/// The last router is the server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Point(usize);

/// Points per hop.
const OF_A_HOP: usize = 3;

impl Point {
    pub(crate) const CLIENT: Point = Point(0);

    /// On the wire at the client end of link `hop`.
    pub(crate) const fn near(hop: usize) -> Self {
        Point(OF_A_HOP * hop + 1)
    }
    /// On the wire at the server end of link `hop`.
    pub(crate) const fn far(hop: usize) -> Self {
        Point(OF_A_HOP * hop + 2)
    }
    /// Inside the router at the server end of link `hop`, before its queues.
    pub(crate) const fn router(hop: usize) -> Self {
        Point(OF_A_HOP * hop + 3)
    }
    /// After the queue at `position`.
    pub(crate) const fn behind(position: LinePosition) -> Self {
        match position.direction {
            Direction::Up => Self::near(position.hop),
            Direction::Down => Self::far(position.hop),
        }
    }
    /// Before the queue at `position`.
    pub(crate) const fn before(position: LinePosition) -> Self {
        match (position.direction, position.hop) {
            (Direction::Up, 0) => Self::CLIENT,
            (Direction::Up, hop) => Self::router(hop - 1),
            (Direction::Down, hop) => Self::router(hop),
        }
    }
    /// Where packets of `direction` enter a line of `hops`.
    pub(crate) const fn source(direction: Direction, hops: usize) -> Self {
        match direction {
            Direction::Up => Self::CLIENT,
            Direction::Down => Self::server(hops),
        }
    }
    /// The server end of a line of `hops`.
    pub(crate) const fn server(hops: usize) -> Self {
        Point(OF_A_HOP * hops)
    }
    /// All points of a line of `hops`, from the client on.
    pub(crate) fn all(hops: usize) -> impl Iterator<Item = Point> {
        (0..=OF_A_HOP * hops).map(Point)
    }
    /// Index along the path.
    pub(crate) const fn index(self) -> usize {
        self.0
    }

    /// Name of its capture file on a line of `hops`.
    pub(crate) fn file_name(self, hops: usize) -> String {
        let hop = self.0.div_ceil(OF_A_HOP);
        match self.0 % OF_A_HOP {
            _ if self == Self::CLIENT => "client.pcap".to_owned(),
            _ if self == Self::server(hops) => "server.pcap".to_owned(),
            1 => format!("hop{hop}-near.pcap"),
            2 => format!("hop{hop}-far.pcap"),
            _ => format!("hop{hop}-router.pcap"),
        }
    }
    /// Description of the point on a line of `hops`.
    pub(crate) fn place(self, hops: usize) -> String {
        let hop = self.0.div_ceil(OF_A_HOP);
        match self.0 % OF_A_HOP {
            _ if self == Self::CLIENT => "the client's interface".to_owned(),
            _ if self == Self::server(hops) => "the server's interface".to_owned(),
            1 => format!("the client end of link {hop}, after its queue up"),
            2 => format!("the server end of link {hop}, after its queue down"),
            _ => format!("inside router {hop}, before its queues"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_along_the_path() {
        let names: Vec<_> = Point::all(2).map(|point| point.file_name(2)).collect();
        let expected = ["client", "hop1-near", "hop1-far", "hop1-router", "hop2-near", "hop2-far", "server"];
        assert_eq!(names, expected.map(|name| format!("{name}.pcap")));
    }

    #[test]
    fn each_queue_stands_between_two_neighbours() {
        for hop in 0..3 {
            let between = |direction| {
                let position = LinePosition { hop, direction };
                (Point::before(position).index(), Point::behind(position).index())
            };
            assert_eq!(between(Direction::Up), (3 * hop, 3 * hop + 1));
            assert_eq!(between(Direction::Down), (3 * hop + 3, 3 * hop + 2));
        }
    }
}
