//! What the shop sells, and a cart.

/// Number of items; they are numbered from 1.
pub(crate) const ITEMS: u32 = 1000;
const CART_LIMIT: usize = 50;
/// Most pieces of one item in a cart.
const QUANTITY_LIMIT: u32 = 1000;

/// An item; everything about it follows from its number.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub(crate) id: u32,
}

impl Item {
    pub(crate) fn new(id: u32) -> Option<Item> {
        (1..=ITEMS).contains(&id).then_some(Item { id })
    }

    pub(crate) fn name(self) -> String {
        const LOOKS: [&str; 10] =
            ["Red", "Blue", "Small", "Large", "Old", "New", "Warm", "Light", "Round", "Plain"];
        const THINGS: [&str; 10] =
            ["Lamp", "Chair", "Kettle", "Coat", "Clock", "Bag", "Rug", "Bowl", "Desk", "Book"];
        // Both indices are digits.
        let (look, thing) = (self.id / 10 % 10, self.id % 10);
        format!("{} {} {}", LOOKS[look as usize], THINGS[thing as usize], self.id)
    }

    /// Between 1.00 and 100.99.
    pub(crate) fn price_cents(self) -> u32 {
        100 + self.id * 7919 % 10_000
    }

    pub(crate) fn stock(self) -> u32 {
        self.id * 31 % 100
    }
}

/// A session's cart: items and how many of each.
#[derive(Default)]
pub(crate) struct Cart(Vec<(u32, u32)>);

impl Cart {
    pub(crate) fn add(&mut self, item: Item, quantity: u32) -> Result<(), String> {
        let at = self.0.iter().position(|(id, _)| *id == item.id);
        let before = at.map_or(0, |at| self.0[at].1);
        let sum = before.saturating_add(quantity);
        if sum > QUANTITY_LIMIT {
            return Err(format!("a cart can contain at most {QUANTITY_LIMIT} of an item"));
        }
        match at {
            Some(at) => self.0[at].1 = sum,
            None if self.0.len() < CART_LIMIT => self.0.push((item.id, quantity)),
            None => return Err(format!("a cart can contain at most {CART_LIMIT} different items")),
        }
        Ok(())
    }

    pub(crate) fn total_cents(&self) -> u64 {
        let price = |&(id, n): &(u32, u32)| u64::from(Item { id }.price_cents()) * u64::from(n);
        self.0.iter().map(price).sum()
    }

    pub(crate) fn pieces(&self) -> u64 {
        self.0.iter().map(|&(_, n)| u64::from(n)).sum()
    }

    pub(crate) fn json(&self) -> String {
        let items: Vec<_> =
            self.0.iter().map(|(id, n)| format!(r#"{{"id":{id},"quantity":{n}}}"#)).collect();
        let (total, items) = (self.total_cents(), items.join(","));
        format!(r#"{{"items":[{items}],"total_cents":{total}}}"#)
    }

    pub(crate) fn html(&self) -> String {
        let mut list = String::from("<ul class=\"cart\">\n");
        for &(id, n) in &self.0 {
            list.push_str(&format!("<li data-id=\"{id}\">{n} x {}</li>\n", Item { id }.name()));
        }
        list.push_str(&format!("</ul>\n<p class=\"total\">{}</p>", self.total_cents()));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cart_adds_up_and_is_bounded() {
        let mut cart = Cart::default();
        let item = |id| Item::new(id).unwrap();
        cart.add(item(3), 2).unwrap();
        cart.add(item(4), 1).unwrap();
        cart.add(item(3), 1).unwrap();
        assert_eq!(cart.pieces(), 4);
        let total = u64::from(3 * item(3).price_cents() + item(4).price_cents());
        assert_eq!(cart.total_cents(), total);
        let expected = format!(
            r#"{{"items":[{{"id":3,"quantity":3}},{{"id":4,"quantity":1}}],"total_cents":{total}}}"#
        );
        assert_eq!(cart.json(), expected);
        assert!(cart.add(item(4), u32::MAX).is_err());
        for id in 100..148 {
            cart.add(item(id), 1).unwrap();
        }
        assert!(cart.add(item(200), 1).is_err());
        assert!(Item::new(0).is_none() && Item::new(ITEMS + 1).is_none());
    }
}
