"""The YAML text of an imported record, which the corpus reads back without a finding."""

from __future__ import annotations

from typing import Any

import yaml

from upheld.arithmetic.configs import ConfigError
from upheld.corpus.validate import validate
from upheld.corpus.yaml_reader import YamlError, read_yaml


def record_text(fields: dict[str, Any]) -> str:
    """The record, one field after the other in the order given.

    Raises:
        ConfigError: a value that no record can have, such as text with hidden characters.
    """
    text = yaml.dump(fields, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_ONE_LINE)
    # The last word is the corpus reader's own: what it would refuse is never handed out.
    try:
        found = validate(read_yaml("record", text.encode("utf-8", "surrogatepass")))
    except YamlError as error:
        raise ConfigError(f"the record: {error.finding.message}", error.finding.help) from None
    if isinstance(found, list):
        raise ConfigError(f"the record: {found[0].message}", found[0].help)
    return text


_ONE_LINE = 1_000_000


class _Dumper(yaml.SafeDumper):
    """As people write records: lists set in, their mappings on one line, long text in blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", value, style="|" if "\n" in value else None
    )


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.SequenceNode:
    node = dumper.represent_list(value)
    for item in node.value:
        if isinstance(item, yaml.MappingNode):
            item.flow_style = True
    return node


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)
