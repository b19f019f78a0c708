//! Copies of requests and groups, as bytes. Their secrets are masked before, as all outputs mask them, so that the copies
//! that come out have none.

use std::sync::Arc;

use squall_engine::{
    Exchange, ExchangeCopy, Extracted, Section, SeenGroup, StatedResponse, Tally, TraceId,
};
use squall_metrics::codec::{get, get_bytes, get_text, get_u32, put, put_text};
use squall_metrics::{DecodeError, Phases};
use squall_plan::secrets::Secrets;
use squall_runner::{masked_body, masked_head, masked_request, masked_url};

use super::bytes::get_kind;

/// 0, or one more than the number.
fn put_some(out: &mut Vec<u8>, number: Option<u64>) {
    put(out, number.map_or(0, |number| number.saturating_add(1)));
}

fn get_some(bytes: &mut &[u8]) -> Result<Option<u64>, DecodeError> {
    Ok(get(bytes)?.checked_sub(1))
}

fn put_some_text(out: &mut Vec<u8>, text: Option<&str>) {
    put(out, u64::from(text.is_some()));
    text.into_iter().for_each(|text| put_text(out, text));
}

fn get_some_text(bytes: &mut &[u8]) -> Result<Option<String>, DecodeError> {
    if get(bytes)? == 0 { Ok(None) } else { get_text(bytes).map(Some) }
}

fn put_list<T>(out: &mut Vec<u8>, list: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    put(out, list.len() as u64);
    list.iter().for_each(|own| write(out, own));
}

/// Each takes a byte at least, so that it is no longer than what is there.
fn get_list<T>(
    bytes: &mut &[u8],
    read: impl Fn(&mut &[u8]) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let mut list = Vec::new();
    for _ in 0..get(bytes)? {
        list.push(read(bytes)?);
    }
    Ok(list)
}

pub(super) fn put_exchange(out: &mut Vec<u8>, own: &Exchange) {
    let secrets = &*own.secrets;
    put(out, own.at_us);
    put(out, u64::from(own.worker));
    put_text(out, &own.scenario);
    put_text(out, &own.step);
    [own.user, own.iteration].into_iter().for_each(|number| put(out, number));
    let trace = own.trace.map_or(0, TraceId::number);
    out.extend_from_slice(&trace.to_le_bytes());
    put_some(out, own.part_of);
    put(out, u64::from(own.is_of_page));
    put_text(out, &secrets.mask(&own.name));
    put(out, own.status as u64);
    put_some_text(out, own.reason.as_deref().map(|text| secrets.mask(text)).as_deref());
    [own.bytes_in, own.bytes_out, own.latency_ns].into_iter().for_each(|number| put(out, number));
    own.phases.0.into_iter().for_each(|time| put_some(out, time));
    put(out, u64::from(own.error.is_some()));
    if let Some((kind, detail)) = &own.error {
        put_text(out, kind.label());
        put_text(out, &secrets.mask(detail));
    }
    put_list(out, &own.hops, |out, hop| put_hop(out, hop, secrets));
    put_list(out, &own.extracted, |out, own| {
        put_text(out, &own.variable);
        put_some_text(out, own.value.as_deref().map(|text| secrets.mask(text)).as_deref());
        put_some_text(out, own.missing.as_deref().map(|text| secrets.mask(text)).as_deref());
    });
    put_list(out, &own.checks, |out, (text, is_warning, result)| {
        put_text(out, &secrets.mask(text));
        put(out, u64::from(*is_warning));
        let held = match result {
            Ok(held) => u64::from(*held),
            Err(_) => 2,
        };
        put(out, held);
        result.as_ref().err().into_iter().for_each(|why| put_text(out, &secrets.mask(why)));
    });
}

pub(super) fn get_exchange(bytes: &mut &[u8]) -> Result<Arc<Exchange>, DecodeError> {
    let mut own = Exchange {
        at_us: get(bytes)?,
        worker: get_u32(bytes)?,
        section: Section::Load,
        scenario: get_text(bytes)?,
        step: get_text(bytes)?,
        user: get(bytes)?,
        iteration: get(bytes)?,
        trace: get_trace(bytes)?,
        part_of: get_some(bytes)?,
        is_of_page: get(bytes)? != 0,
        name: get_text(bytes)?,
        status: get(bytes)? as i64,
        reason: get_some_text(bytes)?,
        bytes_in: get(bytes)?,
        bytes_out: get(bytes)?,
        latency_ns: get(bytes)?,
        ..Exchange::default()
    };
    let mut phases = Phases::default();
    for time in &mut phases.0 {
        *time = get_some(bytes)?;
    }
    own.phases = phases;
    if get(bytes)? != 0 {
        own.error = Some((get_kind(bytes)?, get_text(bytes)?));
    }
    own.hops = get_list(bytes, get_hop)?;
    own.extracted = get_list(bytes, |bytes| {
        Ok(Extracted {
            variable: get_text(bytes)?,
            value: get_some_text(bytes)?,
            missing: get_some_text(bytes)?,
        })
    })?;
    own.checks = get_list(bytes, |bytes| {
        let (text, is_warning) = (get_text(bytes)?, get(bytes)? != 0);
        let result = match get(bytes)? {
            2 => Err(get_text(bytes)?),
            held => Ok(held != 0),
        };
        Ok((text, is_warning, result))
    })?;
    Ok(Arc::new(own))
}

fn get_trace(bytes: &mut &[u8]) -> Result<Option<TraceId>, DecodeError> {
    let (number, rest) = bytes.split_first_chunk().ok_or(DecodeError("the record is truncated"))?;
    *bytes = rest;
    Ok(TraceId::of_number(u128::from_le_bytes(*number)))
}

fn put_hop(out: &mut Vec<u8>, hop: &ExchangeCopy, secrets: &Secrets) {
    put_text(out, &masked_url(hop, secrets));
    put_text(out, &masked_request(hop, secrets));
    put(out, hop.request_bytes);
    put(out, u64::from(hop.reused) | u64::from(hop.is_answered) << 1);
    put(out, u64::from(hop.status));
    hop.times_us.into_iter().for_each(|time| put(out, time));
    put(out, hop.bytes.0);
    put(out, hop.bytes.1);
    put_text(out, &masked_head(hop, secrets));
    put_text(out, &masked_body(hop, secrets));
    put(out, hop.body_bytes);
}

fn get_hop(bytes: &mut &[u8]) -> Result<ExchangeCopy, DecodeError> {
    let (url, request) = (get_text(bytes)?, get_bytes(bytes)?.to_vec());
    let (request_bytes, flags) = (get(bytes)?, get(bytes)?);
    let status = u16::try_from(get(bytes)?).map_err(|_| DecodeError("a status is out of range"))?;
    Ok(ExchangeCopy {
        url,
        request,
        request_bytes,
        reused: flags & 1 != 0,
        is_answered: flags & 2 != 0,
        status,
        times_us: [get(bytes)?, get(bytes)?, get(bytes)?],
        bytes: (get(bytes)?, get(bytes)?),
        head: get_bytes(bytes)?.to_vec(),
        body: get_bytes(bytes)?.to_vec(),
        body_bytes: get(bytes)?,
    })
}

pub(super) fn put_group(out: &mut Vec<u8>, own: &SeenGroup) {
    let secrets = &*own.secrets;
    put(out, own.at_us);
    put_text(out, &own.scenario);
    put(out, own.user);
    put_text(out, &secrets.mask(&own.name));
    put(out, own.duration_ns);
    let flags = [own.failed, own.is_left, own.is_page];
    put(out, (0..).zip(flags).fold(0, |all, (bit, is_set)| all | u64::from(is_set) << bit));
    let Tally { samples, failed, bytes_in, bytes_out, parts } = own.tally;
    [samples, failed, bytes_in, bytes_out, parts].into_iter().for_each(|number| put(out, number));
    put_some(out, own.one_sample);
    put_some(out, own.part_of);
    put(out, u64::from(own.answer.is_some()));
    if let Some(answer) = &own.answer {
        [&answer.status, &answer.reason, &answer.failure]
            .into_iter()
            .for_each(|text| put_text(out, &secrets.mask(text)));
        put(out, answer.bytes);
    }
}

pub(super) fn get_group(bytes: &mut &[u8]) -> Result<Arc<SeenGroup>, DecodeError> {
    let (at_us, scenario, user) = (get(bytes)?, get_text(bytes)?, get(bytes)?);
    let (name, duration_ns, flags) = (get_text(bytes)?, get(bytes)?, get(bytes)?);
    let tally = Tally {
        samples: get(bytes)?,
        failed: get(bytes)?,
        bytes_in: get(bytes)?,
        bytes_out: get(bytes)?,
        parts: get(bytes)?,
    };
    let mut own = SeenGroup {
        at_us,
        scenario,
        user,
        name,
        duration_ns,
        failed: flags & 1 != 0,
        is_left: flags & 2 != 0,
        is_page: flags & 4 != 0,
        tally,
        one_sample: get_some(bytes)?,
        part_of: get_some(bytes)?,
        ..SeenGroup::default()
    };
    if get(bytes)? != 0 {
        let (status, reason, failure) = (get_text(bytes)?, get_text(bytes)?, get_text(bytes)?);
        own.answer = Some(StatedResponse { status, reason, failure, bytes: get(bytes)? });
    }
    Ok(Arc::new(own))
}
