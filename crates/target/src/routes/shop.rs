//! The shop: items, a cart for each session, orders, as HTML and JSON.

use super::call::Call;
use super::fields::{Fields, wants_json};
use crate::http::response::Response;
use crate::session::Session;
use crate::site::cart::{Cart, ITEMS, Item};

const PAGE: u32 = 20;
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
        print_json(item, response);
    }
    response.print(format_args!("]}}"));
}

fn print_json(item: Item, response: &mut Response) {
    response.print(format_args!(
        r#"{{"id":{},"name":"{}","price_cents":{},"stock":{}}}"#,
        item.id,
        item.name(),
        item.price_cents(),
        item.stock()
    ));
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
    print_json(item, response);
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
