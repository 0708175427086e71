"""The API document, written from the declared operations and wire types, and a page to read it without a network."""

import re
from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files
from types import NoneType
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

from firstlight.core import wire
from firstlight.server.http.endpoint import full_path
from firstlight.server.http.errors import documents_of, expected_refusals
from firstlight.server.http.operations import Access, Operation
from firstlight.server.http.reply import Download, Stream

Schema = dict[str, Any]

_COMPONENT: Final = "#/components/schemas/{name}"
_SECURITY: Final = {
    Access.USER: ("userAuth", "header", "Authorization"),
    Access.READ_ONLY: ("userAuth", "header", "Authorization"),
    Access.OWNER: ("userAuth", "header", "Authorization"),
    Access.AGENT: ("agentAuth", "header", "X-Secret-Key"),
    Access.URL: ("urlAuth", "query", "api_key"),
    Access.LINK: ("linkAuth", "query", "signature"),
    Access.IMAGE: ("imageAuth", "header", "Image-Token"),
    Access.IMAGE_URL: ("imageURLAuth", "query", "image_token"),
    Access.WATCHER: ("watcherAuth", "header", "Watcher-Authorization"),
}


def document(operations: Iterable[Operation]) -> Schema:
    """An OpenAPI 3.1 document of the given operations."""
    operations = tuple(operations)
    types: list[object] = [wire.Error, wire.InfraError]
    for operation in operations:
        types += [kind for kind in (operation.body, operation.answer) if _is_json(kind)]
    schemas, components = msgspec.json.schema_components(types, ref_template=_COMPONENT)
    schema_of = {str(kind): schema for kind, schema in zip(types, schemas, strict=True)}
    paths: dict[str, Schema] = {}
    for operation in operations:
        path = re.sub(r":uuid}", "}", full_path(operation))
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Firstlight",
            "version": version("firstlight"),
            "description": "Install OpenShift on machines that have nothing yet. Dates of year 1 mean never.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                name: {"type": "apiKey", "in": place, "name": key} for name, place, key in _SECURITY.values()
            },
        },
    }


def docs_page() -> bytes:
    """A page that shows the document; it loads nothing from anywhere else."""
    return files("firstlight.server.http").joinpath("docs.html").read_bytes()


def _described(operation: Operation, schema_of: dict[str, Schema]) -> Schema:
    described: Schema = {
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [_tag(operation)],
        "security": _security(operation.access),
        "parameters": [*_path_parameters(operation), *_query_parameters(operation), *_header_parameters(operation)],
        "responses": _responses(operation, schema_of),
    }
    if operation.body is not NoneType:
        content = {"application/json": {"schema": schema_of[str(operation.body)]}}
        described["requestBody"] = {"required": True, "content": content}
    elif operation.upload:
        form = {"type": "object", "properties": {operation.upload: {"type": "string", "format": "binary"}}}
        described["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": form}}}
    return described


def _tag(operation: Operation) -> str:
    segments = operation.path.strip("/").split("/")
    return segments[1] if len(segments) > 1 else segments[0]


def _security(access: Access) -> list[Schema]:
    names = dict.fromkeys(name for flag, (name, _, _) in _SECURITY.items() if flag & access)
    return [{name: []} for name in names]


def _path_parameters(operation: Operation) -> list[Schema]:
    parameters: list[Schema] = []
    for name, kind in re.findall(r"{(\w+)(:uuid)?}", operation.path):
        schema = {"type": "string", "format": "uuid"} if kind else {"type": "string"}
        parameters.append({"name": name, "in": "path", "required": True, "schema": schema})
    return parameters


def _query_parameters(operation: Operation) -> list[Schema]:
    form = cast(inspect.StructType, inspect.type_info(operation.query))
    (_,), components = msgspec.json.schema_components([operation.query], ref_template=_COMPONENT)
    properties: Schema = components[operation.query.__name__].get("properties", {})
    parameters: list[Schema] = []
    for field in form.fields:
        schema = _without_null(properties[field.encode_name])
        parameter = {"name": field.encode_name, "in": "query", "required": field.required, "schema": schema}
        if schema.get("type") == "array":
            parameter |= {"style": "form", "explode": False}
        parameters.append(parameter)
    return parameters


def _header_parameters(operation: Operation) -> list[Schema]:
    return [{"name": name, "in": "header", "schema": {"type": "string"}} for name in operation.headers]


def _without_null(schema: Schema) -> Schema:
    """A parameter cannot be null; not sending it is the way to say so."""
    schema = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    choices = [choice for choice in schema.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        schema |= choices[0]
    elif choices:
        schema["anyOf"] = choices
    if isinstance(words := schema.get("enum"), list):
        schema["enum"] = [word for word in cast(list[object], words) if word is not None]
    return schema


def _responses(operation: Operation, schema_of: dict[str, Schema]) -> Schema:
    success: Schema = {"description": "Done."}
    if operation.answer in (Download, Stream):
        kind = "application/octet-stream" if operation.answer is Download else "text/event-stream"
        success["content"] = {kind: {"schema": {"type": "string", "format": "binary"}}}
    elif operation.answer is not NoneType:
        success["content"] = {"application/json": {"schema": schema_of[str(operation.answer)]}}
    responses: Schema = {str(operation.success): success}
    for status in sorted({*operation.errors, *expected_refusals(operation)}):
        responses[str(status)] = _other_response([schema_of[str(kind)] for kind in documents_of(status)])
    return responses


def _other_response(choices: list[Schema]) -> Schema:
    if not choices:
        return {"description": "Done, with nothing to send."}
    schema = choices[0] if len(choices) == 1 else {"anyOf": choices}
    return {"description": "Refused.", "content": {"application/json": {"schema": schema}}}


def _is_json(kind: object) -> bool:
    return kind is not NoneType and kind is not Download and kind is not Stream
