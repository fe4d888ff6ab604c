//! Values that may be written in more than one way, with one message that names the ways.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};

use super::schema::{entries_of, some_text, text_like};

/// A type that a string, a number, a truth value, a list or a mapping may stand for.
///
/// Each way that a type does not take is `None`. A complaint may end in a newline and a line of
/// advice.
pub(super) trait Flexible: Sized {
    /// What may stand here, behind "must be".
    const EXPECTED: &'static str;

    /// The keys of the mapping; [`NoMapping`] where there is none.
    type Mapping: DeserializeOwned;

    /// The same for editors.
    fn schema(generator: &mut SchemaGenerator) -> Schema;

    fn from_text(_text: &str) -> Option<Result<Self, String>> {
        None
    }

    fn from_number(_number: u64) -> Option<Result<Self, String>> {
        None
    }

    /// Takes a number below zero.
    fn from_negative(_number: i64) -> Option<Result<Self, String>> {
        None
    }

    fn from_flag(_flag: bool) -> Option<Result<Self, String>> {
        None
    }

    fn from_list<'de, A: SeqAccess<'de>>(_list: A) -> Option<Result<Self, A::Error>> {
        None
    }

    fn from_mapping(_mapping: Self::Mapping) -> Option<Result<Self, String>> {
        None
    }
}

/// A type that nothing but a string stands for.
pub(super) trait Text: Sized {
    /// What may stand here, behind "must be".
    const EXPECTED: &'static str;

    /// What the string is like, as a regular expression; empty where it may be anything but empty.
    const LIKE: &'static str = "";

    /// The same for editors.
    fn schema() -> Schema {
        match Self::LIKE {
            "" => some_text(),
            like => text_like(like),
        }
    }

    /// Takes the string; `None` where it is not what may stand here.
    fn read(text: &str) -> Option<Result<Self, String>>;
}

impl<T: Text> Flexible for T {
    const EXPECTED: &'static str = T::EXPECTED;
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        T::schema()
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        T::read(text)
    }
}

/// Stands for the mapping of a type that has none.
pub(super) type NoMapping = serde::de::IgnoredAny;

/// The `Deserialize` of flexible types.
pub(super) fn deserialize<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Flexible,
{
    deserializer.deserialize_any(FlexibleVisitor(PhantomData))
}

/// Implements `Deserialize` by way of [`Flexible`]; a type may have another name in the schema.
macro_rules! deserialize_flexible {
    ($($type:ty $(= $name:literal)?),+) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::scenario::flexible::deserialize(deserializer)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                [$($name,)? stringify!($type)][0].into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$type as crate::scenario::flexible::Flexible>::schema(generator)
            }
        }
    )+};
}
pub(super) use deserialize_flexible;

/// A flexible type of another crate, which cannot have serde's traits by [`deserialize_flexible`].
#[derive(Clone, Debug, Default)]
pub(super) struct Written<T>(pub(super) T);

impl<'de, T: Flexible> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

impl<T: Flexible> JsonSchema for Written<T> {
    fn schema_name() -> Cow<'static, str> {
        let path = std::any::type_name::<T>();
        path.rsplit("::").next().unwrap_or(path).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::schema(generator)
    }
}

struct FlexibleVisitor<T>(PhantomData<T>);

fn outcome<T: Flexible, E: Error>(
    tried: Option<Result<T, String>>,
    found: Unexpected<'_>,
) -> Result<T, E> {
    match tried {
        Some(result) => result.map_err(E::custom),
        None => Err(E::invalid_type(found, &T::EXPECTED)),
    }
}

impl<'de, T: Flexible> Visitor<'de> for FlexibleVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        outcome(T::from_text(text), Unexpected::Str(text))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        outcome(T::from_number(number), Unexpected::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        outcome(T::from_negative(number), Unexpected::Signed(number))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<T, E> {
        outcome(T::from_flag(flag), Unexpected::Bool(flag))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
            .unwrap_or_else(|| Err(A::Error::invalid_type(Unexpected::Seq, &T::EXPECTED)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let mapping = serde::Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        outcome(T::from_mapping(mapping), Unexpected::Map)
    }
}

/// The elements of a list, one after the other.
pub(super) fn elements<'de, T, A>(mut list: A) -> Result<Vec<T>, A::Error>
where
    T: Deserialize<'de>,
    A: SeqAccess<'de>,
{
    let mut elements = Vec::new();
    while let Some(element) = list.next_element()? {
        elements.push(element);
    }
    Ok(elements)
}

/// A mapping whose keys are the author's own, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries<V>(pub(super) Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

impl<V: JsonSchema> JsonSchema for Entries<V> {
    fn schema_name() -> Cow<'static, str> {
        format!("Entries_of_{}", V::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        entries_of(generator.subschema_for::<V>())
    }
}

struct EntriesVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<V> {
    type Value = Entries<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<V>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}
