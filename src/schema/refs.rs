//! Resolution of references: resources, drafts, anchors, pointers.
//!
//! A *resource* is a schema with its own address, together with the schemas in it. Besides its
//! text, a schema is determined by its resource, which gives the base of its references and the
//! draft of its keywords. Schemas are looked up in the keywords of the draft; the value of an
//! unknown keyword becomes a schema when a reference points to it.

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::schema::draft::Draft;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::foreign;
use crate::schema::json::{Json, NodeId, Value};
use crate::schema::meant;
use crate::schema::meta::{self, Kind};
use crate::schema::options::SchemaOptions;
use crate::schema::uri;
use crate::util::diagnostic::Diagnostic;

/// A resource, by its number in [`Schemas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ResourceId(u32);

#[derive(Debug)]
struct Resource {
    address: String,
    draft: Draft,
    /// Whether the draft is only assumed, because nothing declares it.
    is_supposed: bool,
}

/// All documents, and the data known about their schemas.
#[derive(Debug)]
pub(super) struct Schemas<'a> {
    pub(super) json: Json<'a>,
    pub(super) options: &'a SchemaOptions,
    resources: Vec<Resource>,
    of: FxHashMap<NodeId, ResourceId>,
    roots: HashMap<String, NodeId>,
    anchors: HashMap<String, NodeId>,
    /// Nodes with a `$dynamicAnchor`, by its name.
    dynamic: HashMap<String, Vec<NodeId>>,
    /// Nodes with a `$recursiveAnchor`.
    recursive: Vec<NodeId>,
    /// Keywords of no draft that were encountered.
    pub(super) met: FxHashSet<String>,
    /// Warnings about parts that were read as meant, and about parts without effect.
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'a> Schemas<'a> {
    /// Reads the schema `text`, and returns the schema that is meant by it.
    pub(super) fn read(
        text: &'a str,
        options: &'a SchemaOptions,
    ) -> Result<(Self, NodeId), SchemaError> {
        let mut schemas = Self {
            json: Json::default(),
            options,
            resources: Vec::new(),
            of: FxHashMap::default(),
            roots: HashMap::new(),
            anchors: HashMap::new(),
            dynamic: HashMap::new(),
            recursive: Vec::new(),
            met: FxHashSet::default(),
            warnings: Vec::new(),
        };
        let whole = schemas.json.read("<schema>", text)?;
        let definition = options.definition.as_deref();
        let (root, meant) =
            foreign::meant(&schemas.json, whole, definition, &mut schemas.warnings)?;
        schemas.document(root, "")?;
        if !schemas.of.contains_key(&meant) {
            schemas.index(meant, ResourceId(0), false)?;
        }
        Ok((schemas, meant))
    }

    /// Adds a document that was found at `address`.
    fn document(&mut self, root: NodeId, address: &str) -> Result<(), SchemaError> {
        let resource =
            Resource { address: address.to_owned(), draft: Draft::Nine, is_supposed: true };
        let resource = self.resource(resource);
        self.roots.entry(address.to_owned()).or_insert(root);
        self.index(root, resource, true)
    }

    fn resource(&mut self, resource: Resource) -> ResourceId {
        self.resources.push(resource);
        ResourceId((self.resources.len() - 1) as u32)
    }

    pub(super) fn draft(&self, node: NodeId) -> Draft {
        self.of.get(&node).map_or(Draft::Nine, |resource| self.resources[resource.0 as usize].draft)
    }

    /// Whether no `$schema` declares the draft. If so, keywords of older drafts are read as their
    /// authors meant them.
    pub(super) fn is_supposed(&self, node: NodeId) -> bool {
        self.of.get(&node).is_none_or(|resource| self.resources[resource.0 as usize].is_supposed)
    }

    /// Returns an error located at a value of a document.
    pub(super) fn error(
        &self,
        kind: SchemaErrorKind,
        node: NodeId,
        message: impl Into<String>,
    ) -> SchemaError {
        SchemaError::new(kind, message).at(self.json.pointer(node), self.json.place(node))
    }

    /// Returns an error for a value that no schema may have.
    pub(super) fn invalid(&self, node: NodeId, message: impl Into<String>) -> SchemaError {
        self.error(SchemaErrorKind::InvalidSchema, node, message)
    }

    /// Adds the schema `node` and the schemas in it.
    fn index(
        &mut self,
        node: NodeId,
        resource: ResourceId,
        is_root: bool,
    ) -> Result<(), SchemaError> {
        let resource = self.own_resource(node, resource, is_root)?;
        self.of.insert(node, resource);
        let Resource { draft, is_supposed, .. } = self.resources[resource.0 as usize];
        meant::mend(&mut self.json, node, (draft, is_supposed), &mut self.warnings);
        self.look_for_unknown(node, draft);
        let Value::Object(members) = self.json.value(node) else { return Ok(()) };
        if draft <= Draft::Seven && members.iter().any(|(key, _)| key == "$ref") {
            // Keywords next to a reference are ignored, but definitions can still be referred to.
            let definitions = self.json.get(node, "definitions");
            return definitions
                .map_or(Ok(()), |definitions| self.index_members(definitions, resource));
        }
        let mut places: SmallVec<[(NodeId, bool); 8]> = SmallVec::new();
        for &(ref key, value) in members {
            let kind = meta::kind(key);
            let is_place = matches!(kind, Some(Kind::Schema | Kind::SchemaOrList | Kind::List));
            let are_named =
                matches!(kind, Some(Kind::Named | Kind::ByPattern | Kind::Dependencies));
            match self.json.value(value) {
                Value::Object(_) | Value::Boolean(_) if is_place => places.push((value, false)),
                Value::Array(_) if is_place => places.push((value, true)),
                Value::Object(_) if are_named => places.push((value, true)),
                _ => {}
            }
        }
        places.into_iter().try_for_each(|(value, has_members)| match has_members {
            true => self.index_members(value, resource),
            false => self.index(value, resource, false),
        })
    }

    fn index_members(&mut self, node: NodeId, resource: ResourceId) -> Result<(), SchemaError> {
        let members: Vec<NodeId> = match self.json.value(node) {
            Value::Object(members) => members.iter().map(|&(_, value)| value).collect(),
            Value::Array(items) => items.clone(),
            _ => Vec::new(),
        };
        members.into_iter().try_for_each(|member| self.index(member, resource, false))
    }

    /// Returns the resource that the schema belongs to: a new one if it has its own address.
    fn own_resource(
        &mut self,
        node: NodeId,
        outer: ResourceId,
        is_root: bool,
    ) -> Result<ResourceId, SchemaError> {
        let Resource { address: base, draft: outer_draft, is_supposed: outer_supposed } =
            &self.resources[outer.0 as usize];
        let (base, outer_draft, outer_supposed) = (base.clone(), *outer_draft, *outer_supposed);
        let text = |key: &str| self.json.get(node, key).and_then(|value| self.json.string(value));
        let named = match text("$schema") {
            Some(name) => self.dialect(node, name)?,
            None => None,
        };
        let inexact = text("$schema").filter(|name| Draft::at(name).is_none()).zip(named);
        let inexact = inexact.map(|(name, draft)| {
            let message = format!("`$schema` is read as {}", draft.name());
            let help = format!("no draft has the address `{}`", name.escape_debug());
            Diagnostic::warning("read-as-meant", message).help(help)
        });
        let draft = named.unwrap_or(outer_draft);
        let is_supposed = outer_supposed && named.is_none();
        let has_ref = self.json.get(node, "$ref").is_some();
        let id = match draft {
            Draft::Three | Draft::Four => text("id"),
            Draft::Six | Draft::Seven => text("$id"),
            _ if is_supposed => text("$id").or_else(|| text("id").filter(|_| is_root)),
            _ => text("$id"),
        };
        let id = id.filter(|_| draft > Draft::Seven || !has_ref).map(str::to_owned);
        let anchors = ["$anchor", "$dynamicAnchor"].map(|key| text(key).map(str::to_owned));
        if let Some(warning) = inexact {
            self.warn_once(node, warning);
        }
        let recursive = self.json.get(node, "$recursiveAnchor").map(|value| self.json.value(value));
        if matches!(recursive, Some(Value::Boolean(true))) {
            self.recursive.push(node);
        }
        let mut resource = outer;
        let mut address = base;
        let mut fragment = String::new();
        if let Some(id) = &id {
            let whole = uri::resolve(&address, id);
            let (own, part) = uri::split(&whole);
            part.clone_into(&mut fragment);
            if !id.starts_with('#') {
                own.clone_into(&mut address);
                self.roots.insert(address.clone(), node);
                resource = self.resource(Resource { address: address.clone(), draft, is_supposed });
            }
        }
        if resource == outer && is_root {
            self.resources[outer.0 as usize].draft = draft;
            self.resources[outer.0 as usize].is_supposed = is_supposed;
        }
        let names = [
            Some(fragment).filter(|name| !name.is_empty()),
            anchors[0].clone(),
            anchors[1].clone(),
        ];
        for name in names.into_iter().flatten() {
            self.anchors.insert(format!("{address}#{name}"), node);
        }
        if let Some(name) = &anchors[1] {
            self.dynamic.entry(name.clone()).or_default().push(node);
        }
        Ok(resource)
    }

    /// Returns the draft that `$schema` names or probably means, or `None` for another name.
    fn dialect(&self, node: NodeId, name: &str) -> Result<Option<Draft>, SchemaError> {
        if let Some(draft) = Draft::at(name) {
            return Ok(Some(draft));
        }
        if self.options.documents.contains_key(uri::split(name).0) {
            let message =
                format!("`{name}` is a custom meta-schema, whose vocabularies are not supported");
            return Err(self.error(SchemaErrorKind::UnsupportedKeyword, node, message));
        }
        let meant = Draft::meant(name);
        if meant.is_none() && name.contains("json-schema.org") && name.contains("draft-0") {
            let message = format!("the draft `{name}` is not supported");
            return Err(self
                .error(SchemaErrorKind::UnsupportedKeyword, node, message)
                .help("use draft 3, 4, 6, 7, 2019-09 or 2020-12"));
        }
        Ok(meant)
    }

    /// Returns the schema that the reference `text` in the schema `node` refers to; `at` is the
    /// keyword's value.
    pub(super) fn resolve(
        &mut self,
        node: NodeId,
        at: NodeId,
        text: &str,
    ) -> Result<NodeId, SchemaError> {
        let base =
            self.of.get(&node).map_or("", |resource| &self.resources[resource.0 as usize].address);
        let whole = uri::resolve(base, text);
        let unresolved = |schemas: &mut Self| {
            if let Some(found) = schemas.meant(node, text) {
                let message = format!(
                    "the reference `{text}` is inexact and is read as the schema that it most \
                     likely means"
                );
                let warning = Diagnostic::warning("read-as-meant", message);
                let help = format!("write `#{}`", schemas.json.pointer(found));
                let warning = warning.at(schemas.json.place(at)).help(help);
                if !schemas.warnings.contains(&warning) {
                    schemas.warnings.push(warning);
                }
                return Ok(found);
            }
            let address = uri::split(&whole).0;
            let is_there = address.is_empty() || schemas.roots.contains_key(address);
            let (message, help) = match is_there {
                true => (
                    format!("the reference `{text}` does not lead to a schema"),
                    "correct the \
                                                                                   reference"
                        .to_owned(),
                ),
                false => (
                    format!("`{text}` refers to the document `{address}`, which is missing"),
                    format!(
                        "correct the reference, or add `{address}` to \
                             `SchemaOptions::documents` (`--document ADDRESS=FILE`)"
                    ),
                ),
            };
            Err(schemas.error(SchemaErrorKind::UnresolvedReference, at, message).help(help))
        };
        if let Some(&found) = self.anchors.get(&whole) {
            return Ok(found);
        }
        let (address, fragment) = uri::split(&whole);
        let root = match self.roots.get(address) {
            Some(&root) => root,
            None => {
                let root = match self.options.documents.get(address) {
                    Some(own) => self.json.read(address, own)?,
                    None => match meta::document(address) {
                        Some(text) => self.json.read_copied(address, &text)?,
                        None => return unresolved(self),
                    },
                };
                self.document(root, address)?;
                root
            }
        };
        if let Some(&found) = self.anchors.get(&whole) {
            return Ok(found);
        }
        let Some(way) = self.json.follow(root, &uri::decode(fragment)) else {
            return unresolved(self);
        };
        let found = way[way.len() - 1];
        if !self.of.contains_key(&found) {
            let known = way.iter().rev().find_map(|step| self.of.get(step).copied());
            self.index(found, known.unwrap_or(ResourceId(0)), false)?;
        }
        match self.json.value(found) {
            Value::Object(_) | Value::Boolean(_) => Ok(found),
            _ => unresolved(self),
        }
    }

    /// Returns the target of an unresolved reference that was meant to point into the given
    /// document: a pointer that does not begin with `#`, ends in `/`, or starts at the document's
    /// root although it is below a schema with its own address; a definition by the other name of
    /// the definitions, or by its own name alone; a location in an enclosing schema that used to be
    /// a document of its own.
    ///
    /// A reference with both another document and a location in it is unambiguous, and left alone.
    fn meant(&mut self, node: NodeId, text: &str) -> Option<NodeId> {
        let root = *self.roots.get("")?;
        let (address, fragment) = uri::split(text);
        let is_elsewhere = !address.is_empty() && !fragment.is_empty();
        let is_own = self.json.place(node).source == self.json.place(root).source;
        if is_elsewhere || !is_own || address.contains([':', '.']) {
            return None;
        }
        let pointer = uri::decode(if fragment.is_empty() { address } else { fragment });
        let pointer = pointer.trim_end_matches('/');
        let name = match pointer.split('/').collect::<Vec<_>>()[..] {
            [name] | ["", "definitions" | "$defs", name] => Some(name),
            _ => None,
        };
        let defined = name
            .into_iter()
            .flat_map(|name| ["definitions", "$defs"].map(|place| format!("/{place}/{name}")));
        let pointers = std::iter::once(pointer.to_owned()).chain(defined);
        let pointers: Vec<String> = pointers.filter(|pointer| !pointer.is_empty()).collect();
        let around = std::iter::successors(self.json.parent(node), |&of| self.json.parent(of));
        let at = |of: NodeId, pointer: &String| {
            let found = *self.json.follow(of, pointer)?.last()?;
            let is_schema = matches!(self.json.value(found), Value::Object(_) | Value::Boolean(_));
            is_schema.then_some(found)
        };
        let mut places = [root].into_iter().chain(around);
        let found = places.find_map(|of| pointers.iter().find_map(|pointer| at(of, pointer)))?;
        if !self.of.contains_key(&found) {
            self.index(found, ResourceId(0), false).ok()?;
        }
        Some(found)
    }

    /// Like `resolve`, for `$dynamicRef` and `$recursiveRef` with only one possible target.
    pub(super) fn resolve_dynamic(
        &mut self,
        node: NodeId,
        at: NodeId,
        text: &str,
    ) -> Result<NodeId, SchemaError> {
        let found = self.resolve(node, at, text)?;
        let (_, name) = uri::split(text);
        let candidates = self.dynamic.get(name).map_or(0, Vec::len);
        let is_dynamic = self.dynamic.get(name).is_some_and(|nodes| nodes.contains(&found));
        // Documents that were not read yet may contain more.
        let is_only = self.recursive.len() == 1 && self.options.documents.is_empty();
        let is_recursive = self.recursive.contains(&found) && !is_only;
        if (is_dynamic && candidates > 1) || is_recursive {
            return Err(self
                .error(
                    SchemaErrorKind::UnsupportedKeyword,
                    at,
                    "the target of this reference depends on the path that leads to it",
                )
                .help("use `$ref`"));
        }
        Ok(found)
    }
}
