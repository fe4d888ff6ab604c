//! The JSON schema of scenario files, from the types that they are read with.
//!
//! What can be told from keys and types is derived; a type that may be written in more than one way
//! says so beside what it expects ([`Flexible::schema`](super::flexible::Flexible::schema)). A
//! schema cannot tell everything: which keys exclude each other and which names a kernel has is
//! said by the reader.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::reader::WrittenScenario;

/// The name of the schema for what `matrix` replaces.
const PLACEHOLDER: &str = "Placeholder";

/// The schema, as indented JSON with a line feed at its end.
///
/// ```
/// let schema = trace_harness::scenario::schema();
/// assert!(schema.contains("\"files_after\""));
/// ```
#[must_use]
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator
        .into_root_schema_for::<WrittenScenario>()
        .to_value();
    refine(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".to_owned(), json!("A scenario of `harness`"));
        let placeholder = json!({
            "description": "A value of `matrix`, by its name.",
            "type": "string",
            "pattern": r"\$\{[a-z][a-z0-9_]*\}",
        });
        if let Some(definitions) = root.get_mut("$defs").and_then(Value::as_object_mut) {
            definitions.insert(PLACEHOLDER.to_owned(), placeholder);
        }
    }
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// What is so everywhere: a key that may be left out has a value where it is there, a value that is
/// no free text may come from `matrix`, and where a line of the source ends a description goes on.
fn refine(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(refine),
        Value::Object(keys) => {
            if let Some(Value::String(description)) = keys.get_mut("description") {
                let paragraphs = description
                    .split("\n\n")
                    .map(|text| text.replace('\n', " "));
                *description = paragraphs.collect::<Vec<_>>().join("\n\n");
            }
            if let Some(Value::Array(types)) = keys.get_mut("type") {
                types.retain(|it| it != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    keys.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(ways)) = keys.get_mut("anyOf") {
                ways.retain(|it| it.get("type") != Some(&json!("null")));
                if let [only] = ways.as_mut_slice() {
                    let only = only.take();
                    keys.remove("anyOf");
                    keys.extend(only.as_object().cloned().unwrap_or_default());
                }
            }
            // The defaults of the reader are in its reference.
            keys.remove("default");
            keys.remove("format");
            // Under these keys stand names and words, which are no schemas.
            let names = ["enum", "const", "required"];
            for (key, value) in keys.iter_mut() {
                if key == "properties" || key == "$defs" {
                    let below = value.as_object_mut().into_iter().flatten();
                    below.for_each(|(_, schema)| refine(schema));
                } else if !names.contains(&key.as_str()) {
                    refine(value);
                }
            }
            if let Some(Value::Array(ways)) = keys.get_mut("anyOf") {
                *ways = flat(std::mem::take(ways));
            }
            if is_narrow(keys) {
                let description = keys.remove("description");
                let narrow = Value::Object(std::mem::take(keys));
                keys.extend(description.map(|text| ("description".to_owned(), text)));
                let placeholder = json!({ "$ref": format!("#/$defs/{PLACEHOLDER}") });
                keys.insert("anyOf".to_owned(), json!([narrow, placeholder]));
            }
        }
        _ => {}
    }
}

/// The ways of ways that are nothing but ways, each once.
fn flat(ways: Vec<Value>) -> Vec<Value> {
    let mut flat: Vec<Value> = Vec::new();
    for way in ways {
        let only = way.as_object().filter(|keys| keys.len() == 1);
        let below = only.and_then(|keys| keys.get("anyOf")?.as_array().cloned());
        for way in below.unwrap_or_else(|| vec![way]) {
            if !flat.contains(&way) {
                flat.push(way);
            }
        }
    }
    flat
}

/// Whether a schema takes some scalars only.
fn is_narrow(keys: &serde_json::Map<String, Value>) -> bool {
    let is = |word: &str| keys.get("type") == Some(&json!(word));
    is("integer")
        || is("boolean")
        || keys.contains_key("enum")
        || is("string") && keys.contains_key("pattern")
}

/// Any string.
pub(super) fn text() -> Schema {
    json_schema!({ "type": "string" })
}

/// A string that is not empty.
pub(super) fn some_text() -> Schema {
    json_schema!({ "type": "string", "minLength": 1 })
}

/// A string of this form.
pub(super) fn text_like(pattern: &str) -> Schema {
    json_schema!({ "type": "string", "pattern": pattern })
}

/// One of these words.
pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Schema {
    let words: Vec<&str> = words.into_iter().collect();
    json_schema!({ "enum": words })
}

/// A number from `least` on.
pub(super) fn number(least: i64) -> Schema {
    json_schema!({ "type": "integer", "minimum": least })
}

/// Any number.
pub(super) fn any_number() -> Schema {
    json_schema!({ "type": "integer" })
}

/// A list with an element at least.
pub(super) fn list_of(element: Schema) -> Schema {
    json_schema!({ "type": "array", "items": element, "minItems": 1 })
}

/// The schema of a type with a name of its own.
pub(super) fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// One of several ways.
pub(super) fn either(ways: impl IntoIterator<Item = Schema>) -> Schema {
    let ways: Vec<Schema> = ways.into_iter().collect();
    json_schema!({ "anyOf": ways })
}

/// A mapping of which one key stands there.
pub(super) fn one_key<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mapping = of::<T>(generator);
    json_schema!({ "allOf": [mapping], "minProperties": 1, "maxProperties": 1 })
}

/// A mapping of the author's own keys.
pub(super) fn entries_of(value: Schema) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": value })
}

/// The values of `matrix`.
pub(super) fn matrix(_: &mut SchemaGenerator) -> Schema {
    let value = json!({ "type": ["string", "number", "boolean"] });
    let names = json!({ "pattern": "^[a-z][a-z0-9_]*$" });
    json_schema!({
        "anyOf": [
            {
                "description": "Every combination of the values.",
                "type": "object",
                "minProperties": 1,
                "propertyNames": names,
                "additionalProperties": { "type": "array", "minItems": 1, "items": value },
            },
            {
                "description": "A row each.",
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "minProperties": 1,
                    "propertyNames": names,
                    "additionalProperties": value,
                },
            },
        ],
    })
}

#[cfg(test)]
mod tests;
