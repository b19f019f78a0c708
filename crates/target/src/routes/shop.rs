//! The shop: items, a cart for each session, orders.

use super::Call;
use super::fields::{Fields, wants_json};
use crate::http::response::Response;
use crate::session::Session;

/// Number of items; they are numbered from 1.
const ITEMS: u32 = 1000;
/// Items on a page.
const PAGE: u32 = 20;
/// Most different items in a cart.
const CART_LIMIT: usize = 50;
/// Most pieces of one item in a cart.
const QUANTITY_LIMIT: u32 = 1000;

/// A session's cart: items and how many of each.
#[derive(Default)]
pub(crate) struct Cart(Vec<(u32, u32)>);

/// An item; everything about it follows from its number.
#[derive(Clone, Copy)]
struct Item {
    id: u32,
}

impl Item {
    fn new(id: u32) -> Option<Item> {
        (1..=ITEMS).contains(&id).then_some(Item { id })
    }

    fn name(self) -> String {
        const LOOKS: [&str; 10] =
            ["Red", "Blue", "Small", "Large", "Old", "New", "Warm", "Light", "Round", "Plain"];
        const THINGS: [&str; 10] =
            ["Lamp", "Chair", "Kettle", "Coat", "Clock", "Bag", "Rug", "Bowl", "Desk", "Book"];
        // Both indices are digits.
        let (look, thing) = (self.id / 10 % 10, self.id % 10);
        format!("{} {} {}", LOOKS[look as usize], THINGS[thing as usize], self.id)
    }

    /// Between 1.00 and 100.99.
    fn price_cents(self) -> u32 {
        100 + self.id * 7919 % 10_000
    }

    fn stock(self) -> u32 {
        self.id * 31 % 100
    }

    fn print_json(self, response: &mut Response) {
        response.print(format_args!(
            r#"{{"id":{},"name":"{}","price_cents":{},"stock":{}}}"#,
            self.id,
            self.name(),
            self.price_cents(),
            self.stock()
        ));
    }
}

/// The items of the page that the query asks for, with the page's number.
fn page(call: &Call<'_>) -> Result<(u32, impl Iterator<Item = Item> + use<>), String> {
    let pages = ITEMS / PAGE;
    let number: u32 = call.query_as("page", 1)?;
    if !(1..=pages).contains(&number) {
        return Err(format!("the pages are 1 to {pages}"));
    }
    let first = (number - 1) * PAGE + 1;
    Ok((number, (first..first + PAGE).map(|id| Item { id })))
}

pub(super) fn items_page(call: &Call<'_>, response: &mut Response) {
    let (number, items) = match page(call) {
        Ok(page) => page,
        Err(reason) => return response.error(404, format_args!("{reason}")),
    };
    let mut list = String::with_capacity(2048);
    for item in items {
        let Item { id } = item;
        list.push_str(&format!("<li><a href=\"/item/{id}\">{}</a></li>\n", item.name()));
    }
    response.html(
        "Items",
        format_args!(
            "<ol class=\"items\" start=\"{}\">\n{list}</ol>\n\
             <p>page {number}, <a rel=\"next\" href=\"/items?page={}\">next</a></p>",
            (number - 1) * PAGE + 1,
            number % (ITEMS / PAGE) + 1
        ),
    );
}

pub(super) fn items_json(call: &Call<'_>, response: &mut Response) {
    let (number, items) = match page(call) {
        Ok(page) => page,
        Err(reason) => return response.error(404, format_args!("{reason}")),
    };
    response.json(format_args!(
        r#"{{"page":{number},"pages":{},"total":{ITEMS},"items":["#,
        ITEMS / PAGE
    ));
    for (n, item) in items.enumerate() {
        response.print(format_args!("{}", if n > 0 { "," } else { "" }));
        item.print_json(response);
    }
    response.print(format_args!("]}}"));
}

fn find_item(call: &Call<'_>, response: &mut Response) -> Option<Item> {
    let item = call.param_as(0).and_then(Item::new);
    if item.is_none() {
        response.error(404, format_args!("the items are 1 to {ITEMS}"));
    }
    item
}

pub(super) fn item_page(call: &Call<'_>, response: &mut Response) {
    let Some(item) = find_item(call, response) else { return };
    let cents = item.price_cents();
    response.html(
        &item.name(),
        format_args!(
            "<p class=\"price\">{}.{:02}</p>\n<p class=\"stock\">{} in stock</p>\n\
             <form action=\"/cart\" method=\"post\">\n\
             <input type=\"hidden\" name=\"id\" value=\"{}\">\n\
             <input name=\"quantity\" value=\"1\">\n<button>Add to cart</button>\n</form>",
            cents / 100,
            cents % 100,
            item.stock(),
            item.id
        ),
    );
}

pub(super) fn item_json(call: &Call<'_>, response: &mut Response) {
    let Some(item) = find_item(call, response) else { return };
    response.json(format_args!(""));
    item.print_json(response);
}

impl Cart {
    fn add(&mut self, item: Item, quantity: u32) -> Result<(), String> {
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

    fn total_cents(&self) -> u64 {
        let price = |&(id, n): &(u32, u32)| u64::from(Item { id }.price_cents()) * u64::from(n);
        self.0.iter().map(price).sum()
    }

    fn pieces(&self) -> u64 {
        self.0.iter().map(|&(_, n)| u64::from(n)).sum()
    }

    fn json(&self) -> String {
        let items: Vec<_> =
            self.0.iter().map(|(id, n)| format!(r#"{{"id":{id},"quantity":{n}}}"#)).collect();
        let (total, items) = (self.total_cents(), items.join(","));
        format!(r#"{{"items":[{items}],"total_cents":{total}}}"#)
    }

    fn html(&self) -> String {
        let mut list = String::from("<ul class=\"cart\">\n");
        for &(id, n) in &self.0 {
            list.push_str(&format!("<li data-id=\"{id}\">{n} x {}</li>\n", Item { id }.name()));
        }
        list.push_str(&format!("</ul>\n<p class=\"total\">{}</p>", self.total_cents()));
        list
    }
}

pub(super) fn cart(call: &Call<'_>, body: &[u8], response: &mut Response) {
    let session = call.session_or_new(response);
    match call.head.method {
        "POST" => {
            if let Err(reason) = add_to_cart(call, body, &session) {
                return response.error(422, format_args!("{reason}"));
            }
            if !wants_json(call) {
                return response.redirect(303, "/cart");
            }
        }
        "DELETE" => drop(take_cart(call, &session)),
        _ => {}
    }
    let carts = call.worker.site.carts.lock();
    let empty = Cart::default();
    let cart = carts.get(&session.id).unwrap_or(&empty);
    if wants_json(call) {
        response.json(format_args!("{}", cart.json()));
    } else {
        response.html("Your cart", format_args!("{}", cart.html()));
    }
}

fn add_to_cart(call: &Call<'_>, body: &[u8], session: &Session) -> Result<(), String> {
    let fields = Fields::read(call, body)?;
    let item = fields.get("id").and_then(|id| id.parse().ok()).and_then(Item::new);
    let item = item.ok_or_else(|| format!("the field 'id' must be a number from 1 to {ITEMS}"))?;
    let quantity = fields.get("quantity").unwrap_or("1").parse().ok().filter(|n| *n > 0);
    let quantity = quantity.ok_or("the field 'quantity' must be a number from 1")?;
    call.worker.site.carts.lock().entry(session.id).add(item, quantity)
}

fn take_cart(call: &Call<'_>, session: &Session) -> Cart {
    call.worker.site.carts.lock().remove(&session.id).unwrap_or_default()
}

pub(super) fn checkout(call: &Call<'_>, body: &[u8], response: &mut Response) {
    if let Err(reason) = Fields::read(call, body) {
        return response.error(400, format_args!("{reason}"));
    }
    let session = call.session_or_new(response);
    let cart = take_cart(call, &session);
    let order = call.worker.site.random.bits();
    response.status = 201;
    response.json(format_args!(
        r#"{{"order":"{order:016x}","items":{},"total_cents":{}}}"#,
        cart.pieces(),
        cart.total_cents()
    ));
}

pub(super) fn pay(call: &Call<'_>, body: &[u8], response: &mut Response) {
    let fields = match Fields::read(call, body) {
        Ok(fields) => fields,
        Err(reason) => return response.error(400, format_args!("{reason}")),
    };
    let Some(order) = fields.get("order").or_else(|| fields.get("id")) else {
        return response.error(422, format_args!("the field 'order' (or 'id') is missing"));
    };
    let order = serde_json::Value::from(order);
    let payment = call.worker.site.random.bits();
    response.status = 201;
    response
        .json(format_args!(r#"{{"order":{order},"payment":"{payment:016x}","status":"paid"}}"#));
}

pub(super) fn cancel(call: &Call<'_>, response: &mut Response) {
    if let Some(session) = call.session() {
        take_cart(call, &session);
    }
    response.text(format_args!("cancelled\n"));
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
